//! What a device computes of a packed board without copying it away: a hash; and of two boards, the births and deaths.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::soup::mix;
use crate::collective::warp::warp_reduce;
use crate::operator::Sum;

/// Adds the sum of `value` over the lanes of a full warp to `total[index]`.
#[inline(always)]
pub(super) fn add_to_total(value: u64, total: GlobalMut<u64>, index: usize) {
    let value = warp_reduce::<u64, Sum>(warp::SIZE, value);
    if warp::lane_id() == 0 {
        total.atomic_add(index, value);
    }
}

/// What word number `index` of a board adds to the board's hash: sums of these differ, but for one pair of boards in 2⁶⁴,
/// where the boards do.
#[inline(always)]
pub fn hash_of_word(index: usize, word: u32) -> u64 {
    // Dead words add nothing: a board's hash can be had from its live ones.
    if word == 0 { 0 } else { mix(mix(index as u64).wrapping_add(word as u64)) }
}

/// Adds the hash of a packed board's `words` from number `first` on to `total[0]`. A one-dimensional grid of blocks of up to 8 whole
/// warps.
#[kernel(max_threads = 256)]
pub fn life_hash_words(words: Global<u32>, total: GlobalMut<u64>, first: usize) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE));
    let mut hash = 0_u64;
    for i in thread::grid_stride(words.len()) {
        hash = hash.wrapping_add(hash_of_word(first + i, words.load(i)));
    }
    add_to_total(hash, total, 0);
}

/// Adds the number of cells that live in `now` and not in `before` to `total[0]`, and of those the other way round to
/// `total[1]`. A one-dimensional grid of blocks of up to 8 whole warps.
#[kernel(max_threads = 256)]
pub fn life_changes_words(before: Global<u32>, now: Global<u32>, total: GlobalMut<u64>) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE) && before.len() == now.len());
    let (mut born, mut dead) = (0, 0);
    for i in thread::grid_stride(now.len()) {
        let (before, now) = (before.load(i), now.load(i));
        born += u64::from((now & !before).count_ones());
        dead += u64::from((before & !now).count_ones());
    }
    add_to_total(born, total, 0);
    add_to_total(dead, total, 1);
}
