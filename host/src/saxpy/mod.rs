//! `y = a·x + y`: the smallest complete example of an algorithm.
//!
//! [`saxpy`] runs one of the kernels of `gpu::saxpy` on buffers of any length, [`plan`] says on what grid; the plain CPU
//! answer is in [`mod@reference`].

use launch::{Buffer, Device, Error, LaunchConfig};

use crate::rungs::rungs;

pub mod command;
pub mod reference;

/// Threads of a block.
const BLOCK: u32 = 256;

/// Blocks for each of a GPU's multiprocessors in the grid-stride launch: enough that all are busy until the end.
const BLOCKS_A_MULTIPROCESSOR: u32 = 32;

rungs! {
    /// The kernels that compute saxpy.
    pub enum SaxpyKernel: "saxpy" {
        /// A thread an element, in a grid as large as it takes.
        Monolithic = "monolithic",
        /// A grid of fixed size, whose threads go over the elements in strides of the grid.
        GridStride = "grid_stride",
    }
}

/// The grid and block for `n` elements on `device`. For no elements it is one block, which finds nothing to do.
pub fn plan(kernel: SaxpyKernel, n: usize, device: &Device) -> LaunchConfig {
    let multiprocessors = match kernel {
        SaxpyKernel::Monolithic => 1,
        // A device that does not tell will say why when the kernel is launched.
        SaxpyKernel::GridStride => device.properties().map_or(1, |properties| properties.multiprocessors),
    };
    LaunchConfig::new(blocks(kernel, n, multiprocessors), BLOCK)
}

/// Blocks in the grid. Where more are needed than can be counted, the launch refuses the most that can.
fn blocks(kernel: SaxpyKernel, n: usize, multiprocessors: u32) -> u32 {
    let needed = u32::try_from(n.div_ceil(BLOCK as usize).max(1)).unwrap_or(u32::MAX);
    match kernel {
        SaxpyKernel::Monolithic => needed,
        SaxpyKernel::GridStride => needed.min(BLOCKS_A_MULTIPROCESSOR * multiprocessors),
    }
}

/// Computes `y[i] = a·x[i] + y[i]` for every element, each rounded once.
///
/// On a GPU it returns at once: `y` is there for whatever is asked of the device next.
///
/// # Errors
/// [`Error::LengthMismatch`] when `x` and `y` are not of the same length, and whatever prevents the launch.
pub fn saxpy(device: &Device, kernel: SaxpyKernel, a: f32, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<(), Error> {
    saxpy_on(device, kernel, plan(kernel, y.len(), device), a, x, y)
}

/// [`saxpy`] with a plan made beforehand.
fn saxpy_on(
    device: &Device,
    kernel: SaxpyKernel,
    plan: LaunchConfig,
    a: f32,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<(), Error> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "add a·x to y", buffer: x.len(), other: y.len() });
    }
    if x.is_empty() {
        return Ok(());
    }
    match kernel {
        SaxpyKernel::Monolithic => device.launch(plan, gpu::saxpy::saxpy_monolithic(a, x.view(), y.view_mut())),
        SaxpyKernel::GridStride => device.launch(plan, gpu::saxpy::saxpy_grid_stride(a, x.view(), y.view_mut())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_a_thread_for_every_element_or_is_full() {
        use SaxpyKernel::{GridStride, Monolithic};
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
            assert_eq!(blocks(Monolithic, n, 132), monolithic, "{n}");
            assert_eq!(blocks(GridStride, n, 132), grid_stride, "{n}");
        }
    }
}
