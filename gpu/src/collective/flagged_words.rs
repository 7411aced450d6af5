//! Values that one block publishes for another in global memory, without a fence.
//!
//! A value and its flag change together: each 32-bit piece of the value is stored in a 64-bit word of its own, with the flag in
//! the word's upper half. A word is read and written as one access. So a value of one piece needs no fence between it and its
//! flag, and a value of several pieces is complete when all its words have the same flag, as long as no two values that are
//! ever published in the same words have the same flag. All accesses are therefore relaxed. A fence would cost the
//! latency of a round trip to memory.
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
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn publish<T: Element>(place: GlobalMut<u64>, first: usize, flag: u32, value: T) {
    let pieces = value.to_words();
    for i in 0..T::WORDS {
        place.store_relaxed(first + i, u64::from(flag) << 32 | u64::from(pieces[i]));
    }
}

/// The words from `first` on as they are now; unchecked on a GPU.
///
/// # Safety
/// There must be [`words`] from `first` on.
#[inline(always)]
pub unsafe fn peek_unchecked<T: Element>(place: GlobalMut<u64>, first: usize) -> [u64; 4] {
    let mut words = [0; 4];
    for i in 0..T::WORDS {
        // SAFETY: the caller vouches for it.
        words[i] = unsafe { place.load_relaxed_unchecked(first + i) };
    }
    words
}

/// The flag and value that `words` hold, if `counts` says so of the flag and all of them have it.
#[inline(always)]
pub fn decode<T: Element>(words: [u64; 4], counts: impl Fn(u32) -> bool) -> Option<(u32, T)> {
    let (flag, mut pieces) = ((words[0] >> 32) as u32, [0; 4]);
    let mut is_whole = counts(flag);
    for i in 0..T::WORDS {
        pieces[i] = words[i] as u32;
        is_whole &= (words[i] >> 32) as u32 == flag;
    }
    is_whole.then(|| (flag, T::from_words(pieces)))
}

/// The flag and value in the words from `first` on, as soon as a value has been published there.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn wait_for<T: Element>(place: GlobalMut<u64>, first: usize) -> (u32, T) {
    // Checked once, not in each round: so the polls follow one another sooner.
    assert!(first + T::WORDS <= place.len());
    loop {
        // SAFETY: the words are there.
        let words = unsafe { peek_unchecked::<T>(place, first) };
        if let Some(published) = decode(words, |flag| flag != EMPTY) {
            return published;
        }
    }
}

/// Brings the words from `first` on, as far as there are any, to the L2 cache, ahead of a wait for them. A word that is not
/// there is read from memory, even if it has been published meanwhile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn prefetch<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::WORDS {
        place.prefetch(first + i);
    }
}

/// Empties the words from `first` on, for the next launch.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn clear<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::WORDS {
        place.store_relaxed(first + i, 0);
    }
}
