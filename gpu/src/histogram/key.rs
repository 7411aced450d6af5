//! The keys that a histogram counts.

use cuda_std::Element;

use super::tuning::{BYTES, Shape, WORDS};

/// A key: an unsigned integer of 8 or 32 bits.
pub trait Key: Element {
    /// The number of keys in a 32-bit word.
    const PER_WORD: usize;

    /// True if [`histogram_replicated`](super::histogram_replicated()) counts each value of a key separately, instead
    /// of each bin. The kernel then computes the bin of each value once, when it adds up the counters. This is faster
    /// for key types with few values.
    const BY_VALUE: bool;

    /// The launch shape of [`histogram_replicated`](super::histogram_replicated()).
    const SHAPE: Shape;

    /// Returns the key as an integer.
    fn value(self) -> u32;

    /// Returns the key at position `place` in `word`.
    fn in_word(word: u32, place: usize) -> u32;
}

macro_rules! keys {
    ($($type:ident: $by_value:literal, $shape:expr;)*) => {$(
        impl Key for $type {
            const PER_WORD: usize = 4 / size_of::<$type>();
            const BY_VALUE: bool = $by_value;
            const SHAPE: Shape = $shape;

            #[inline(always)]
            fn value(self) -> u32 {
                self.into()
            }

            #[inline(always)]
            fn in_word(word: u32, place: usize) -> u32 {
                Self::value((word >> (8 * size_of::<$type>() * place)) as $type)
            }
        }
    )*};
}

keys! {
    u8: true, BYTES;
    u32: false, WORDS;
}
