//! The published states of the tiles of the single-pass scans.
//!
//! The state of a tile is a value with a flag ([`flagged_words`]). In the look-back scan, the block of a tile publishes
//! the tile's aggregate and later its prefix. In the pipelined scan, it publishes only the aggregate. Each value is
//! published once.
//!
//! The flag also contains the *epoch*: the number of the launch that published the state, modulo 2³⁰. A launch treats
//! states of earlier launches as empty, so the host need not clear memory between launches. All launches must scan the
//! same number of tiles. The upper half of the ticket word counts the epochs. From its lower half, blocks draw the
//! numbers of tiles, or in the pipelined scan the numbers of blocks.
//!
//! In the pipelined scan, the number of tiles may differ by one between launches, because elements before the first
//! cache line of a view belong to no tile. The state of the last tile may then have an older epoch, but no block reads
//! this state.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use core::marker::PhantomData;

use cuda_std::{Element, GlobalMut};

use super::tuning::GAP_ROWS;
use crate::collective::words::Words;
use crate::collective::{LANES, flagged_words};

/// The index of the ticket word, from which blocks draw the numbers of their tiles.
pub const TICKET: usize = 0;

/// The index of the first tile's state. The states start 128 bytes after the ticket word, in another cache line. Polls
/// for states therefore do not delay accesses to the ticket.
const STATES: usize = 16;

/// The flag, in the first launch, of a state that contains the aggregate of a tile.
pub const AGGREGATE: u32 = 1;

/// The flag, in the first launch, of a state that contains the inclusive prefix of a tile: the combination of all
/// elements up to the end of the tile.
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

/// The ticket of a block: a number that no other block of the launch has, and the epoch.
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

    /// Returns the number on the ticket: the block's tile, or in the pipelined scan the block's number.
    #[inline(always)]
    pub fn tile(self) -> u32 {
        self.0 as u32
    }

    /// Returns the epoch: the number of launches before this launch.
    #[inline(always)]
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// If this ticket has the last number, `tiles - 1`, prepares the ticket word for the next launch: increments the
    /// epoch and resets the number to 0.
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
    /// The number that the launch adds to all flags because of its epoch.
    flags: u32,
    values: PhantomData<fn() -> T>,
}

impl<'a, T: Element> TileStates<'a, T> {
    /// Returns the states for a launch in `words`. `epoch` must be the number of earlier launches with the same words.
    /// The words must have been zero before the first launch.
    #[inline(always)]
    pub fn new(words: GlobalMut<'a, u64>, epoch: u32) -> Self {
        Self { words, flags: epoch.wrapping_mul(FLAGS), values: PhantomData }
    }

    /// Returns true if the states have words for `tiles` + `SPARE` tiles.
    #[inline(always)]
    pub fn has(self, tiles: usize) -> bool {
        self.words.len() >= state_words::<T>(tiles)
    }

    /// Publishes the state of `tile`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn publish(self, tile: usize, flag: u32, value: T) {
        flagged_words::publish(self.words, first_word::<T>(tile), self.flags.wrapping_add(flag), value);
    }

    /// Returns the words of the state of `tile`, loaded from memory. On a GPU the index is not checked.
    ///
    /// # Safety
    /// The words of the state must exist. [`state_words`] includes words for up to `SPARE` tiles after the last.
    #[inline(always)]
    pub unsafe fn peek_unchecked(self, tile: usize) -> [u64; 4] {
        // SAFETY: by this function's contract, the words of `tile` exist.
        unsafe { flagged_words::peek_unchecked::<T>(self.words, first_word::<T>(tile)) }
    }

    /// Returns the kind (`AGGREGATE` or `PREFIX`) and the value of the state in `words`, or `None` if this launch has
    /// not published the state.
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
