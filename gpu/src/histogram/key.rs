//! What is counted.

use cuda_std::Element;

use super::tuning::{Shape, of_bytes, of_words};

/// A key: an unsigned integer of 8 or 32 bits.
pub trait Key: Element {
    /// Keys in a word of 32 bits.
    const PER_WORD: usize;

    /// Whether [`histogram_replicated`](super::histogram_replicated()) counts each value of a key, and looks for its bin only
    /// when it adds up: where there are so few values that each has its counters.
    const BY_VALUE: bool;

    /// The shape of that rung's launch.
    const SHAPE: Shape;

    /// The key as a number.
    fn value(self) -> u32;

    /// Key `place` of those in `word`.
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
