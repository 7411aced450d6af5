//! The functions of `cuda_math` that read slices in memory, with reads that the simulator checks.

use cuda_math::GpuFloat;

use crate::backend;

/// Returns `√(x₀² + x₁² + …)`, CUDA's `norm`, without overflow or underflow of the squares. Returns ∞ if an element is
/// infinite, and 0 for an empty slice.
///
/// ```
/// assert_eq!(cuda_std::norm(&[3e30_f32, 4e30]), 5e30);
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn norm<T: GpuFloat>(values: &[T]) -> T {
    backend::read_all("norm", values);
    cuda_math::norm(values)
}

/// Returns `1 / √(x₀² + x₁² + …)`, CUDA's `rnorm`. Returns 0 if an element is infinite, and ∞ for an empty slice.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rnorm<T: GpuFloat>(values: &[T]) -> T {
    backend::read_all("rnorm", values);
    cuda_math::rnorm(values)
}
