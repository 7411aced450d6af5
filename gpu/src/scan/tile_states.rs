//! What the tiles of the single-pass scan have published of themselves, and the look back at it.
//!
//! A tile's state is its flag and a value. Both change together: the value's 32-bit pieces are stored each in a 64-bit
//! word with the flag in its upper half. A word is read and written as one, so a value of one piece needs no fence
//! between it and its flag, and one of several pieces is whole when all its words have the same flag, as a state goes
//! from empty to aggregate to prefix, or in the pipelined scan to aggregate alone, and takes each once. So every access
//! is relaxed.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use core::marker::PhantomData;

use cuda_std::warp::{self, Shuffle};
use cuda_std::{Element, GlobalMut};

use crate::operator::Operator;

/// The word from which the tiles' numbers are drawn.
pub const TICKET: usize = 0;

/// The words before the first tile's state: 128 bytes, so that those who wait for states leave the ticket's line alone.
const STATES: usize = 16;

/// A state's flag while nothing has been published: all words are zeroed before the launch.
const EMPTY: u32 = 0;

/// The flag of a state that holds the tile's own elements combined.
pub const AGGREGATE: u32 = 1;

/// The flag of a state that holds all elements up to the tile's last combined.
pub const PREFIX: u32 = 2;

/// The index of the first word of the state of `tile`.
#[inline(always)]
pub const fn first_word<T: Shuffle>(tile: usize) -> usize {
    STATES + tile * T::WORDS
}

/// Tiles after the last one whose states may be looked at: who looks at many at once need not count them.
pub(super) const SPARE: usize = 9 * warp::SIZE as usize;

/// 64-bit words that hold the ticket and the states of `tiles` tiles.
#[inline(always)]
pub const fn state_words<T: Shuffle>(tiles: usize) -> usize {
    first_word::<T>(tiles + SPARE)
}

/// The states of the tiles of one launch.
#[derive(Clone, Copy)]
pub(super) struct TileStates<'a, T> {
    words: GlobalMut<'a, u64>,
    values: PhantomData<fn() -> T>,
}

impl<'a, T: Element> TileStates<'a, T> {
    #[inline(always)]
    pub(super) fn new(words: GlobalMut<'a, u64>) -> Self {
        Self { words, values: PhantomData }
    }

    /// Whether there are words for `tiles` tiles and those after.
    #[inline(always)]
    pub(super) fn has(self, tiles: usize) -> bool {
        self.words.len() >= state_words::<T>(tiles)
    }

    /// The number of the next tile that nobody has drawn.
    #[inline(always)]
    pub(super) fn draw(self) -> u64 {
        self.words.atomic_add(TICKET, 1)
    }

    /// Publishes the state of `tile`.
    #[inline(always)]
    pub(super) fn publish(self, tile: usize, flag: u32, value: T) {
        let (first, pieces) = (first_word::<T>(tile), value.to_words());
        for i in 0..T::WORDS {
            self.words.store_relaxed(first + i, u64::from(flag) << 32 | u64::from(pieces[i]));
        }
    }

    /// The words of the state of `tile` as they are now.
    #[inline(always)]
    pub(super) fn glance(self, tile: usize) -> [u64; 4] {
        let (first, mut words) = (first_word::<T>(tile), [0; 4]);
        for i in 0..T::WORDS {
            words[i] = self.words.load_relaxed(first + i);
        }
        words
    }

    /// As [`glance`](Self::glance), unchecked on a GPU.
    ///
    /// # Safety
    /// The words must be there, as [`state_words`] has them for up to [`SPARE`] tiles after the last.
    #[inline(always)]
    pub(super) unsafe fn glance_unchecked(self, tile: usize) -> [u64; 4] {
        let (first, mut words) = (first_word::<T>(tile), [0; 4]);
        for i in 0..T::WORDS {
            // SAFETY: the caller vouches for it.
            words[i] = unsafe { self.words.load_relaxed_unchecked(first + i) };
        }
        words
    }

    /// The state that `words` hold, if it has been published.
    #[inline(always)]
    pub(super) fn published(words: [u64; 4]) -> Option<(u32, T)> {
        let (flag, mut pieces) = ((words[0] >> 32) as u32, [0; 4]);
        let mut is_whole = flag != EMPTY;
        for i in 0..T::WORDS {
            pieces[i] = words[i] as u32;
            is_whole &= (words[i] >> 32) as u32 == flag;
        }
        is_whole.then(|| (flag, T::from_words(pieces)))
    }

    /// The state of `tile` as soon as it has published one.
    #[inline(always)]
    pub(super) fn wait_for(self, tile: usize) -> (u32, T) {
        loop {
            if let Some(state) = Self::published(self.glance(tile)) {
                return state;
            }
        }
    }

    /// All elements before `tile`, which must not be tile 0, combined. For a full warp; lane 0 has the result.
    ///
    /// The warp looks at 32 tiles at a time, the nearest in lane 0. A tile whose prefix is known ends the search;
    /// without one, all 32 aggregates are taken in, and the next 32 tiles follow.
    #[inline(always)]
    pub(super) fn look_back<O: Operator<T>>(self, tile: usize) -> T {
        let lane = warp::lane_id();
        // Tiles `end..tile` combined.
        let (mut end, mut after) = (tile, O::IDENTITY);
        loop {
            let (flag, mut value) = match end.checked_sub(1 + lane as usize) {
                Some(before) => self.wait_for(before),
                None => (PREFIX, O::IDENTITY),
            };
            let prefixes = warp::ballot(warp::FULL_MASK, flag == PREFIX);
            if lane > prefixes.trailing_zeros() {
                value = O::IDENTITY;
            }
            let mut distance = 1;
            while distance < warp::SIZE {
                // A higher lane has an earlier tile.
                let earlier = warp::shuffle_down(warp::FULL_MASK, value, distance);
                if lane + distance < warp::SIZE {
                    value = O::combine(earlier, value);
                }
                distance *= 2;
            }
            after = O::combine(value, after);
            if prefixes != 0 {
                return after;
            }
            end -= warp::SIZE as usize;
        }
    }
}
