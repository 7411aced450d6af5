//! Ranks of a tile's items by a digit of their keys: the position of each item if the block sorts the tile by this
//! digit and keeps the order of equal digits.
//!
//! The items are in the warp-striped arrangement, as in [`tile`](super::tile) with vectors of one element: each warp
//! has a contiguous part of the tile, and each lane has one item of every 32.
//!
//! Each warp first counts its digits. The sum of a digit's counts over the warps is the *aggregate* of the digit, which
//! the caller can publish at once. A scan over the digits and warps then turns each count into the rank of the warp's
//! first item with this digit. Finally, each warp processes its items in order. The lanes with the same digit find each
//! other by a mask in shared memory. They get consecutive ranks, and the highest of them advances the counter.
//!
//! [`rank_digits`] does all of this. A kernel that does other work between the steps calls them itself:
//! [`WarpWords::count`] for each item, [`scan_counts`], and [`WarpWords::rank_soon`] for each item.
//!
//! Source: CUB's `BlockRadixRankMatchEarlyCounts`.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Shared, opaque, thread, unroll, warp};

use super::LANES;
use super::block::warp_prefix;
use super::warp::warp_inclusive_scan;
use super::words::shuffle_idx;
use crate::operator::Sum;

/// The number of bits of a digit. A digit may also have fewer bits.
pub const DIGIT_BITS: u32 = 8;

/// The number of values of a digit of [`DIGIT_BITS`] bits.
pub const RADIX: usize = 1 << DIGIT_BITS;

/// The number of warps whose threads each process one value of a digit.
pub const RADIX_WARPS: usize = RADIX / LANES;

/// Returns the number of words in shared memory that [`rank_digits`] needs in a block of `warps` warps: a counter and a
/// mask for each digit and warp.
pub const fn rank_words(warps: usize) -> usize {
    2 * warps * RADIX
}

/// What a thread knows of the digit that equals its index, in the first [`RADIX`] threads. One word, so that it needs
/// one register; a tile therefore has fewer than 2¹⁶ items.
#[derive(Clone, Copy)]
pub struct OfDigit(u32);

impl OfDigit {
    #[inline(always)]
    fn new(count: u32, start: u32) -> Self {
        Self(opaque(count << 16 | start))
    }

    /// Returns the word that holds both numbers.
    #[inline(always)]
    pub fn word(self) -> u32 {
        self.0
    }

    /// Returns the numbers in a [`word`](Self::word), of this or another block.
    #[inline(always)]
    pub fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Returns the number of items in the tile with this digit.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.0 >> 16
    }

    /// Returns the position of the first item with this digit in the sorted tile.
    #[inline(always)]
    pub fn start(self) -> u32 {
        self.0 & 0xFFFF
    }
}

/// Calls `ranked` with the number and the rank of each of the calling thread's `items` items, whose digits `digit`
/// returns. A rank is the position of the item in the sorted tile. All threads have the same number of items, at most
/// `N`.
///
/// `again` must return the same digits as `digit`. If the compilers do not know that they are the same, the digits need
/// no registers between the count and the ranks.
///
/// As soon as the counts are known, each of the first [`RADIX`] threads calls `publish` with the number of items whose
/// digit equals the thread's index.
///
/// The block must have exactly `WARPS` full warps, at least [`RADIX_WARPS`]. `words` must have [`rank_words`] elements,
/// all 0, and `aggregates` at least [`RADIX_WARPS`]. The block must execute a barrier between setting them and this
/// call, and after the call before it uses them again.
#[inline(always)]
pub fn rank_digits<const N: usize, const WARPS: usize>(
    items: u32,
    digit: impl Fn(usize) -> u32,
    again: impl Fn(usize) -> u32,
    words: Shared<u32>,
    aggregates: Shared<u32>,
    publish: impl FnOnce(u32),
    mut ranked: impl FnMut(usize, u32),
) -> OfDigit {
    let own = WarpWords::of_warp::<WARPS>(words);
    unroll!(I in N => {
        if (I as u32) < items {
            own.count(digit(I));
        }
    });
    let of_digit = scan_counts::<WARPS>(words, aggregates, publish);
    unroll!(I in N => {
        if (I as u32) < items {
            ranked(I, own.rank(again(I)));
        }
    });
    of_digit
}

