//! Results that the device computes, so that the host need not copy the board: the hash of a packed board, and the
//! numbers of births and deaths between two boards.

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

/// Returns the contribution of word number `index` to the hash of a board. The hash is the sum of the contributions of
/// all words. Two different boards have the same hash with a probability of about 2⁻⁶⁴.
#[inline(always)]
pub fn hash_of_word(index: usize, word: u32) -> u64 {
    // A word without live cells contributes 0, so only words with live cells determine the hash.
    if word == 0 { 0 } else { mix(mix(index as u64).wrapping_add(word as u64)) }
}

/// Adds the hash of a packed board's `words` to `total[0]`, where `words` starts at word number `first` of the board.
/// Launch a one-dimensional grid with up to 8 whole warps per block.
#[kernel(max_threads = 256)]
pub fn life_hash_words(words: Global<u32>, total: GlobalMut<u64>, first: usize) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE));
    let mut hash = 0_u64;
    for i in thread::grid_stride(words.len()) {
        hash = hash.wrapping_add(hash_of_word(first + i, words.load(i)));
    }
    add_to_total(hash, total, 0);
}

/// Counts births and deaths between two packed boards. Adds the number of cells that are alive only in `now` to
/// `total[0]`, and the number of cells that are alive only in `before` to `total[1]`. Launch a one-dimensional grid
/// with up to 8 whole warps per block.
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
