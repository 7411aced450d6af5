//! What `mma.sync` and `wgmma` compute, bit for bit as an H100 does.
//!
//! The functions know nothing of lanes and registers: a product has `m` rows of A and `n` columns of B, with `k`
//! elements each. Every element is an `f32`, which represents the smaller formats exactly; [`Format::decode`] makes it.
//! `docs/tensor-arithmetic.md` says how the rules were found, and for which GPU they hold.
//!
//! # Design
//!
//! An H100 adds the `k` products of an instruction and C at once:
//!
//! 1. The products are exact.
//! 2. The largest exponent of the products and of C is found. A product's exponent is the sum of its factors'
//!    exponents, without normalisation: `1.5 * 1.5` has the exponent 0, and a subnormal factor has the exponent of the
//!    smallest normal number.
//! 3. Each product and C is cut off at 25 bits below that exponent, or 13 bits in `wgmma` with factors of 8 bits.
//! 4. The sum of these is exact. It is rounded toward zero to `f32`, with 13 bits of fraction in `wgmma` with factors
//!    of 8 bits; or to the nearest `f16`.
//!
//! The order of the products therefore has no influence. Zeros are +0, and NaNs are `0x7FFFFFFF` or `0x7FFF`.
//!
//! `mma.sync` with factors of 8 bits consists of other instructions on an H100; see [`Product::multiply_add`].

use super::lanes::{Columns, LANES, Row};
use super::rounding::{NAN, nearest_f16, normal_toward_zero, toward_zero};
use super::{Format, exact};

pub use super::rounding::Sum;

/// The kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// `mma.sync`, of a warp.
    Mma,
    /// `wgmma`, of a warpgroup.
    Wgmma,
}

/// The types of an instruction, and the number of products that it adds to each sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// The kind of the instruction.
    pub unit: Unit,
    /// The format of A.
    pub a: Format,
    /// The format of B.
    pub b: Format,
    /// The type of C and D.
    pub sum: Sum,
    /// The number of columns of A and rows of B: at most 16, or 32 with factors of 8 bits.
    pub k: usize,
}

/// The numbers of bits that an addition keeps.
#[derive(Clone, Copy)]
pub(super) struct Precision {
    /// The bits of each term below the largest exponent.
    pub aligned: i32,
    /// The bits of the fraction of an `f32` sum.
    pub kept: i32,
}

impl Product {
    /// Adds the products of `m` rows of A and `n` columns of B to the `m` × `n` sums.
    ///
    /// `a` has one row after the other, `b` has one column after the other, and `sums` has one row after the other.
    /// Every element must be a value of its format.
    ///
    /// In `mma.sync` with factors of 8 bits, an H100 converts the factors to `f16`. Of every four elements, a first
    /// instruction for `f16` multiplies the first two, from a sum of 0. A second instruction adds the products of the
    /// last two. Then C is added by an IEEE 754 addition.
    ///
    /// # Panics
    ///
    /// If `k` or a length does not fit.
    pub fn multiply_add(self, a: &[f32], b: &[f32], sums: &mut [f32]) {
        self.multiply_add_parts(b, &mut [(a, sums)]);
    }

    /// Does what [`multiply_add`](Self::multiply_add) does for several parts of A and of the sums. This is faster than
    /// one call for each part.
    ///
    /// # Panics
    ///
    /// If `k` or a length does not fit.
    pub fn multiply_add_parts(self, b: &[f32], parts: &mut [(&[f32], &mut [f32])]) {
        let most = if self.has_bytes() { 32 } else { 16 };
        assert!(
            1 <= self.k && self.k <= most && (!self.has_bytes() || self.k.is_multiple_of(4)),
            "no instruction: {self:?}"
        );
        for (a, sums) in &*parts {
            assert!(
                a.len().is_multiple_of(self.k) && b.len().is_multiple_of(self.k),
                "the last row or column has less than {} elements",
                self.k
            );
            assert_eq!(sums.len(), (a.len() / self.k) * (b.len() / self.k), "the number of sums");
        }
        if self.unit == Unit::Mma && self.has_bytes() {
            parts.iter_mut().for_each(|(a, sums)| self.add_by_halves(a, b, sums));
        } else {
            self.add_at_once(b, parts);
        }
    }

    /// Adds the products of `a` and `b` to `c`: [`multiply_add`](Self::multiply_add) for one row and one column.
    #[must_use]
    pub fn dot(self, a: &[f32], b: &[f32], c: f32) -> f32 {
        let mut sum = [c];
        self.multiply_add(a, b, &mut sum);
        sum[0]
    }

    /// True if the elements of A and B have 8 bits.
    const fn has_bytes(self) -> bool {
        self.a.bits() == 8
    }

    const fn precision(self) -> Precision {
        if self.has_bytes() { Precision { aligned: 13, kept: 13 } } else { Precision { aligned: 25, kept: 23 } }
    }

    const fn min_exponent_of_sum(self) -> i32 {
        match self.sum {
            Sum::F32 => -126,
            Sum::F16 => Format::F16.min_exponent(),
        }
    }

    /// `mma.sync` with factors of 8 bits, by instructions for `f16`.
    fn add_by_halves(self, a: &[f32], b: &[f32], sums: &mut [f32]) {
        let half = Self { a: Format::F16, b: Format::F16, k: self.k / 2, ..self };
        let pairs = |elements: &[f32], first: usize| -> Vec<f32> {
            elements.chunks_exact(4).flat_map(|four| [four[first], four[first + 1]]).collect()
        };
        let mut products = vec![0.0; sums.len()];
        for first in [0, 2] {
            half.add_at_once(&pairs(b, first), &mut [(&pairs(a, first), &mut products)]);
        }
        for (sum, product) in sums.iter_mut().zip(products) {
            *sum = match self.sum {
                Sum::F32 => canonical(*sum + product),
                Sum::F16 => canonical(nearest_f16(f64::from(*sum) + f64::from(product))),
            };
        }
    }

