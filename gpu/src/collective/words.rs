//! The 32-bit words of an element of up to 64 bytes, for shuffles and published values.
//!
//! # Design
//!
//! The words of an element of up to 16 bytes are an array of 4 words, which stays in registers. A larger element is an
//! array of 16 words. The two are separate code, because the compilers make other instructions of a longer array even
//! where they use only its first words.

use cuda_std::warp::Shuffle;
use cuda_std::{Element, backend, warp};

/// The largest number of words of an element.
pub const MAX_WORDS: usize = 16;

/// The words of an [`Element`] of at most 64 bytes. [`Shuffle`] converts a value to and from its words if it has at
/// most 16 bytes.
pub trait Words: Element {
    /// The number of 32-bit words that hold the value.
    const COUNT: usize;

    /// True if the value has more than 16 bytes.
    const IS_WIDE: bool;

    /// Returns the value's bytes as the first [`COUNT`](Self::COUNT) words, followed by zeros.
    fn to_wide_words(self) -> [u32; MAX_WORDS];

    /// Returns the value whose bytes are in the first [`COUNT`](Self::COUNT) of these words.
    fn from_wide_words(words: [u32; MAX_WORDS]) -> Self;
}

impl<T: Element> Words for T {
    const COUNT: usize = {
        assert!(size_of::<T>() <= 4 * MAX_WORDS, "an element of an algorithm must have at most 64 bytes");
        size_of::<T>().div_ceil(4)
    };

    const IS_WIDE: bool = Self::COUNT > 4;

    #[inline(always)]
    fn to_wide_words(self) -> [u32; MAX_WORDS] {
        let mut words = [0; MAX_WORDS];
        // SAFETY: the assertion of `COUNT` has checked that the words have as many bytes as the value, which has no
        // padding, because it is `Pod`.
        unsafe { words.as_mut_ptr().cast::<T>().write_unaligned(self) };
        words
    }

    #[inline(always)]
    fn from_wide_words(words: [u32; MAX_WORDS]) -> Self {
        // SAFETY: the assertion of `COUNT` has checked that the words have as many bytes as the value. Any bytes are a
        // value, because it is `Pod`.
        unsafe { words.as_ptr().cast::<T>().read_unaligned() }
    }
}

/// Shuffles of a full warp by words, so that elements may have up to 64 bytes.
macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: Element>(value: T, operand: u32) -> T {
            if T::IS_WIDE {
                let mut words = value.to_wide_words();
                let mut i = 0;
                while i < T::COUNT {
                    words[i] = backend::$name(warp::FULL_MASK, words[i], operand);
                    i += 1;
                }
                return T::from_wide_words(words);
            }
            let mut words = value.to_words();
            // A loop with constant bounds is unrolled, so the words stay in registers.
            let mut i = 0;
            while i < T::COUNT {
                words[i] = backend::$name(warp::FULL_MASK, words[i], operand);
                i += 1;
            }
            T::from_words(words)
        }
    )*};
}

shuffles! {
    /// Returns the value of the lane `operand` (0 to 31).
    shuffle_idx;
    /// Returns the value of the lane `operand` (0 to 31) below the caller's, or the caller's own value if there is
    /// none.
    shuffle_up;
    /// Returns the value of the lane `operand` (0 to 31) above the caller's, or the caller's own value if there is
    /// none.
    shuffle_down;
}