/// Turns the counters of all warps into the rank of the warp's first item with each digit. In the first [`RADIX`]
/// threads, calls `publish` with the count of the thread's digit, and returns this count and the rank of the first item
/// with this digit.
///
/// The obligations are those of [`rank_digits`]. The function begins and ends with a barrier.
#[inline(always)]
pub fn scan_counts<const WARPS: usize>(
    words: Shared<u32>,
    aggregates: Shared<u32>,
    publish: impl FnOnce(u32),
) -> OfDigit {
    const { assert!(WARPS >= RADIX_WARPS, "a block needs a thread for each value of a digit") };
    let (thread, warp) = (thread::thread_idx_x() as usize, warp::warp_id() as usize);
    thread::sync_threads();
    let (mut counts, mut count) = ([0; WARPS], 0);
    if thread < RADIX {
        for other in 0..WARPS {
            // SAFETY: the counter of this digit in each warp is one of the first `WARPS` times `RADIX` words.
            counts[other] = unsafe { words.load_unchecked(other * RADIX + thread) };
            count += counts[other];
        }
        publish(count);
    }
    let through = warp_inclusive_scan::<u32, Sum>(count);
    if warp::lane_id() == warp::SIZE - 1 && warp < RADIX_WARPS {
        aggregates.store(warp, through);
    }
    thread::sync_threads();
    let mut start = 0;
    if thread < RADIX {
        let (before, _) = warp_prefix::<u32, Sum, RADIX_WARPS>(aggregates, warp);
        start = before + through - count;
        let mut first = start;
        for other in 0..WARPS {
            // SAFETY: this is the counter that was loaded above.
            unsafe { words.store_unchecked(other * RADIX + thread, first) };
            first += counts[other];
        }
    }
    thread::sync_threads();
    OfDigit::new(count, start)
}

/// The counters and masks of a warp, one of each per value of a digit.
#[derive(Clone, Copy)]
pub struct WarpWords {
    counters: Shared<u32>,
    /// The lanes that have each digit, while the warp ranks an item; otherwise 0.
    masks: Shared<u32>,
}

impl WarpWords {
    /// Returns the words of the calling warp among `words`, those of a block of `WARPS` warps.
    #[inline(always)]
    pub fn of_warp<const WARPS: usize>(words: Shared<u32>) -> Self {
        let warp = warp::warp_id() as usize % WARPS;
        // SAFETY: `warp` is below `WARPS`, and the words of two times `WARPS` warps exist.
        unsafe {
            let counters = words.part_unchecked(warp * RADIX, RADIX);
            Self { counters, masks: words.part_unchecked((WARPS + warp) * RADIX, RADIX) }
        }
    }

    /// Sets the counters to 0. All lanes must have ranked their items.
    #[inline(always)]
    pub fn clear_counters(self) {
        warp::sync_warp(warp::FULL_MASK);
        let vectors = self.counters.cast::<[u32; 4]>();
        let mut i = warp::lane_id() as usize;
        while i < RADIX / 4 {
            vectors.store(i, [0; 4]);
            i += LANES;
        }
    }

    /// Counts a digit.
    #[inline(always)]
    pub fn count(self, digit: u32) {
        self.counters.atomic_add(digit as usize % RADIX, 1);
    }

    /// Returns the rank of the lane's item, whose digit is `digit`, after [`scan_counts`]. A warp ranks its items in
    /// order.
    #[inline(always)]
    pub fn rank(self, digit: u32) -> u32 {
        let (lane, digit) = (warp::lane_id(), digit as usize % RADIX);
        self.masks.atomic_xor(digit, 1 << lane);
        warp::sync_warp(warp::FULL_MASK);
        let mask = self.masks.load(digit);
        let last = warp::SIZE - 1 - mask.leading_zeros();
        let position = (mask & u32::MAX >> (warp::SIZE - 1 - lane)).count_ones();
        let mut first = 0;
        if lane == last {
            first = self.counters.atomic_add(digit, position);
        }
        first = shuffle_idx(first, last);
        // All lanes have loaded the mask. Its bits are removed by an atomic operation, because other lanes may already
        // add theirs for the next item.
        warp::sync_warp(warp::FULL_MASK);
        if lane == last {
            self.masks.atomic_xor(digit, mask);
        }
        first + position - 1
    }

    /// Does the same as [`rank`](Self::rank) for blocks that wait for the latency of shared memory: each lane loads the
    /// counter with the mask, so that it waits once per item, and not for an atomic operation and a shuffle after that.
    #[inline(always)]
    pub fn rank_soon(self, digit: u32) -> u32 {
        let (lane, digit) = (warp::lane_id(), digit as usize % RADIX);
        self.masks.atomic_xor(digit, 1 << lane);
        warp::sync_warp(warp::FULL_MASK);
        let (mask, first) = (self.masks.load(digit), self.counters.load(digit));
        // All lanes have loaded the words before the last lane changes them.
        warp::sync_warp(warp::FULL_MASK);
        let position = (mask & u32::MAX >> (warp::SIZE - 1 - lane)).count_ones();
        if lane == warp::SIZE - 1 - mask.leading_zeros() {
            self.counters.store(digit, first + position);
            // Other lanes may already add their bits for the next item.
            self.masks.atomic_xor(digit, mask);
        }
        first + position - 1
    }
}
