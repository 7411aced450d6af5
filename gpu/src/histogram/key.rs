//! The keys that a histogram counts.

use cuda_std::Element;

use super::tuning::{Shape, of_bytes, of_words};

/// A key: an unsigned integer of 8 or 32 bits.
pub trait Key: Element {
    /// The number of keys in a 32-bit word.
    const PER_WORD: usize;

    /// True if [`histogram_replicated`](super::histogram_replicated()) has one counter per value of a key, and computes
    /// the bin only when it adds up the counters. A key type with few values uses this.
    const BY_VALUE: bool;

    /// The launch shape of [`histogram_replicated`](super::histogram_replicated()).
    const SHAPE: Shape;

    /// Returns the key as an integer.
    fn value(self) -> u32;

    /// Returns the key at position `place` in `word`.
    fn in_word(word: u32, place: usize) -> u32;
}

impl Key for u8 {
    const PER_WORD: usize = 4;
    const BY_VALUE: bool = true;
    const SHAPE: Shape = of_bytes();

    #[inline(always)]
    fn value(self) -> u32 {
        self.into()
    }

    #[inline(always)]
    fn in_word(word: u32, place: usize) -> u32 {
        word >> (8 * place) & 0xff
    }
}

impl Key for u32 {
    const PER_WORD: usize = 1;
    const BY_VALUE: bool = false;
    const SHAPE: Shape = of_words();

    #[inline(always)]
    fn value(self) -> u32 {
        self
    }

    #[inline(always)]
    fn in_word(word: u32, _place: usize) -> u32 {
        word
    }
}
