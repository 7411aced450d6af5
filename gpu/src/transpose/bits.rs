//! The elements by their width, and how several of them share a word.

use cuda_std::Element;
use cuda_std::warp::Shuffle;

use super::tuning::{self, Shape, UnalignedShape};

/// An element as the transposes move it: bits of one width.
///
/// The last rung turns elements in registers into words that each hold neighbours of one column: four bytes, two halves,
/// or one element. From there on whole words are moved.
pub trait Bits: Element {
    /// What shared memory is written in: 4 bytes, or 8 where an element has 8.
    type Word: Element + Shuffle;

    /// 16 bytes, as words.
    type Vector: Element;

    /// The tile and block of [`transpose_vectorised`](super::transpose_vectorised()).
    const ALIGNED: Shape = tuning::aligned(size_of::<Self>());

    /// The tile and block of [`transpose_unaligned`](super::transpose_unaligned()).
    const UNALIGNED: UnalignedShape = tuning::unaligned(size_of::<Self>());

    /// Elements of a word.
    const PER_WORD: usize = size_of::<Self::Word>() / size_of::<Self>();

    /// Elements of a vector.
    const PER_VECTOR: usize = size_of::<Self::Vector>() / size_of::<Self>();

    /// Words of a vector.
    const WORDS: usize = size_of::<Self::Vector>() / size_of::<Self::Word>();

    /// The words of a vector. What stands behind them means nothing.
    fn words(vector: Self::Vector) -> [Self::Word; 4];

    /// The vector of these words.
    fn vector(words: [Self::Word; 4]) -> Self::Vector;

    /// The words of `PER_WORD` columns, from those of as many rows. What stands behind them means nothing.
    fn turn(rows: [Self::Word; 4]) -> [Self::Word; 4];

    /// `word` with `element` at `place`, where it has zeros.
    fn with(word: Self::Word, element: Self, place: usize) -> Self::Word;

    /// The word that begins `elements` elements, fewer than a word has, after the beginning of `first`, which `second`
    /// follows.
    fn from_within(first: Self::Word, second: Self::Word, elements: u32) -> Self::Word;
}

impl Bits for u8 {
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

    #[inline(always)]
    fn turn([a, b, c, d]: [u32; 4]) -> [u32; 4] {
        const EVEN: u32 = 0x00ff_00ff;
        // First 2 × 2 bytes, then 2 × 2 pairs of them.
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

    #[inline(always)]
    fn turn(rows: [u32; 4]) -> [u32; 4] {
        rows
    }

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
    fn turn(rows: [u64; 4]) -> [u64; 4] {
        rows
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

/// The low half of `p`, and above it that of `q`.
#[inline(always)]
fn low_halves(p: u32, q: u32) -> u32 {
    (p & 0xffff) | q << 16
}

/// The high half of `p`, and above it that of `q`.
#[inline(always)]
fn high_halves(p: u32, q: u32) -> u32 {
    p >> 16 | (q & 0xffff_0000)
}

/// The 32 bits from bit `shift` of `low` on, which `high` follows. `shift` is below 32.
#[inline(always)]
fn funnel(low: u32, high: u32, shift: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (shift & 31)) as u32
}
