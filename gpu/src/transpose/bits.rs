//! The trait [`Bits`]: element types of a fixed width, and the packing of several elements into one word.

use cuda_std::Element;
use cuda_std::warp::Shuffle;

use super::tuning::{self, Shape, UnalignedShape};

/// An element of a transpose: bits of a fixed width.
///
/// The fastest kernels rearrange loaded elements in registers into words. Each word contains neighbouring elements of
/// one column: four 1-byte elements, two 2-byte elements, or one larger element. From then on the kernel moves whole
/// words.
pub trait Bits: Element {
    /// The word in which the kernels access shared memory: 8 bytes if elements have 8 bytes, else 4 bytes.
    type Word: Element + Shuffle;

    /// A 16-byte vector of words.
    type Vector: Element;

    /// The tile and block shape of [`transpose_vectorised`](super::transpose_vectorised()).
    const ALIGNED: Shape = tuning::aligned(size_of::<Self>());

    /// The tile and block shape of [`transpose_unaligned`](super::transpose_unaligned()).
    const UNALIGNED: UnalignedShape = tuning::unaligned(size_of::<Self>());

    /// The number of elements per word.
    const PER_WORD: usize = size_of::<Self::Word>() / size_of::<Self>();

    /// The number of elements per vector.
    const PER_VECTOR: usize = size_of::<Self::Vector>() / size_of::<Self>();

    /// The number of words per vector.
    const WORDS: usize = size_of::<Self::Vector>() / size_of::<Self::Word>();

    /// Returns the words of a vector. Array elements beyond [`WORDS`](Self::WORDS) are unspecified.
    fn words(vector: Self::Vector) -> [Self::Word; 4];

    /// Returns the vector that consists of `words`.
    fn vector(words: [Self::Word; 4]) -> Self::Vector;

    /// Transposes the elements in `rows`: takes one word from each of `PER_WORD` rows and returns one word for each of
    /// `PER_WORD` columns. Further array elements are unspecified. If `PER_WORD` is 1, returns `rows` unchanged.
    #[inline(always)]
    fn turn(rows: [Self::Word; 4]) -> [Self::Word; 4] {
        rows
    }

    /// Returns `word` with `element` inserted at position `place`. The bits of `word` at that position must be 0.
    fn with(word: Self::Word, element: Self, place: usize) -> Self::Word;

    /// Returns the word that starts at element `elements` of `first` and continues into `second`. `elements` must be
    /// less than [`PER_WORD`](Self::PER_WORD).
    fn from_within(first: Self::Word, second: Self::Word, elements: u32) -> Self::Word;
}

/// Defines the items of [`Bits`] that all types with 32-bit words share.
macro_rules! words_of_32_bits {
    () => {
        type Word = u32;
        type Vector = [u32; 4];

        #[inline(always)]
        fn words(vector: [u32; 4]) -> [u32; 4] {
            vector
        }

        #[inline(always)]
        fn vector(words: [u32; 4]) -> [u32; 4] {
            words
        }
    };
}

impl Bits for u8 {
    words_of_32_bits!();

    #[inline(always)]
    fn turn([a, b, c, d]: [u32; 4]) -> [u32; 4] {
        const EVEN: u32 = 0x00ff_00ff;
        // Transposes 2 × 2 bytes, then 2 × 2 pairs of bytes.
        let even = |p: u32, q: u32| (p & EVEN) | (q & EVEN) << 8;
        let odd = |p: u32, q: u32| (p >> 8 & EVEN) | (q & !EVEN);
        let (ab, cd) = ([even(a, b), odd(a, b)], [even(c, d), odd(c, d)]);
        [low_halves(ab[0], cd[0]), low_halves(ab[1], cd[1]), high_halves(ab[0], cd[0]), high_halves(ab[1], cd[1])]
    }

    #[inline(always)]
    fn with(word: u32, element: u8, place: usize) -> u32 {
        word | u32::from(element) << (place * 8)
    }

    #[inline(always)]
    fn from_within(first: u32, second: u32, elements: u32) -> u32 {
        funnel(first, second, elements * 8)
    }
}

impl Bits for u16 {
    words_of_32_bits!();

    #[inline(always)]
    fn turn([a, b, ..]: [u32; 4]) -> [u32; 4] {
        [low_halves(a, b), high_halves(a, b), 0, 0]
    }

    #[inline(always)]
    fn with(word: u32, element: u16, place: usize) -> u32 {
        word | u32::from(element) << (place * 16)
    }

    #[inline(always)]
    fn from_within(first: u32, second: u32, elements: u32) -> u32 {
        funnel(first, second, elements * 16)
    }
}

impl Bits for u32 {
    words_of_32_bits!();

    #[inline(always)]
    fn with(_: u32, element: u32, _: usize) -> u32 {
        element
    }

    #[inline(always)]
    fn from_within(first: u32, _: u32, _: u32) -> u32 {
        first
    }
}

impl Bits for u64 {
    type Word = u64;
    type Vector = [u64; 2];

    #[inline(always)]
    fn words([a, b]: [u64; 2]) -> [u64; 4] {
        [a, b, 0, 0]
    }

    #[inline(always)]
    fn vector([a, b, ..]: [u64; 4]) -> [u64; 2] {
        [a, b]
    }

    #[inline(always)]
    fn with(_: u64, element: u64, _: usize) -> u64 {
        element
    }

    #[inline(always)]
    fn from_within(first: u64, _: u64, _: u32) -> u64 {
        first
    }
}

/// Returns a word whose lower half is the lower half of `p`, and whose upper half is the lower half of `q`.
#[inline(always)]
fn low_halves(p: u32, q: u32) -> u32 {
    (p & 0xffff) | q << 16
}

/// Returns a word whose lower half is the upper half of `p`, and whose upper half is the upper half of `q`.
#[inline(always)]
fn high_halves(p: u32, q: u32) -> u32 {
    p >> 16 | (q & 0xffff_0000)
}

/// Returns bits `shift..shift + 32` of the 64-bit number with the halves `low` and `high`. `shift` must be below 32.
#[inline(always)]
fn funnel(low: u32, high: u32, shift: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (shift & 31)) as u32
}
