//! Saxpy: computes `y = a·x + y`. This is the smallest complete example of an algorithm.
//!
//! [`saxpy`] runs one of the kernels of `gpu::saxpy` on buffers of any length. [`plan`] returns the grid and block of
//! the launch.

use std::borrow::Borrow;

use cuda_std::{Global, GlobalMut, Ladder};
pub use gpu::saxpy::SaxpyRung;
use gpu::saxpy::tuning::{BLOCK, BLOCK_VECTORISED, BLOCKS_PER_MULTIPROCESSOR};
use gpu::saxpy::{saxpy_unaligned, saxpy_vectorised};
use launch::{Buffer, Device, Error, LaunchConfig, Queue};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::numbers::Number;
use crate::vector::{Vector, VectorMut};

/// A float type for which saxpy kernels are built. All rungs are built for `f32`, and the last rung also for `f64`.
#[diagnostic::on_unimplemented(
    message = "no saxpy kernel takes elements of type `{Self}`",
    label = "neither `f32` nor `f64`",
    note = "saxpy takes f32 and f64; name the type, as in 2.0_f32 or [1.0_f64; 3]"
)]
pub trait SaxpyElement: Number + gpu::saxpy::Real {}

impl SaxpyElement for f32 {}
impl SaxpyElement for f64 {}

// The former name of the trait, for existing callers.
pub use SaxpyElement as Real;

/// Returns the number of threads per block of the rung.
fn threads(rung: SaxpyRung) -> u32 {
    if rung == SaxpyRung::Vectorised { BLOCK_VECTORISED } else { BLOCK }
}

/// Returns true if the rung's grid grows with the number of elements, so that every element or vector has a thread. If
/// false, the number of multiprocessors limits the grid.
fn has_a_thread_for_all(rung: SaxpyRung) -> bool {
    matches!(rung, SaxpyRung::Monolithic | SaxpyRung::Vectorised)
}

/// Returns the grid and block for `n` elements of type `T` on `device`. If `n` is 0, the grid is one block, which does
/// nothing.
pub fn plan<T: SaxpyElement>(rung: SaxpyRung, n: usize, device: &Device) -> LaunchConfig {
    let multiprocessors = if has_a_thread_for_all(rung) { 1 } else { device.multiprocessors() };
    LaunchConfig::new(blocks::<T>(rung, n, multiprocessors), threads(rung))
}

/// Returns the number of blocks in the grid. If the number exceeds `u32::MAX`, returns `u32::MAX`, and the launch then
/// fails.
fn blocks<T: SaxpyElement>(rung: SaxpyRung, n: usize, multiprocessors: u32) -> u32 {
    let items = rung.rung().entry(&capabilities::of_type::<T>()).and_then(|entry| entry.items_per_thread).unwrap_or(1);
    let needed = u32::try_from(n.div_ceil(threads(rung) as usize * items).max(1)).unwrap_or(u32::MAX);
    if has_a_thread_for_all(rung) {
        needed
    } else {
        needed.min(BLOCKS_PER_MULTIPROCESSOR.saturating_mul(multiprocessors))
    }
}

/// Computes `y[i] = a·x[i] + y[i]` for every element, with one rounding.
///
/// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
///
/// The borrow checker rejects `x` and `y` that overlap:
///
/// ```compile_fail,E0502
/// # use gridstride::saxpy::{SaxpyRung, saxpy};
/// # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
/// let _ = saxpy(device, SaxpyRung::Vectorised, 2.0, &x, &mut x); // does not compile: x is both
/// # }
/// ```
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for `T`. Returns [`Error::LengthMismatch`] if `x` and
/// `y` differ in length. Otherwise returns the error of the launch.
pub fn saxpy<'q, T: SaxpyElement>(
    queue: impl Into<Queue<'q>>,
    rung: SaxpyRung,
    a: T,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    saxpy_views(queue, rung, a, x.view(), y.view_mut())
}

/// Does the same as [`saxpy`] for views, such as parts of buffers. A view may begin at any element of a buffer.
///
/// ```
/// use gridstride::saxpy::{SaxpyRung, saxpy_views};
/// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
/// let (x, mut y) = (device.upload(&[1.0, 2.0, 3.0])?, device.upload(&[10.0, 20.0, 30.0])?);
/// saxpy_views(&device, SaxpyRung::Vectorised, 2.0, x.view().part(0, 2), y.view_mut().part(1, 2))?;
/// assert_eq!(y.download()?, [10.0, 22.0, 34.0]);
/// # Ok::<(), gridstride::error::AlgorithmError>(())
/// ```
///
/// # Errors
/// Returns the errors of [`saxpy`].
pub fn saxpy_views<'q, T: SaxpyElement>(
    queue: impl Into<Queue<'q>>,
    rung: SaxpyRung,
    a: T,
    x: Global<'_, T>,
    y: GlobalMut<'_, T>,
) -> Result<(), AlgorithmError> {
    let queue = queue.into();
    launch(queue, rung, plan::<T>(rung, y.len(), queue.device()), a, x, y)
}

