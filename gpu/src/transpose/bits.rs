//! The elements by their width, and how several of them share a word.

use cuda_std::Element;

/// An element as the transposes move it: bits of one width.
///
/// [`transpose_vectorised`](super::transpose_vectorised()) turns elements in registers into words that each hold
/// neighbours of one column: four bytes, two halves, or one element. From there on whole words are moved.
pub trait Bits: Element {
    /// What shared memory is written in: 4 bytes, or 8 where an element has 8.
    type Word: Element;

    /// 16 bytes, as words.
    type Vector: Element;

    /// Rows and columns of a tile. A row of it is 128 or 256 bytes: a whole number of cache lines.
    const SIDE: usize;

    /// Elements of a word.
    const PER_WORD: usize = size_of::<Self::Word>() / size_of::<Self>();

    /// Elements of a vector.
    const PER_VECTOR: usize = size_of::<Self::Vector>() / size_of::<Self>();

    /// The words of the columns of `PER_WORD` rows, a vector of each: as many words as a vector has elements. What
    /// stands behind them in either array means nothing.
    fn columns(rows: [Self::Vector; 4]) -> [Self::Word; 16];

    /// The word of `PER_WORD` elements of a column. What stands behind them means nothing.
    fn pack(elements: [Self; 4]) -> Self::Word;
}

impl Bits for u8 {
    type Word = u32;
    type Vector = [u32; 4];
    const SIDE: usize = 128;

    #[inline(always)]
    fn columns(rows: [[u32; 4]; 4]) -> [u32; 16] {
        let mut columns = [0; 16];
        for i in 0..4 {
            let four = transpose_bytes([rows[0][i], rows[1][i], rows[2][i], rows[3][i]]);
            for j in 0..4 {
                columns[4 * i + j] = four[j];
            }
        }
        columns
    }

    #[inline(always)]
    fn pack(elements: [u8; 4]) -> u32 {
        u32::from_le_bytes(elements)
    }
}

impl Bits for u16 {
    type Word = u32;
    type Vector = [u32; 4];
    const SIDE: usize = 128;

    #[inline(always)]
    fn columns(rows: [[u32; 4]; 4]) -> [u32; 16] {
        let mut columns = [0; 16];
        for i in 0..4 {
            columns[2 * i] = low_halves(rows[0][i], rows[1][i]);
            columns[2 * i + 1] = high_halves(rows[0][i], rows[1][i]);
        }
        columns
    }

    #[inline(always)]
    fn pack(elements: [u16; 4]) -> u32 {
        u32::from(elements[0]) | u32::from(elements[1]) << 16
    }
}

impl Bits for u32 {
    type Word = u32;
    type Vector = [u32; 4];
    const SIDE: usize = 64;

    #[inline(always)]
    fn columns(rows: [[u32; 4]; 4]) -> [u32; 16] {
        let mut columns = [0; 16];
        columns[..4].copy_from_slice(&rows[0]);
        columns
    }

    #[inline(always)]
    fn pack(elements: [u32; 4]) -> u32 {
        elements[0]
    }
}

impl Bits for u64 {
    type Word = u64;
    type Vector = [u64; 2];
    const SIDE: usize = 32;

    #[inline(always)]
    fn columns(rows: [[u64; 2]; 4]) -> [u64; 16] {
        let mut columns = [0; 16];
        columns[..2].copy_from_slice(&rows[0]);
        columns
    }

    #[inline(always)]
    fn pack(elements: [u64; 4]) -> u64 {
        elements[0]
    }
}

/// The transpose of 4 × 4 bytes, a row a word, the first column in the lowest bytes.
#[inline(always)]
fn transpose_bytes([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    const EVEN: u32 = 0x00ff_00ff;
    // First 2 × 2 bytes, then 2 × 2 pairs of them.
    let even = |p: u32, q: u32| (p & EVEN) | (q & EVEN) << 8;
    let odd = |p: u32, q: u32| (p >> 8 & EVEN) | (q & !EVEN);
    let (ab, cd) = ([even(a, b), odd(a, b)], [even(c, d), odd(c, d)]);
    [low_halves(ab[0], cd[0]), low_halves(ab[1], cd[1]), high_halves(ab[0], cd[0]), high_halves(ab[1], cd[1])]
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
