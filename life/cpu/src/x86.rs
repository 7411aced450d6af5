//! Vectors that use the instruction sets AVX2 and AVX-512.

use std::arch::x86_64::*;

use crate::grid::BandPass;
use crate::vector::{Block, Ring, Rows, Tiled, Vector};

#[derive(Clone, Copy)]
pub struct Avx2(pub __m256i);

#[derive(Clone, Copy)]
pub struct Avx512(__m512i);

/// Implements the functions of [`Vector`] that consist of a single intrinsic, for blocks of `$words` words.
macro_rules! one_intrinsic_each {
    ($words:literal, $load:ident, $store:ident, $set:ident, $and:ident, $or:ident, $xor:ident, $and_not:ident) => {
        #[inline(always)]
        unsafe fn load(block: &Block<$words>) -> Self {
            // SAFETY: the caller guarantees the instructions. A block is aligned and as long as the vector.
            unsafe { Self($load(block.0.as_ptr().cast())) }
        }

        #[inline(always)]
        fn store(self, block: &mut Block<$words>) {
            // SAFETY: a value exists only on processors that have the instructions. A block is aligned and as long as
            // the vector.
            unsafe { $store(block.0.as_mut_ptr().cast(), self.0) }
        }

        #[inline(always)]
        fn filled(self, word: u64) -> Self {
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($set(word as i64)) }
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($and(self.0, other.0)) }
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($or(self.0, other.0)) }
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($xor(self.0, other.0)) }
        }

        #[inline(always)]
        fn and_not(self, other: Self) -> Self {
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($and_not(other.0, self.0)) }
        }
    };
}

#[rustfmt::skip]
impl Vector<4> for Avx2 {
    one_intrinsic_each!(4, _mm256_load_si256, _mm256_store_si256, _mm256_set1_epi64x, _mm256_and_si256,
        _mm256_or_si256, _mm256_xor_si256, _mm256_andnot_si256);
}

impl Ring<4> for Avx2 {
    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe {
            let carried = _mm256_permute4x64_epi64(_mm256_srli_epi64(self.0, 63), 0b10_01_00_11);
            Self(_mm256_or_si256(_mm256_slli_epi64(self.0, 1), carried))
        }
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe {
            let carried = _mm256_permute4x64_epi64(_mm256_slli_epi64(self.0, 63), 0b00_11_10_01);
            Self(_mm256_or_si256(_mm256_srli_epi64(self.0, 1), carried))
        }
    }
}

impl Tiled<4> for Avx2 {
    #[inline(always)]
    fn after(self, above: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe { Self(_mm256_permute4x64_epi64(_mm256_blend_epi32(self.0, above.0, 0b1100_0000), 0b10_01_00_11)) }
    }

    #[inline(always)]
    fn before(self, below: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe { Self(_mm256_permute4x64_epi64(_mm256_blend_epi32(self.0, below.0, 0b0000_0011), 0b00_11_10_01)) }
    }

    #[inline(always)]
    fn after_bits(self, left: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe { Self(_mm256_or_si256(_mm256_slli_epi64(self.0, 1), _mm256_srli_epi64(left.0, 63))) }
    }

    #[inline(always)]
    fn before_bits(self, right: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe { Self(_mm256_or_si256(_mm256_srli_epi64(self.0, 1), _mm256_slli_epi64(right.0, 63))) }
    }

    #[inline(always)]
    fn words_with(self, mask: Self) -> u32 {
        // SAFETY: a value exists only on processors that have AVX2.
        unsafe {
            let none = _mm256_cmpeq_epi64(_mm256_and_si256(self.0, mask.0), _mm256_setzero_si256());
            !_mm256_movemask_pd(_mm256_castsi256_pd(none)) as u32 & 15
        }
    }
}

/// Computes the logic operation of three inputs that `TABLE` describes. The result for the bits a, b and c is bit
/// 4a + 2b + c of `TABLE`.
#[inline(always)]
fn lut<const TABLE: i32>(a: Avx512, b: Avx512, c: Avx512) -> Avx512 {
    // SAFETY: a value exists only on processors that have AVX-512F.
    unsafe { Avx512(_mm512_ternarylogic_epi64(a.0, b.0, c.0, TABLE)) }
}

const XOR: i32 = 0x96;
const MAJORITY: i32 = 0xe8;
const AND_XOR: i32 = 0x6a;
const SELECT: i32 = 0xca;

