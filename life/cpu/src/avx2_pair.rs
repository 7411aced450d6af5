//! Vectors of eight words that consist of two AVX2 registers.

use std::arch::x86_64::*;

use crate::vector::{Block, Rows, Vector};
use crate::x86::Avx2;

/// The low four words and the high four words.
#[derive(Clone, Copy)]
pub struct Avx2Pair(Avx2, Avx2);

impl Avx2Pair {
    #[inline(always)]
    fn of(low: __m256i, high: __m256i) -> Self {
        Self(Avx2(low), Avx2(high))
    }

    #[inline(always)]
    fn both(self, other: Self, f: impl Fn(Avx2, Avx2) -> Avx2) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }
}

impl Vector<8> for Avx2Pair {
    #[inline(always)]
    unsafe fn load(block: &Block<8>) -> Self {
        let words: *const __m256i = block.0.as_ptr().cast();
        // SAFETY: the caller guarantees AVX2. A block is aligned to 64 bytes and has two vectors of 32 bytes.
        unsafe { Self::of(_mm256_load_si256(words), _mm256_load_si256(words.add(1))) }
    }

    #[inline(always)]
    fn store(self, block: &mut Block<8>) {
        let words: *mut __m256i = block.0.as_mut_ptr().cast();
        // SAFETY: a value exists only on processors that have AVX2. A block is aligned to 64 bytes and has two vectors
        // of 32 bytes.
        unsafe {
            _mm256_store_si256(words, self.0.0);
            _mm256_store_si256(words.add(1), self.1.0);
        }
    }

    #[inline(always)]
    fn filled(self, word: u64) -> Self {
        Self(self.0.filled(word), self.1.filled(word))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.both(other, Avx2::and)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.both(other, Avx2::or)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.both(other, Avx2::xor)
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.both(other, Avx2::and_not)
    }
}

/// Implements functions of [`Rows`]. Each function has one expression for the low words and one for the high words.
macro_rules! functions_of_rows {
    ($($name:ident($low:pat, $high:pat) $low_words:expr, $high_words:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            let ($low, $high) = (self.0.0, self.1.0);
            // SAFETY: a value exists only on processors that have AVX2.
            unsafe { Self::of($low_words, $high_words) }
        }
    )*};
}

/// Rotates four words by one word towards the high end.
const UP: i32 = 0b10_01_00_11;
/// Rotates four words by one word towards the low end.
const DOWN: i32 = 0b00_11_10_01;

impl Rows for Avx2Pair {
    functions_of_rows! {
        left(low, high) _mm256_slli_epi64(low, 1), _mm256_slli_epi64(high, 1);
        right(low, high) _mm256_srli_epi64(low, 1), _mm256_srli_epi64(high, 1);
        shifted_to_east(low, high) _mm256_slli_epi64(low, 48), _mm256_slli_epi64(high, 48);
        shifted_to_west(low, high) _mm256_srli_epi64(low, 48), _mm256_srli_epi64(high, 48);
        previous_words(low, high) _mm256_permute4x64_epi64(low, UP), _mm256_blend_epi32(
            _mm256_permute4x64_epi64(high, UP), _mm256_permute4x64_epi64(low, UP), 0b0000_0011);
        next_words(low, high) _mm256_blend_epi32(
            _mm256_permute4x64_epi64(low, DOWN), _mm256_permute4x64_epi64(high, DOWN), 0b1100_0000),
            _mm256_permute4x64_epi64(high, DOWN);
        halo_above(_, high) _mm256_blend_epi32(
            _mm256_setzero_si256(), _mm256_permute4x64_epi64(high, 2), 0b0000_0011), _mm256_setzero_si256();
        halo_below(low, _) _mm256_setzero_si256(), _mm256_blend_epi32(
            _mm256_setzero_si256(), _mm256_permute4x64_epi64(low, 0b01_00_00_00), 0b1100_0000);
    }
}