/// Does the same as [`saxpy_views`] with the given grid and block, such as the configuration that [`plan`] returns.
pub fn launch<T: SaxpyElement>(
    queue: Queue<'_>,
    rung: SaxpyRung,
    plan: LaunchConfig,
    a: T,
    x: Global<'_, T>,
    y: GlobalMut<'_, T>,
) -> Result<(), AlgorithmError> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "add a·x to y", buffer: x.len(), other: y.len() }.into());
    }
    let is_empty = x.is_empty();
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let call = match (rung, size_of::<T>()) {
        (SaxpyRung::Vectorised, 8) if is_aligned => saxpy_vectorised::if_built::<T, 2>(a, x, y),
        (SaxpyRung::Vectorised, _) if is_aligned => saxpy_vectorised::if_built::<T, 4>(a, x, y),
        (SaxpyRung::Vectorised, 8) => saxpy_unaligned::if_built::<T, 2>(a, x, y),
        (SaxpyRung::Vectorised, _) => saxpy_unaligned::if_built::<T, 4>(a, x, y),
        (rung, _) => rung.call(a, x, y),
    };
    match call {
        None => Err(capabilities::not_built(rung, &capabilities::of_type::<T>())),
        Some(_) if is_empty => Ok(()),
        Some(call) => Ok(queue.launch(plan, call)?),
    }
}

/// Extends [`Device`] with saxpy by the default rung, the fastest kernel.
pub trait SaxpyExt: Borrow<Device> {
    /// Computes `y[i] = a·x[i] + y[i]` in `f32` or `f64`, with one rounding per element.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let mut y = [10.0, 20.0];
    /// device.saxpy(2.0, &[1.0, 2.0], &mut y)?;
    /// assert_eq!(y, [12.0, 24.0]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// The borrow checker rejects `x` and `y` that overlap:
    ///
    /// ```compile_fail,E0502
    /// # use gridstride::prelude::*;
    /// # fn overlap(device: &launch::Device, y: &mut Buffer<f32>) -> Result<(), AlgorithmError> {
    /// device.saxpy(2.0, &*y, y)
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if `x` and `y` differ in length. Returns [`AlgorithmError::Launch`] if the
    /// device fails or has too little memory.
    fn saxpy<X, Y>(&self, a: X::Element, x: X, y: Y) -> Result<(), AlgorithmError>
    where
        X: Vector<Element: SaxpyElement>,
        Y: VectorMut<Element = X::Element>,
    {
        let device = self.borrow();
        let rung = SaxpyRung::default_rung(&capabilities::of_type::<X::Element>());
        x.on_device(device, |x| y.update(device, |y| saxpy(device, rung, a, x, y)))
    }
}

impl SaxpyExt for Device {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_a_thread_for_every_element_or_is_full() {
        use SaxpyRung::{GridStride, Monolithic};
        for (n, monolithic, grid_stride) in [
            (0, 1, 1),
            (1, 1, 1),
            (256, 1, 1),
            (257, 2, 2),
            (1 << 24, 1 << 16, 32 * 132),
            (1 << 28, 1 << 20, 32 * 132),
            ((1 << 39) - 256, i32::MAX as u32, 32 * 132),
            (usize::MAX, u32::MAX, 32 * 132),
        ] {
            assert_eq!(blocks::<f32>(Monolithic, n, 132), monolithic, "{n}");
            assert_eq!(blocks::<f32>(GridStride, n, 132), grid_stride, "{n}");
        }
    }

    #[test]
    fn a_thread_that_takes_several_elements_needs_fewer_blocks() {
        use SaxpyRung::{Unrolled2, Unrolled8};
        for (n, two, eight) in [(0, 1, 1), (512, 1, 1), (513, 2, 1), (2048, 4, 1), (2049, 5, 2), (1 << 28, 4224, 4224)]
        {
            assert_eq!(blocks::<f32>(Unrolled2, n, 132), two, "{n}");
            assert_eq!(blocks::<f32>(Unrolled8, n, 132), eight, "{n}");
        }
    }

    #[test]
    fn the_last_rung_has_a_thread_for_every_vector() {
        for (n, expected) in [(0, 1), (1, 1), (512, 1), (513, 2), (1 << 28, 1 << 19), (usize::MAX, u32::MAX)] {
            assert_eq!(blocks::<f32>(SaxpyRung::Vectorised, n, 132), expected, "{n}");
            assert_eq!(blocks::<f64>(SaxpyRung::Vectorised, n.div_ceil(2), 132), expected, "{n}");
        }
    }

    #[test]
    fn only_the_last_rung_takes_doubles() {
        for &rung in SaxpyRung::ALL {
            assert!(capabilities::check(rung, &capabilities::of_type::<f32>(), 0).is_ok());
            assert_eq!(
                capabilities::check(rung, &capabilities::of_type::<f64>(), 0).is_ok(),
                rung == SaxpyRung::LAST,
                "{rung}"
            );
        }
        let message =
            capabilities::check(SaxpyRung::GridStride, &capabilities::of_type::<f64>(), 0).unwrap_err().to_string();
        assert_eq!(message, "saxpy's rung grid_stride does not offer f64: it offers f32");
    }
}
