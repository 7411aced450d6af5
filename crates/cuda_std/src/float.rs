//! Float operations that `core` does not offer on every compiler.

use crate::backend;

/// Float operations with one instruction on the GPU.
pub trait GpuFloat: Copy {
    /// `self · a + b` with one rounding (`fma.rn`).
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;

    /// The lesser of both (IEEE 754's minimumNumber): a NaN gives way to a number, and −0 is less than +0.
    fn minimum_number(self, other: Self) -> Self;

    /// The greater of both (IEEE 754's maximumNumber): a NaN gives way to a number, and +0 is greater than −0.
    fn maximum_number(self, other: Self) -> Self;
}

impl GpuFloat for f32 {
    #[inline(always)]
    fn mul_add(self, a: f32, b: f32) -> f32 {
        backend::fma_f32(self, a, b)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        backend::sqrt_f32(self)
    }

    #[inline(always)]
    fn minimum_number(self, other: f32) -> f32 {
        backend::minimum_number_f32(self, other)
    }

    #[inline(always)]
    fn maximum_number(self, other: f32) -> f32 {
        backend::maximum_number_f32(self, other)
    }
}

impl GpuFloat for f64 {
    #[inline(always)]
    fn mul_add(self, a: f64, b: f64) -> f64 {
        backend::fma_f64(self, a, b)
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        backend::sqrt_f64(self)
    }

    #[inline(always)]
    fn minimum_number(self, other: f64) -> f64 {
        backend::minimum_number_f64(self, other)
    }

    #[inline(always)]
    fn maximum_number(self, other: f64) -> f64 {
        backend::maximum_number_f64(self, other)
    }
}
