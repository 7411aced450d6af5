//! What the tiles of the single-pass scans have published of themselves.
//!
//! A tile's state is a value with a flag ([`flagged_words`]): from none to aggregate to prefix, or in the pipelined scan to
//! aggregate alone, and it takes each once.
//!
//! The flag also holds the *epoch*, the number of the launch that published it, modulo 2³⁰. A launch that scans as many
//! tiles as the one before takes that one's states for empty, so that the words need not be zeroed between the two. The
//! epoch is counted in the upper half of the word from which tiles are drawn, or blocks of the pipelined scan. Whether that one has a
//! head may change the number of tiles by one between launches: then the last tile's state is of an earlier epoch, and nobody
//! reads that of a last tile.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use core::marker::PhantomData;

use cuda_std::warp::Shuffle;
use cuda_std::{Element, GlobalMut};

use super::tuning::GAP_ROWS;
use crate::collective::{LANES, flagged_words};

/// The word from which the tiles' numbers are drawn.
pub const TICKET: usize = 0;

/// The words before the first tile's state: 128 bytes, so that those who wait for states leave the ticket's line alone.
const STATES: usize = 16;

/// The flag of a state that holds the tile's aggregate, in the first launch.
pub const AGGREGATE: u32 = 1;

/// The flag of a state that holds the tile's inclusive prefix: all elements up to its last combined, in the first launch.
pub const PREFIX: u32 = 2;

/// What each epoch adds to the flags of the one before.
const FLAGS: u32 = 4;

/// The index of the first word of the state of `tile`.
#[inline(always)]
pub const fn first_word<T: Shuffle>(tile: usize) -> usize {
    STATES + tile * T::WORDS
}

/// Tiles after the last one that have words too: who looks at many states at once need not test which of them are tiles'.
pub(super) const SPARE: usize = GAP_ROWS * LANES;

/// 64-bit words that hold the ticket and the states of `tiles` tiles.
#[inline(always)]
pub const fn state_words<T: Shuffle>(tiles: usize) -> usize {
    first_word::<T>(tiles + SPARE)
}

/// What a block draws: the number of a tile that no other block has, and the epoch.
#[derive(Clone, Copy, Default)]
pub(super) struct Ticket(u64);

impl Ticket {
    #[inline(always)]
    pub(super) fn draw(words: GlobalMut<u64>) -> Self {
        Self(words.atomic_add(TICKET, 1))
    }

    /// What the next block will draw, as it is now.
    #[inline(always)]
    pub(super) fn next(words: GlobalMut<u64>) -> Self {
        Self(words.load_relaxed(TICKET))
    }

    /// The tile's number.
    #[inline(always)]
    pub(super) fn tile(self) -> u32 {
        self.0 as u32
    }

    /// The launches before this one.
    #[inline(always)]
    pub(super) fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// If the tile is the last of `tiles`, prepares the word for the next launch: an epoch more, and the first tile.
    #[inline(always)]
    pub(super) fn begin_next(self, words: GlobalMut<u64>, tiles: u32) {
        if self.tile().wrapping_add(1) == tiles {
            words.atomic_add(TICKET, (1 << 32) - u64::from(tiles));
        }
    }
}

/// The states of the tiles of one launch.
#[derive(Clone, Copy)]
pub(super) struct TileStates<'a, T> {
    words: GlobalMut<'a, u64>,
    /// What this launch's epoch adds to the flags.
    flags: u32,
    values: PhantomData<fn() -> T>,
}

impl<'a, T: Element> TileStates<'a, T> {
    /// Those of the launch after `epoch` others on the same words, which were zeros before the first.
    #[inline(always)]
    pub(super) fn new(words: GlobalMut<'a, u64>, epoch: u32) -> Self {
        Self { words, flags: epoch.wrapping_mul(FLAGS), values: PhantomData }
    }

    /// Whether there are words for `tiles` tiles and for [`SPARE`] more.
    #[inline(always)]
    pub(super) fn has(self, tiles: usize) -> bool {
        self.words.len() >= state_words::<T>(tiles)
    }

    /// Publishes the state of `tile`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn publish(self, tile: usize, flag: u32, value: T) {
        flagged_words::publish(self.words, first_word::<T>(tile), self.flags.wrapping_add(flag), value);
    }

    /// The words of the state of `tile` as they are now; unchecked on a GPU.
    ///
    /// # Safety
    /// The words must be there, as [`state_words`] has them for up to [`SPARE`] tiles after the last.
    #[inline(always)]
    pub(super) unsafe fn peek_unchecked(self, tile: usize) -> [u64; 4] {
        // SAFETY: the caller vouches for it.
        unsafe { flagged_words::peek_unchecked::<T>(self.words, first_word::<T>(tile)) }
    }

    /// The state that `words` hold, if it has been published in this launch.
    #[inline(always)]
    pub(super) fn published(self, words: [u64; 4]) -> Option<(u32, T)> {
        let (flag, value) =
            flagged_words::decode(words, |flag| flag.wrapping_sub(self.flags).wrapping_sub(1) < PREFIX)?;
        Some((flag.wrapping_sub(self.flags), value))
    }
}
