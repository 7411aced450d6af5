//! Scale: computes `y = s·x`, a vector times a number.
//!
//! [`scale`] runs one of the kernels of `gpu::scale`. [`plan`] returns the grid and block of the launch.

use std::borrow::Borrow;

use cuda_std::{Global, GlobalMut, Ladder};
pub use gpu::scale::ScaleRung;
use gpu::scale::scale_unaligned;
use gpu::scale::tuning::{BLOCK, BLOCK_VECTORISED, BLOCKS_PER_MULTIPROCESSOR};
use launch::{Buffer, Device, Error, LaunchConfig, Queue};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::numbers::Number;
use crate::vector::Vector;

/// A number type for which the scale kernels are built: `f32`, or `i32` with wrapping multiplication.
#[diagnostic::on_unimplemented(
    message = "no scale kernel takes elements of type `{Self}`",
    label = "neither `f32` nor `i32`",
    note = "scale takes f32 and i32; name the type, as in 2.0_f32 or 3_i32"
)]
pub trait ScaleElement: Number + gpu::scale::Scalable {}

impl ScaleElement for f32 {}
impl ScaleElement for i32 {}

// The former name of the trait, for existing callers.
pub use ScaleElement as Scalable;

/// Returns the grid and block for `n` elements on `device`. If `n` is 0, the grid is one block, which does nothing.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if `n` exceeds the largest number of elements of the rung.
pub fn plan(rung: ScaleRung, n: usize, device: &Device) -> Result<LaunchConfig, AlgorithmError> {
    capabilities::check(rung, &[], n)?;
    let items = n.div_ceil(rung.rung().items_per_thread().unwrap_or(1));
    Ok(match rung {
        // The block consists of whole warps.
        ScaleRung::OneBlock => LaunchConfig::new(1, (n as u32).next_multiple_of(32).max(32)),
        ScaleRung::Grid => {
            let max = BLOCKS_PER_MULTIPROCESSOR.saturating_mul(device.multiprocessors());
            LaunchConfig::new(blocks(items, BLOCK).min(max), BLOCK)
        }
        ScaleRung::Vectorised => LaunchConfig::new(blocks(items, BLOCK_VECTORISED), BLOCK_VECTORISED),
    })
}

/// Returns the number of blocks for one thread per item. If the number exceeds `u32::MAX`, returns `u32::MAX`, and the
/// launch then fails.
fn blocks(items: usize, threads: u32) -> u32 {
    u32::try_from(items.div_ceil(threads as usize).max(1)).unwrap_or(u32::MAX)
}

/// Computes `y[i] = s·x[i]` for every element. A float product is rounded once; an integer product wraps.
///
/// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
///
/// The borrow checker rejects `x` and `y` that overlap:
///
/// ```compile_fail,E0502
/// # use gridstride::scale::{ScaleRung, scale};
/// # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
/// let _ = scale(device, ScaleRung::Grid, 2.0, &x, &mut x); // does not compile: x is both
/// # }
/// ```
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the length exceeds the largest number of elements of the rung. Returns
/// [`Error::LengthMismatch`] if `x` and `y` differ in length. Otherwise returns the error of the launch.
pub fn scale<'q, T: ScaleElement>(
    queue: impl Into<Queue<'q>>,
    rung: ScaleRung,
    s: T,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    scale_views(queue, rung, s, x.view(), y.view_mut())
}

/// Does the same as [`scale`] for views, such as parts of buffers. A view may begin at any element of a buffer.
///
/// # Errors
/// Returns the errors of [`scale`].
pub fn scale_views<'q, T: ScaleElement>(
    queue: impl Into<Queue<'q>>,
    rung: ScaleRung,
    s: T,
    x: Global<'_, T>,
    y: GlobalMut<'_, T>,
) -> Result<(), AlgorithmError> {
    let queue = queue.into();
    launch(queue, rung, plan(rung, y.len(), queue.device())?, s, x, y)
}

/// Does the same as [`scale_views`] with the given grid and block, such as the configuration that [`plan`] returns.
pub fn launch<T: ScaleElement>(
    queue: Queue<'_>,
    rung: ScaleRung,
    plan: LaunchConfig,
    s: T,
    x: Global<'_, T>,
    y: GlobalMut<'_, T>,
) -> Result<(), AlgorithmError> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "scale x into y", buffer: y.len(), other: x.len() }.into());
    }
    if x.is_empty() {
        return Ok(());
    }
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let call = match rung {
        ScaleRung::Vectorised if !is_aligned => scale_unaligned::if_built::<T, 4>(s, x, y),
        rung => rung.call(s, x, y),
    };
    let call = call.ok_or_else(|| capabilities::not_built(rung, &capabilities::of_type::<T>()))?;
    Ok(queue.launch(plan, call)?)
}

/// Extends [`Device`] with scale by the default rung, the fastest kernel.
pub trait ScaleExt: Borrow<Device> {
    /// Returns the vector of the products `s·x[i]`.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scale(0.5, &[1.0, 3.0])?, [0.5, 1.5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn scale<X>(&self, s: X::Element, x: X) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: ScaleElement>,
    {
        let device = self.borrow();
        let rung = ScaleRung::default_rung(&capabilities::of_type::<X::Element>());
        x.mapped(device, |x, y| scale(device, rung, s, x, y))
    }
}

impl ScaleExt for Device {}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn a_grid_has_a_thread_for_every_element_or_is_full() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let full = BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors();
        for (n, expected) in [(0, 1), (1, 1), (256, 1), (257, 2), (256 * full as usize, full), (usize::MAX, full)] {
            assert_eq!(plan(ScaleRung::Grid, n, &device).unwrap(), LaunchConfig::new(expected, BLOCK), "{n}");
        }
    }

    #[test]
    fn the_last_rung_has_a_thread_for_every_vector() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for (n, expected) in [(0, 1), (1, 1), (512, 1), (513, 2), (1 << 28, 1 << 19), (usize::MAX, u32::MAX)] {
            let plan = plan(ScaleRung::Vectorised, n, &device).unwrap();
            assert_eq!(plan, LaunchConfig::new(expected, BLOCK_VECTORISED), "{n}");
        }
    }

    #[test]
    fn one_block_has_a_thread_for_every_element_up_to_its_most() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for (n, threads) in [(0, 32), (1, 32), (32, 32), (33, 64), (1023, 1024), (1024, 1024)] {
            assert_eq!(plan(ScaleRung::OneBlock, n, &device).unwrap(), LaunchConfig::new(1, threads), "{n}");
        }
        let message = plan(ScaleRung::OneBlock, 1025, &device).unwrap_err().to_string();
        assert!(message.contains("one_block does not offer 1025 elements: it offers at most 1024"), "{message}");
    }
}
