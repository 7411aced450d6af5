//! Values that one block publishes for another in global memory, without a fence.
//!
//! A value and its flag change together: the value's 32-bit pieces are stored each in a 64-bit word with the flag in its
//! upper half. A word is read and written as one, so a value of one piece needs no fence between it and its flag, and one
//! of several pieces is whole when all its words have the same flag, as long as no two values that are published in the
//! same words have it. So every access is relaxed. A fence would cost as much as the way to memory and back.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::warp::Shuffle;
use cuda_std::{Element, GlobalMut};

/// The flag of words in which nothing has been published: zeros.
pub const EMPTY: u32 = 0;

/// 64-bit words that a value takes.
pub const fn words<T: Shuffle>() -> usize {
    T::WORDS
}

/// Publishes `value` with `flag` in the words from `first` on.
#[inline(always)]
pub(crate) fn publish<T: Element>(place: GlobalMut<u64>, first: usize, flag: u32, value: T) {
    let pieces = value.to_words();
    for i in 0..T::WORDS {
        place.store_relaxed(first + i, u64::from(flag) << 32 | u64::from(pieces[i]));
    }
}

/// The words from `first` on as they are now.
#[inline(always)]
pub(crate) fn glance<T: Element>(place: GlobalMut<u64>, first: usize) -> [u64; 4] {
    let mut words = [0; 4];
    for i in 0..T::WORDS {
        words[i] = place.load_relaxed(first + i);
    }
    words
}

/// The flag and value that `words` hold, if that flag counts and all of them have it.
#[inline(always)]
pub(crate) fn decode<T: Element>(words: [u64; 4], counts: impl Fn(u32) -> bool) -> Option<(u32, T)> {
    let (flag, mut pieces) = ((words[0] >> 32) as u32, [0; 4]);
    let mut is_whole = counts(flag);
    for i in 0..T::WORDS {
        pieces[i] = words[i] as u32;
        is_whole &= (words[i] >> 32) as u32 == flag;
    }
    is_whole.then(|| (flag, T::from_words(pieces)))
}

/// The value in the words from `first` on, and its flag, as soon as one is there.
#[inline(always)]
pub(crate) fn wait_for<T: Element>(place: GlobalMut<u64>, first: usize) -> (u32, T) {
    loop {
        if let Some(published) = decode(glance::<T>(place, first), |flag| flag != EMPTY) {
            return published;
        }
    }
}

/// Asks for the words from `first` on, as far as there are, ahead of a wait for them: a word that is not in the L2 cache
/// comes from memory, also where it has been published by then.
#[inline(always)]
pub(crate) fn prefetch<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::WORDS {
        place.prefetch(first + i);
    }
}

/// Empties the words from `first` on, for the next launch.
#[inline(always)]
pub(crate) fn clear<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::WORDS {
        place.store_relaxed(first + i, 0);
    }
}
