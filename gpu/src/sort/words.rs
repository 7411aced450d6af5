//! The words in global memory through which the launches of a one-sweep sort communicate.
//!
//! All words are zero before the first sort. Each sort leaves the words as the next sort needs them, so the host clears
//! nothing.

use crate::collective::ranks::RADIX;

/// The largest number of passes: that of keys of 64 bits.
pub const MAX_PASSES: usize = 8;

/// The index of the word from which the blocks of a pass draw the numbers of their tiles. It is 0 between launches.
pub const TICKET: usize = 0;

/// The index of the word that counts the blocks of [`sort_digit_counts`](super::sort_digit_counts()) that have
/// finished. It is 0 between launches.
pub const FINISHED: usize = 1;

/// The index of the word that has bit *p* set if all keys have the same digit in pass *p*, or if there is no such pass.
pub const CONSTANT: usize = 2;

/// The index of the first count. The counts of the digits of all passes are 0 between launches.
pub const COUNTS: usize = 16;

/// The index of the first start: the number of keys with smaller digits, for each digit of each pass.
const STARTS: usize = COUNTS + MAX_PASSES * RADIX;

/// The index of two more sets of starts, those of the later portions of a pass.
const LATER_STARTS: usize = STARTS + MAX_PASSES * RADIX;

/// The number of 64-bit words.
pub const WORDS: usize = LATER_STARTS + 2 * RADIX;

/// Returns the index of the starts of a portion of pass `pass`. A portion consists of the tiles of one launch.
pub const fn starts_of(pass: usize, portion: usize) -> usize {
    match portion {
        0 => STARTS + pass * RADIX,
        _ => LATER_STARTS + portion % 2 * RADIX,
    }
}

/// The largest number of keys in a portion. Counts within a portion have 30 bits.
pub const MAX_PORTION: usize = (1 << 30) - 1;
