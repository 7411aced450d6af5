//! AVX2 and AVX-512.

use std::arch::x86_64::*;

use crate::grid::{Grid, Scratch};
use crate::sweep;
use crate::vector::{Block, Vector, composed_of_gates};

#[derive(Clone, Copy)]
struct Avx2(__m256i);

// The blocks below are sound for one reason, named in each: `Vector` requires a processor that has the instructions. A
// block is aligned to 64 bytes and as long as the vector.

impl Vector<4> for Avx2 {
    #[inline(always)]
    unsafe fn load(block: &Block<4>) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_load_si256(block.0.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, block: &mut Block<4>) {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { _mm256_store_si256(block.0.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_set1_epi64x(word as i64)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_and_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn and_not(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm256_andnot_si256(other.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn up(self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe {
            let carried = _mm256_permute4x64_epi64(_mm256_srli_epi64(self.0, 63), 0b10_01_00_11);
            Self(_mm256_or_si256(_mm256_slli_epi64(self.0, 1), carried))
        }
    }

    #[inline(always)]
    unsafe fn down(self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe {
            let carried = _mm256_permute4x64_epi64(_mm256_slli_epi64(self.0, 63), 0b00_11_10_01);
            Self(_mm256_or_si256(_mm256_srli_epi64(self.0, 1), carried))
        }
    }

    composed_of_gates!();
}

#[derive(Clone, Copy)]
struct Avx512(__m512i);

/// Computes the three-input logic operation `TABLE`: the result for the bits a, b, c is bit 4a + 2b + c of the table.
#[inline(always)]
unsafe fn lut<const TABLE: i32>(a: Avx512, b: Avx512, c: Avx512) -> Avx512 {
    // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
    unsafe { Avx512(_mm512_ternarylogic_epi64(a.0, b.0, c.0, TABLE)) }
}

const XOR: i32 = 0x96;
const MAJORITY: i32 = 0xe8;
const AND_XOR: i32 = 0x6a;
const SELECT: i32 = 0xca;

impl Vector<8> for Avx512 {
    #[inline(always)]
    unsafe fn load(block: &Block<8>) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_load_si512(block.0.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, block: &mut Block<8>) {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { _mm512_store_si512(block.0.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_set1_epi64(word as i64)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_and_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn and_not(self, other: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { Self(_mm512_andnot_si512(other.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn and_xor(self, and: Self, xor: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { lut::<AND_XOR>(self, and, xor) }
    }

    #[inline(always)]
    unsafe fn select(self, yes: Self, no: Self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { lut::<SELECT>(self, yes, no) }
    }

    #[inline(always)]
    unsafe fn up(self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe {
            let carried = _mm512_srli_epi64(self.0, 63);
            Self(_mm512_or_si512(_mm512_slli_epi64(self.0, 1), _mm512_alignr_epi64(carried, carried, 7)))
        }
    }

    #[inline(always)]
    unsafe fn down(self) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe {
            let carried = _mm512_slli_epi64(self.0, 63);
            Self(_mm512_or_si512(_mm512_srli_epi64(self.0, 1), _mm512_alignr_epi64(carried, carried, 1)))
        }
    }

    #[inline(always)]
    unsafe fn sums(left: Self, cell: Self, right: Self) -> [Self; 2] {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe { [lut::<XOR>(left, cell, right), lut::<MAJORITY>(left, cell, right)] }
    }

    /// Six operations, which binary-banter found with a SAT solver. The tests compare all 512 neighbourhoods.
    #[inline(always)]
    unsafe fn next(above: [Self; 2], [left, cell, right]: [Self; 3], below: [Self; 2]) -> Self {
        // SAFETY: `Vector` requires the instructions, and a block is aligned and as long as the vector.
        unsafe {
            let x = lut::<XOR>(above[0], left, right);
            let m = lut::<MAJORITY>(above[0], left, right);
            let p = lut::<0x3e>(below[0], x, cell);
            let q = lut::<0x5b>(p, cell, m);
            let s = lut::<0x91>(q, below[1], above[1]);
            lut::<0x58>(s, p, q)
        }
    }
}

/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn avx2(
    grid: &Grid<4>,
    strip: usize,
    first_row: usize,
    out: &mut [Block<4>],
    generations: usize,
    scratch: &mut Scratch<4>,
) {
    // SAFETY: the caller guarantees AVX2, the instructions of `Avx2`.
    unsafe { sweep::tile::<Avx2, 4>(grid, strip, first_row, out, generations, scratch) }
}

/// # Safety
/// The processor must have AVX-512F.
#[target_feature(enable = "avx512f")]
pub unsafe fn avx512(
    grid: &Grid<8>,
    strip: usize,
    first_row: usize,
    out: &mut [Block<8>],
    generations: usize,
    scratch: &mut Scratch<8>,
) {
    // SAFETY: the caller guarantees AVX-512F, the instructions of `Avx512`.
    unsafe { sweep::tile::<Avx512, 8>(grid, strip, first_row, out, generations, scratch) }
}
