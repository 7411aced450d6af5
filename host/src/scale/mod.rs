//! `y = s·x`: a vector times a number.
//!
//! [`scale`] runs one of the kernels of `gpu::scale`, [`plan`] says on what grid; the plain CPU answer is in
//! [`mod@reference`].

use gpu::scale::{MOST_ELEMENTS, scale_grid, scale_one_block};
use launch::{Buffer, Device, Error, LaunchConfig};

use crate::numbers::Number;
use crate::rungs::{AlgorithmError, Rung, rungs};

pub mod command;
pub mod reference;

/// Threads of a block of the grid.
const BLOCK: u32 = 256;

/// The most blocks of the grid for each of a GPU's multiprocessors: enough that all are busy until the end.
const BLOCKS_A_MULTIPROCESSOR: u32 = 32;

rungs! {
    /// The kernels that scale a vector.
    pub enum ScaleKernel: "scale" {
        /// A thread an element, in one block.
        OneBlock = "one_block",
        /// A grid, whose threads go over the elements in strides of it.
        Grid = "grid",
    }
}

impl ScaleKernel {
    /// The kernels of `gpu` that it launches.
    pub(crate) const fn families(self) -> &'static [&'static str] {
        match self {
            Self::OneBlock => &["scale_one_block"],
            Self::Grid => &["scale_grid"],
        }
    }
}

/// A number that the kernels are built for: `f32` or `i32`, which wraps.
#[diagnostic::on_unimplemented(
    message = "no scale kernel takes elements of type `{Self}`",
    label = "neither `f32` nor `i32`",
    note = "scale takes f32 and i32; name the type, as in 2.0_f32 or 3_i32"
)]
pub trait Scalable: Number {
    /// Launches the kernel as planned.
    #[doc(hidden)]
    fn launch(
        device: &Device,
        kernel: ScaleKernel,
        plan: LaunchConfig,
        s: Self,
        x: &Buffer<Self>,
        y: &mut Buffer<Self>,
    ) -> Result<(), Error>;
}

macro_rules! scalable {
    ($($type:ident)*) => {$(
        impl Scalable for $type {
            fn launch(
                device: &Device,
                kernel: ScaleKernel,
                plan: LaunchConfig,
                s: Self,
                x: &Buffer<Self>,
                y: &mut Buffer<Self>,
            ) -> Result<(), Error> {
                match kernel {
                    ScaleKernel::OneBlock => device.launch(plan, scale_one_block(s, x.view(), y.view_mut())),
                    ScaleKernel::Grid => device.launch(plan, scale_grid(s, x.view(), y.view_mut())),
                }
            }
        }
    )*};
}

scalable! { f32 i32 }

/// The grid and block for `n` elements on `device`. For no elements it is one block, which finds nothing to do.
///
/// # Errors
/// [`AlgorithmError::NotOffered`] when the kernel cannot take so many.
pub fn plan(kernel: ScaleKernel, n: usize, device: &Device) -> Result<LaunchConfig, AlgorithmError> {
    match kernel {
        ScaleKernel::OneBlock if n > MOST_ELEMENTS => Err(AlgorithmError::NotOffered {
            algorithm: ScaleKernel::ALGORITHM,
            kernel: kernel.name(),
            asked: format!("{n} elements"),
            offered: format!("at most {MOST_ELEMENTS}, a thread an element of one block; kernel grid takes any number"),
        }),
        // Whole warps.
        ScaleKernel::OneBlock => Ok(LaunchConfig::new(1, (n as u32).next_multiple_of(32).max(32))),
        ScaleKernel::Grid => Ok(LaunchConfig::new(blocks(n, device.multiprocessors()), BLOCK)),
    }
}

/// Blocks of the grid.
fn blocks(n: usize, multiprocessors: u32) -> u32 {
    let needed = u32::try_from(n.div_ceil(BLOCK as usize).max(1)).unwrap_or(u32::MAX);
    needed.min(BLOCKS_A_MULTIPROCESSOR.saturating_mul(multiprocessors))
}

/// Computes `y[i] = s·x[i]` for every element; floats are rounded once, integers wrap.
///
/// On a GPU it returns at once: `y` is there for whatever is asked of the device next. `x` and `y` are two buffers, and
/// cannot overlap:
///
/// ```compile_fail,E0502
/// # use host::scale::{ScaleKernel, scale};
/// # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
/// let _ = scale(device, ScaleKernel::Grid, 2.0, &x, &mut x); // does not compile: x is both
/// # }
/// ```
///
/// # Errors
/// [`AlgorithmError::NotOffered`] for more elements than the kernel takes; [`Error::LengthMismatch`] when `x` and `y` are
/// not of the same length; and whatever prevents the launch.
pub fn scale<T: Scalable>(
    device: &Device,
    kernel: ScaleKernel,
    s: T,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "scale x into y", buffer: y.len(), other: x.len() }.into());
    }
    let plan = plan(kernel, y.len(), device)?;
    if x.is_empty() {
        return Ok(());
    }
    Ok(T::launch(device, kernel, plan, s, x, y)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn a_grid_has_a_thread_for_every_element_or_is_full() {
        for (n, expected) in
            [(0, 1), (1, 1), (256, 1), (257, 2), (1 << 20, 4096), (1 << 28, 32 * 132), (usize::MAX, 32 * 132)]
        {
            assert_eq!(blocks(n, 132), expected, "{n}");
        }
    }

    #[test]
    fn one_block_has_a_thread_for_every_element_up_to_its_most() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for (n, threads) in [(0, 32), (1, 32), (32, 32), (33, 64), (1023, 1024), (1024, 1024)] {
            assert_eq!(plan(ScaleKernel::OneBlock, n, &device).unwrap(), LaunchConfig::new(1, threads), "{n}");
        }
        let message = plan(ScaleKernel::OneBlock, 1025, &device).unwrap_err().to_string();
        assert!(message.contains("one_block does not offer 1025 elements: it offers at most 1024"), "{message}");
    }
}