    /// One instruction of the hardware.
    fn add_at_once(self, b: &[f32], parts: &mut [(&[f32], &mut [f32])]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.add_with_avx2(b, parts) };
        }
        self.add_with_any(b, parts);
    }

    /// [`add_with_any`](Self::add_with_any), compiled for processors with AVX2. The results are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_with_avx2(self, b: &[f32], parts: &mut [(&[f32], &mut [f32])]) {
        self.add_with_any(b, parts);
    }

    #[inline(always)]
    fn add_with_any(self, b: &[f32], parts: &mut [(&[f32], &mut [f32])]) {
        match self.k {
            ..=8 => self.add_in_lanes::<8>(b, parts),
            9..=16 => self.add_in_lanes::<16>(b, parts),
            _ => self.add_in_lanes::<32>(b, parts),
        }
    }

    /// [`add_at_once`](Self::add_at_once) for at most `K` elements.
    #[inline(always)]
    fn add_in_lanes<const K: usize>(self, b: &[f32], parts: &mut [(&[f32], &mut [f32])]) {
        let (k, n) = (self.k, b.len() / self.k);
        if n == 0 {
            return;
        }
        let min_exponents = [self.a.min_exponent(), self.b.min_exponent(), self.min_exponent_of_sum()];
        let columns: Vec<Columns<K>> = b.chunks(k * LANES).map(|b| Columns::new(b, k, min_exponents[1])).collect();
        let rows = parts.iter_mut().flat_map(|(a, sums)| a.chunks_exact(k).zip(sums.chunks_exact_mut(n)));
        for (a, sums) in rows {
            let row = Row::<K>::new(a, min_exponents[0]);
            for ((columns, b), sums) in columns.iter().zip(b.chunks(k * LANES)).zip(sums.chunks_mut(LANES)) {
                let mut c = [0.0; LANES];
                c[..sums.len()].copy_from_slice(sums);
                let results = columns.dot(&row, &c, min_exponents[2], self.precision());
                let rounded = self.round_normal(results.values);
                if results.are_right == [true; LANES] {
                    sums.copy_from_slice(&rounded[..sums.len()]);
                    continue;
                }
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum = if results.are_right[lane] {
                        rounded[lane]
                    } else {
                        self.round(exact::dot(a, &b[lane * k..][..k], *sum, min_exponents, self.precision()))
                    };
                }
            }
        }
    }

    /// Rounds sums that are 0 or at least the smallest normal `f32`.
    #[inline]
    fn round_normal(self, sums: [f64; LANES]) -> [f32; LANES] {
        match self.sum {
            Sum::F32 => sums.map(|sum| normal_toward_zero(sum, self.precision().kept)),
            Sum::F16 => sums.map(nearest_f16),
        }
    }

    /// Rounds any sum.
    fn round(self, sum: f64) -> f32 {
        canonical(match self.sum {
            Sum::F32 => toward_zero(sum, self.precision().kept),
            Sum::F16 => nearest_f16(sum),
        })
    }
}

/// Adds the products of rows and columns of `f64` to the sums; the order of the elements is that of
/// [`Product::multiply_add`]. From C on, every product is added by a fused multiply-add, in the order of `k`. NaNs have
/// the bits that an H100 returns.
///
/// # Panics
///
/// If `k` is 0 or a length does not fit.
pub fn multiply_add_f64(k: usize, a: &[f64], b: &[f64], sums: &mut [f64]) {
    assert!(
        k > 0 && a.len().is_multiple_of(k) && b.len().is_multiple_of(k),
        "the last row or column has less than {k} elements"
    );
    assert_eq!(sums.len(), (a.len() / k) * (b.len() / k), "the number of sums");
    let rows_and_columns = a.chunks_exact(k).flat_map(|row| b.chunks_exact(k).map(move |column| (row, column)));
    for (sum, (row, column)) in sums.iter_mut().zip(rows_and_columns) {
        *sum = row.iter().zip(column).fold(*sum, |sum, (a, b)| fused_multiply_add(*a, *b, sum));
    }
}

/// Adds the products of rows and columns of `i32` to the sums, which wrap around; the order of the elements is that of
/// [`Product::multiply_add`].
///
/// # Panics
///
/// If `k` is 0.
pub fn multiply_add_i32(k: usize, a: &[i32], b: &[i32], sums: &mut [i32]) {
    let rows_and_columns = a.chunks_exact(k).flat_map(|row| b.chunks_exact(k).map(move |column| (row, column)));
    for (sum, (row, column)) in sums.iter_mut().zip(rows_and_columns) {
        *sum = row.iter().zip(column).fold(*sum, |sum, (a, b)| sum.wrapping_add(a * b));
    }
}

/// Returns `a * b + sum`, rounded once. Of several NaNs, an H100 returns that of `b`, then `sum`, then `a`.
fn fused_multiply_add(a: f64, b: f64, sum: f64) -> f64 {
    const INVALID: u64 = 0xFFF8_0000_0000_0000;
    let result = a.mul_add(b, sum);
    if !result.is_nan() {
        return result;
    }
    let source = [b, sum, a].into_iter().find(|operand| operand.is_nan());
    f64::from_bits(source.map_or(INVALID, |operand| operand.to_bits() | 1 << 51))
}

/// Returns `value`, or the NaN of tensor cores for any NaN.
fn canonical(value: f32) -> f32 {
    if value.is_nan() { NAN } else { value }
}
