//! `cuda_math`'s functions that read memory: the simulator checks what they read.

use cuda_math::GpuFloat;

use crate::backend;

/// `√(x₀² + x₁² + …)`, CUDA's `norm`: right where squares would overflow or underflow. Infinite where an element is,
/// whatever the others are; 0 of no elements.
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

/// `1 / √(x₀² + x₁² + …)`, CUDA's `rnorm`. 0 where an element is infinite; ∞ of no elements.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rnorm<T: GpuFloat>(values: &[T]) -> T {
    backend::read_all("rnorm", values);
    cuda_math::rnorm(values)
}
