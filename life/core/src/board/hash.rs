//! Hashes of boards, and of their parts.

use std::iter;

use super::{ALL_CORES, Board};
use gridstride::host::in_parts;

/// [`Board::hash`] of the board that has these words. On all cores where they are many.
pub fn hash_of_words(words: &[u32]) -> u64 {
    hash_of_words_from(0, words)
}

/// What these words add to the hash of a board's, among which they are those from number `first` on: the sum over all
/// parts of a board is its hash. On all cores where they are many.
pub fn hash_of_words_from(first: usize, words: &[u32]) -> u64 {
    let of = |range: std::ops::Range<usize>| {
        let words = words[range.clone()].iter().zip(range);
        words.fold(0_u64, |hash, (&word, i)| hash.wrapping_add(gpu::life::hash_of_word(first + i, word)))
    };
    if words.len() < ALL_CORES {
        return of(0..words.len());
    }
    in_parts(words.len(), of).into_iter().fold(0, u64::wrapping_add)
}

/// Adds what `rows` add to the hash of each plane of a board, of which they are those from word number `first` on.
pub(crate) fn add_hash(hashes: &mut Vec<u64>, rows: &Board, first: usize) {
    let planes = || iter::once(&rows.words).chain(&rows.ages);
    hashes.resize(planes().count(), 0);
    for (hash, words) in hashes.iter_mut().zip(planes()) {
        *hash = hash.wrapping_add(hash_of_words_from(first, words));
    }
}

/// [`Board::hash`] of the board whose words and bits of ages have these.
pub fn hash_of_planes(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |all: u64, hash| all.rotate_left(7) ^ hash)
}
