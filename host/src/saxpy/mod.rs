//! `y = a·x + y`: the smallest complete example of an algorithm.
//!
//! [`saxpy`] runs one of the kernels of `gpu::saxpy` on buffers of any length, [`plan`] says on what grid; the plain CPU
//! answer is in [`mod@reference`].

use gpu::saxpy::{saxpy_grid_stride, saxpy_monolithic, saxpy_unrolled, saxpy_vectorised};
use launch::{Buffer, Device, Error, LaunchConfig};

use crate::numbers::Number;
use crate::rungs::{AlgorithmError, Rung, rungs};

pub mod command;
pub mod reference;

/// Threads of a block, but of the last rung's.
const BLOCK: u32 = 256;

/// Threads of a block of the last rung, whose blocks each take one vector a thread and make room for the next.
const BLOCK_VECTORISED: u32 = 128;

/// The most blocks for each of a GPU's multiprocessors where the grid may have any size: enough that all are busy until
/// the end.
const BLOCKS_A_MULTIPROCESSOR: u32 = 32;

rungs! {
    /// The kernels that compute saxpy.
    pub enum SaxpyKernel: "saxpy" {
        /// A thread an element, in a grid as large as it takes.
        Monolithic = "monolithic",
        /// A grid of fixed size, whose threads go over the elements in strides of the grid.
        GridStride = "grid_stride",
        /// Two elements of each vector in flight, without comparisons before the end.
        Unrolled2 = "unrolled_2",
        /// Four elements of each vector in flight.
        Unrolled4 = "unrolled_4",
        /// Eight elements of each vector in flight.
        Unrolled8 = "unrolled_8",
        /// 16-byte accesses, one of each vector a thread, in a grid as large as it takes. For f64 too.
        Vectorised = "vectorised",
    }
}

impl SaxpyKernel {
    /// The kernels of `gpu` that it launches.
    pub(crate) const fn families(self) -> &'static [&'static str] {
        match self {
            Self::Monolithic => &["saxpy_monolithic"],
            Self::GridStride => &["saxpy_grid_stride"],
            Self::Unrolled2 | Self::Unrolled4 | Self::Unrolled8 => &["saxpy_unrolled"],
            Self::Vectorised => &["saxpy_vectorised"],
        }
    }

    /// The fastest.
    pub const BEST: Self = Self::Vectorised;

    /// Elements of `T` that a thread takes at a time.
    fn elements<T>(self) -> usize {
        match self {
            Self::Monolithic | Self::GridStride => 1,
            Self::Unrolled2 => 2,
            Self::Unrolled4 => 4,
            Self::Unrolled8 => 8,
            Self::Vectorised => 16 / size_of::<T>(),
        }
    }

    /// Threads of a block.
    fn threads(self) -> u32 {
        if self == Self::Vectorised { BLOCK_VECTORISED } else { BLOCK }
    }

    /// Whether its grid is as large as it takes; else it has a size that suits the device.
    fn has_a_thread_for_all(self) -> bool {
        matches!(self, Self::Monolithic | Self::Vectorised)
    }

    /// Whether it is built for elements of type `T`.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] if not.
    pub fn check_offers<T: Real>(self) -> Result<(), AlgorithmError> {
        let is_offered = match self {
            Self::Vectorised => true,
            _ => T::TYPE == f32::TYPE,
        };
        if is_offered { Ok(()) } else { Err(self.not_offered::<T>()) }
    }

    fn not_offered<T: Real>(self) -> AlgorithmError {
        AlgorithmError::NotOffered {
            algorithm: Self::ALGORITHM,
            kernel: self.name(),
            asked: T::TYPE.to_string(),
            offered: match self {
                Self::Vectorised => "f32 and f64".to_owned(),
                _ => "f32".to_owned(),
            },
        }
    }
}