#[rustfmt::skip]
impl Vector<8> for Avx512 {
    one_intrinsic_each!(8, _mm512_load_si512, _mm512_store_si512, _mm512_set1_epi64, _mm512_and_si512, _mm512_or_si512,
        _mm512_xor_si512, _mm512_andnot_si512);

    #[inline(always)]
    fn and_xor(self, and: Self, xor: Self) -> Self {
        lut::<AND_XOR>(self, and, xor)
    }

    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        lut::<SELECT>(self, yes, no)
    }

    #[inline(always)]
    fn sums(left: Self, cell: Self, right: Self) -> [Self; 2] {
        [lut::<XOR>(left, cell, right), lut::<MAJORITY>(left, cell, right)]
    }

    /// Computes Life with six logic operations, which binary-banter found with a SAT solver. The tests check all 512
    /// neighbourhoods.
    #[inline(always)]
    fn next(above: [Self; 2], [left, cell, right]: [Self; 3], below: [Self; 2]) -> Self {
        let x = lut::<XOR>(above[0], left, right);
        let m = lut::<MAJORITY>(above[0], left, right);
        let p = lut::<0x3e>(below[0], x, cell);
        let q = lut::<0x5b>(p, cell, m);
        let s = lut::<0x91>(q, below[1], above[1]);
        lut::<0x58>(s, p, q)
    }
}

impl Ring<8> for Avx512 {
    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe {
            let carried = _mm512_srli_epi64(self.0, 63);
            Self(_mm512_or_si512(_mm512_slli_epi64(self.0, 1), _mm512_alignr_epi64(carried, carried, 7)))
        }
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe {
            let carried = _mm512_slli_epi64(self.0, 63);
            Self(_mm512_or_si512(_mm512_srli_epi64(self.0, 1), _mm512_alignr_epi64(carried, carried, 1)))
        }
    }
}

impl Tiled<8> for Avx512 {
    #[inline(always)]
    fn after(self, above: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe { Self(_mm512_alignr_epi64(self.0, above.0, 7)) }
    }

    #[inline(always)]
    fn before(self, below: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe { Self(_mm512_alignr_epi64(below.0, self.0, 1)) }
    }

    #[inline(always)]
    fn after_bits(self, left: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe { Self(_mm512_or_si512(_mm512_slli_epi64(self.0, 1), _mm512_srli_epi64(left.0, 63))) }
    }

    #[inline(always)]
    fn before_bits(self, right: Self) -> Self {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe { Self(_mm512_or_si512(_mm512_srli_epi64(self.0, 1), _mm512_slli_epi64(right.0, 63))) }
    }

    #[inline(always)]
    fn words_with(self, mask: Self) -> u32 {
        // SAFETY: a value exists only on processors that have AVX-512F.
        unsafe { u32::from(_mm512_test_epi64_mask(self.0, mask.0)) }
    }
}

/// Implements functions of [`Rows`] that consist of a single intrinsic.
macro_rules! one_intrinsic_each_row {
    ($($name:ident($cells:ident) $intrinsics:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            let $cells = self.0;
            // SAFETY: a value exists only on processors that have the instructions.
            unsafe { Self($intrinsics) }
        }
    )*};
}

impl Rows for Avx512 {
    one_intrinsic_each_row! {
        left(cells) _mm512_slli_epi64(cells, 1);
        right(cells) _mm512_srli_epi64(cells, 1);
        shifted_to_east(cells) _mm512_slli_epi64(cells, 48);
        shifted_to_west(cells) _mm512_srli_epi64(cells, 48);
        previous_words(cells) _mm512_alignr_epi64(cells, cells, 7);
        next_words(cells) _mm512_alignr_epi64(cells, cells, 1);
        halo_above(cells) _mm512_alignr_epi64(_mm512_setzero_si512(), cells, 6);
        halo_below(cells) _mm512_alignr_epi64(cells, _mm512_setzero_si512(), 2);
    }
}

/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn avx2(pass: BandPass<'_, 4>) {
    // SAFETY: the caller guarantees AVX2, the instructions of `Avx2`.
    unsafe { pass.run::<Avx2>() }
}

/// # Safety
/// The processor must have AVX-512F.
#[target_feature(enable = "avx512f")]
pub unsafe fn avx512(pass: BandPass<'_, 8>) {
    // SAFETY: the caller guarantees AVX-512F, the instructions of `Avx512`.
    unsafe { pass.run::<Avx512>() }
}
