//! Values that one block publishes for another in global memory, without a fence.
//!
//! Each 32-bit piece of a value is stored in a separate 64-bit word. The upper half of the word contains a flag. One
//! access loads or stores the whole word, so value and flag change together and need no fence between them. A value of
//! several pieces is complete when all its words have the same flag. Two values that are published one after the other
//! in the same words must therefore have different flags. All accesses are relaxed, because a fence would add the
//! latency of a round trip to memory.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::warp::Shuffle;
use cuda_std::{Element, GlobalMut};

use super::words::{MAX_WORDS, Words};

/// The flag of a word in which no value has been published: zero.
pub const EMPTY: u32 = 0;

/// Returns the number of 64-bit words that one value of type `T` takes.
pub const fn words<T: Words>() -> usize {
    T::COUNT
}

/// Publishes `value` with `flag` in the words that start at index `first`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn publish<T: Element>(place: GlobalMut<u64>, first: usize, flag: u32, value: T) {
    if T::IS_WIDE {
        let pieces = value.to_wide_words();
        for i in 0..T::COUNT {
            place.store_relaxed(first + i, u64::from(flag) << 32 | u64::from(pieces[i]));
        }
        return;
    }
    let pieces = value.to_words();
    for i in 0..T::COUNT {
        place.store_relaxed(first + i, u64::from(flag) << 32 | u64::from(pieces[i]));
    }
}

/// Returns the words of one value, loaded from index `first` on. On a GPU the index is not checked.
///
/// The words of a value of more than 16 bytes would take too many registers until they are decoded: for such a value
/// this function loads nothing and returns zeros. Use [`load_wide_unchecked`].
///
/// # Safety
/// `place` must have [`words`] elements from `first` on.
#[inline(always)]
pub unsafe fn peek_unchecked<T: Element>(place: GlobalMut<u64>, first: usize) -> [u64; 4] {
    let mut words = [0; 4];
    if T::IS_WIDE {
        return words;
    }
    for i in 0..T::COUNT {
        // SAFETY: by this function's contract, `place` has the words from `first` on.
        words[i] = unsafe { place.load_relaxed_unchecked(first + i) };
    }
    words
}

/// Returns the flag and the value in `words`. Returns `None` if the words have different flags, or if `counts(flag)` is
/// false because the caller does not accept this flag.
#[inline(always)]
pub fn decode<T: Element>(words: [u64; 4], counts: impl Fn(u32) -> bool) -> Option<(u32, T)> {
    let (flag, mut pieces) = ((words[0] >> 32) as u32, [0; 4]);
    let mut is_whole = counts(flag);
    for i in 0..T::COUNT {
        pieces[i] = words[i] as u32;
        is_whole &= (words[i] >> 32) as u32 == flag;
    }
    is_whole.then(|| (flag, T::from_words(pieces)))
}

/// Loads and decodes the words of a value of more than 16 bytes, starting at index `first`, as [`peek_unchecked`] and
/// [`decode`] do for a smaller value.
///
/// # Safety
/// `place` must have [`words`] elements from `first` on.
#[inline(always)]
pub unsafe fn load_wide_unchecked<T: Element>(
    place: GlobalMut<u64>,
    first: usize,
    counts: impl Fn(u32) -> bool,
) -> Option<(u32, T)> {
    let (mut pieces, mut flag, mut is_whole) = ([0; MAX_WORDS], EMPTY, true);
    for i in 0..T::COUNT {
        // SAFETY: by this function's contract, `place` has the words from `first` on.
        let word = unsafe { place.load_relaxed_unchecked(first + i) };
        let flag_here = (word >> 32) as u32;
        if i == 0 {
            flag = flag_here;
        }
        pieces[i] = word as u32;
        is_whole &= flag_here == flag;
    }
    if is_whole && counts(flag) { Some((flag, T::from_wide_words(pieces))) } else { None }
}

/// Waits until a value has been published in the words from `first` on, and returns its flag and value.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn wait_for<T: Element>(place: GlobalMut<u64>, first: usize) -> (u32, T) {
    // One check before the loop instead of one per poll makes the polls faster.
    assert!(first + T::COUNT <= place.len());
    if T::IS_WIDE {
        loop {
            // SAFETY: the assertion above has checked that `place` has these words.
            if let Some(published) = unsafe { load_wide_unchecked(place, first, |flag| flag != EMPTY) } {
                return published;
            }
        }
    }
    loop {
        // SAFETY: the assertion above has checked that `place` has these words.
        let words = unsafe { peek_unchecked::<T>(place, first) };
        if let Some(published) = decode(words, |flag| flag != EMPTY) {
            return published;
        }
    }
}

/// Prefetches the words of one value, from index `first` on, into the L2 cache before a thread waits for them. It skips
/// words beyond the end of `place`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn prefetch<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::COUNT {
        place.prefetch(first + i);
    }
}

/// Sets the words of one value, from index `first` on, to zero for the next launch.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn clear<T: Element>(place: GlobalMut<u64>, first: usize) {
    for i in 0..T::COUNT {
        place.store_relaxed(first + i, 0);
    }
}