/// A float that the kernels are built for: `f32`, and for the last rung `f64`.
#[diagnostic::on_unimplemented(
    message = "no saxpy kernel takes elements of type `{Self}`",
    label = "neither `f32` nor `f64`",
    note = "saxpy takes f32 and f64; name the type, as in 2.0_f32 or [1.0_f64; 3]"
)]
pub trait Real: Number {
    /// Launches a kernel that is offered.
    #[doc(hidden)]
    fn launch(
        device: &Device,
        kernel: SaxpyKernel,
        plan: LaunchConfig,
        a: Self,
        x: &Buffer<Self>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError>;
}

impl Real for f32 {
    fn launch(
        device: &Device,
        kernel: SaxpyKernel,
        plan: LaunchConfig,
        a: Self,
        x: &Buffer<Self>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError> {
        let (x, y) = (x.view(), y.view_mut());
        match kernel {
            SaxpyKernel::Monolithic => device.launch(plan, saxpy_monolithic(a, x, y)),
            SaxpyKernel::GridStride => device.launch(plan, saxpy_grid_stride(a, x, y)),
            SaxpyKernel::Unrolled2 => device.launch(plan, saxpy_unrolled::<f32, 2>(a, x, y)),
            SaxpyKernel::Unrolled4 => device.launch(plan, saxpy_unrolled::<f32, 4>(a, x, y)),
            SaxpyKernel::Unrolled8 => device.launch(plan, saxpy_unrolled::<f32, 8>(a, x, y)),
            SaxpyKernel::Vectorised => device.launch(plan, saxpy_vectorised::<f32, 4>(a, x, y)),
        }?;
        Ok(())
    }
}

impl Real for f64 {
    fn launch(
        device: &Device,
        kernel: SaxpyKernel,
        plan: LaunchConfig,
        a: Self,
        x: &Buffer<Self>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError> {
        match kernel {
            SaxpyKernel::Vectorised => Ok(device.launch(plan, saxpy_vectorised::<f64, 2>(a, x.view(), y.view_mut()))?),
            _ => Err(kernel.not_offered::<f64>()),
        }
    }
}

/// The grid and block for `n` elements of type `T` on `device`. For no elements it is one block, which finds nothing to
/// do.
pub fn plan<T: Real>(kernel: SaxpyKernel, n: usize, device: &Device) -> LaunchConfig {
    let multiprocessors = if kernel.has_a_thread_for_all() { 1 } else { device.multiprocessors() };
    LaunchConfig::new(blocks::<T>(kernel, n, multiprocessors), kernel.threads())
}

/// Blocks in the grid. Where more are needed than can be counted, the launch refuses the most that can.
fn blocks<T>(kernel: SaxpyKernel, n: usize, multiprocessors: u32) -> u32 {
    let of_block = kernel.threads() as usize * kernel.elements::<T>();
    let needed = u32::try_from(n.div_ceil(of_block).max(1)).unwrap_or(u32::MAX);
    if kernel.has_a_thread_for_all() {
        needed
    } else {
        needed.min(BLOCKS_A_MULTIPROCESSOR.saturating_mul(multiprocessors))
    }
}

/// Computes `y[i] = a·x[i] + y[i]` for every element, each rounded once.
///
/// On a GPU it returns at once: `y` is there for whatever is asked of the device next. `x` and `y` are two buffers, and
/// cannot overlap:
///
/// ```compile_fail,E0502
/// # use host::saxpy::{SaxpyKernel, saxpy};
/// # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
/// let _ = saxpy(device, SaxpyKernel::BEST, 2.0, &x, &mut x); // does not compile: x is both
/// # }
/// ```
///
/// # Errors
/// [`AlgorithmError::NotOffered`] when the kernel is not built for the type; [`Error::LengthMismatch`] when `x` and `y`
/// are not of the same length; and whatever prevents the launch.
pub fn saxpy<T: Real>(
    device: &Device,
    kernel: SaxpyKernel,
    a: T,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    saxpy_on(device, kernel, plan::<T>(kernel, y.len(), device), a, x, y)
}

/// [`saxpy`] with a plan made beforehand.
fn saxpy_on<T: Real>(
    device: &Device,
    kernel: SaxpyKernel,
    plan: LaunchConfig,
    a: T,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    kernel.check_offers::<T>()?;
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "add a·x to y", buffer: x.len(), other: y.len() }.into());
    }
    if x.is_empty() {
        return Ok(());
    }
    T::launch(device, kernel, plan, a, x, y)
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
            assert_eq!(blocks::<f32>(Monolithic, n, 132), monolithic, "{n}");
            assert_eq!(blocks::<f32>(GridStride, n, 132), grid_stride, "{n}");
        }
    }

    #[test]
    fn a_thread_that_takes_several_elements_needs_fewer_blocks() {
        use SaxpyKernel::{Unrolled2, Unrolled8};
        for (n, two, eight) in [(0, 1, 1), (512, 1, 1), (513, 2, 1), (2048, 4, 1), (2049, 5, 2), (1 << 28, 4224, 4224)]
        {
            assert_eq!(blocks::<f32>(Unrolled2, n, 132), two, "{n}");
            assert_eq!(blocks::<f32>(Unrolled8, n, 132), eight, "{n}");
        }
    }

    #[test]
    fn the_last_rung_has_a_thread_for_every_vector() {
        for (n, expected) in [(0, 1), (1, 1), (512, 1), (513, 2), (1 << 28, 1 << 19), (usize::MAX, u32::MAX)] {
            assert_eq!(blocks::<f32>(SaxpyKernel::Vectorised, n, 132), expected, "{n}");
            assert_eq!(blocks::<f64>(SaxpyKernel::Vectorised, n.div_ceil(2), 132), expected, "{n}");
        }
    }

    #[test]
    fn only_the_last_rung_takes_doubles() {
        for &kernel in SaxpyKernel::ALL {
            assert!(kernel.check_offers::<f32>().is_ok());
            assert_eq!(kernel.check_offers::<f64>().is_ok(), kernel == SaxpyKernel::BEST, "{kernel}");
        }
        let message = SaxpyKernel::GridStride.check_offers::<f64>().unwrap_err().to_string();
        assert_eq!(message, "saxpy's kernel grid_stride does not offer f64: it offers f32");
    }
}
