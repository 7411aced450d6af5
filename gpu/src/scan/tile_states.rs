//! The published states of the tiles of the single-pass scans.
//!
//! The state of a tile is a value with a flag ([`flagged_words`]). A tile publishes its aggregate and then its prefix;
//! in the pipelined scan it publishes only its aggregate. It publishes each of them once.
//!
//! The flag also holds the *epoch*: the number of the launch that published the state, modulo 2³⁰. A launch treats
//! states of the launch before as empty, so no memory needs to be zeroed between the two. Both launches must scan the
//! same number of tiles. The upper half of the ticket word counts the epochs. Its lower half supplies the numbers of
//! tiles, or of blocks in the pipelined scan.
//!
//! In the pipelined scan, the number of tiles may differ by one between launches, because a view may have a head. The
//! state of the last tile may then be of an older epoch, but no block reads the state of the last tile.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use core::marker::PhantomData;

use cuda_std::{Element, GlobalMut};

use super::tuning::GAP_ROWS;
use crate::collective::words::Words;
use crate::collective::{LANES, flagged_words};

/// The index of the ticket word, from which blocks draw the numbers of their tiles.
pub const TICKET: usize = 0;

/// The index of the first tile's state. The 128 bytes before it keep the states out of the ticket's cache line, so that
/// polls for states do not slow the ticket down.
const STATES: usize = 16;

/// The flag of a state that holds the aggregate of a tile, in the first launch.
pub const AGGREGATE: u32 = 1;

/// The flag of a state that holds the inclusive prefix of a tile, in the first launch. The inclusive prefix combines
/// all elements up to the end of the tile.
pub const PREFIX: u32 = 2;

/// The difference between the flags of two consecutive epochs.
const FLAGS: u32 = 4;

/// Returns the index of the first word of the state of `tile`.
#[inline(always)]
pub const fn first_word<T: Words>(tile: usize) -> usize {
    STATES + tile * T::COUNT
}

/// The number of additional states after that of the last tile. They have words, so a warp that reads many states at
/// once need not test which of them belong to tiles.
pub const SPARE: usize = GAP_ROWS * LANES;

/// Returns the number of 64-bit words for the ticket and the states of `tiles` tiles.
#[inline(always)]
pub const fn state_words<T: Words>(tiles: usize) -> usize {
    first_word::<T>(tiles + SPARE)
}

/// The ticket of a block: the number of a tile that no other block has, and the epoch.
#[derive(Clone, Copy, Default)]
pub struct Ticket(u64);

impl Ticket {
    /// Draws the block's ticket.
    #[inline(always)]
    pub fn draw(words: GlobalMut<u64>) -> Self {
        Self(words.atomic_add(TICKET, 1))
    }

    /// Returns the next ticket without drawing it.
    #[inline(always)]
    pub fn next(words: GlobalMut<u64>) -> Self {
        Self(words.load_relaxed(TICKET))
    }

    /// Returns the number of the tile.
    #[inline(always)]
    pub fn tile(self) -> u32 {
        self.0 as u32
    }

    /// Returns the number of launches before this one.
    #[inline(always)]
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// If this ticket's tile is the last of `tiles`, prepares the ticket word for the next launch: sets the next epoch
    /// and the number of the first tile.
    #[inline(always)]
    pub fn begin_next(self, words: GlobalMut<u64>, tiles: u32) {
        if self.tile().wrapping_add(1) == tiles {
            words.atomic_add(TICKET, (1 << 32) - u64::from(tiles));
        }
    }
}

/// The states of the tiles in one launch.
#[derive(Clone, Copy)]
pub struct TileStates<'a, T> {
    words: GlobalMut<'a, u64>,
    /// The value that this launch's epoch adds to the flags.
    flags: u32,
    values: PhantomData<fn() -> T>,
}

impl<'a, T: Element> TileStates<'a, T> {
    /// Returns the states for the launch after `epoch` earlier launches on the same words. The words must have been
    /// zero before the first launch.
    #[inline(always)]
    pub fn new(words: GlobalMut<'a, u64>, epoch: u32) -> Self {
        Self { words, flags: epoch.wrapping_mul(FLAGS), values: PhantomData }
    }

    /// True if there are words for `tiles` tiles and for [`SPARE`] more.
    #[inline(always)]
    pub fn has(self, tiles: usize) -> bool {
        self.words.len() >= state_words::<T>(tiles)
    }

    /// Publishes the state of `tile`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn publish(self, tile: usize, flag: u32, value: T) {
        flagged_words::publish(self.words, first_word::<T>(tile), self.flags.wrapping_add(flag), value);
    }

    /// Loads the words of the state of `tile`. A GPU does not check the index.
    ///
    /// # Safety
    /// The words of the state must exist. [`state_words`] includes words for up to [`SPARE`] tiles after the last.
    #[inline(always)]
    pub unsafe fn peek_unchecked(self, tile: usize) -> [u64; 4] {
        // SAFETY: by this function's contract, the words of `tile` exist.
        unsafe { flagged_words::peek_unchecked::<T>(self.words, first_word::<T>(tile)) }
    }

    /// Returns the state that `words` hold, or `None` if this launch has not published it.
    #[inline(always)]
    pub fn published(self, words: [u64; 4]) -> Option<(u32, T)> {
        let (flag, value) =
            flagged_words::decode(words, |flag| flag.wrapping_sub(self.flags).wrapping_sub(1) < PREFIX)?;
        Some((flag.wrapping_sub(self.flags), value))
    }

    /// Returns the state of `tile` if this launch has published it. For elements of more than 16 bytes, whose words
    /// [`peek_unchecked`](Self::peek_unchecked) does not load.
    ///
    /// # Safety
    /// The words of the state must exist, as for [`peek_unchecked`](Self::peek_unchecked).
    #[inline(always)]
    pub unsafe fn published_wide(self, tile: usize) -> Option<(u32, T)> {
        let is_of_launch = |flag: u32| flag.wrapping_sub(self.flags).wrapping_sub(1) < PREFIX;
        // SAFETY: by this function's contract, the words of `tile` exist.
        let (flag, value) =
            unsafe { flagged_words::load_wide_unchecked(self.words, first_word::<T>(tile), is_of_launch) }?;
        Some((flag.wrapping_sub(self.flags), value))
    }
}
