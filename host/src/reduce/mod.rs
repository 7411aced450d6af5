//! Reduction: all elements of a buffer combined into one by an associative operator.
//!
//! [`reduce`] runs one of the kernels of `gpu::reduce`; [`Reduction`] does so again and again without allocating anything,
//! and can leave the result on the device. [`Plan`] says in what launches, [`Reducible`] which rung offers what, and the
//! plain CPU answer is in [`mod@reference`].
//!
//! ```
//! use gpu::operator::{Max, Sum};
//! use host::reduce::{ReduceKernel, Reduction, reduce};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, host::modules::MODULES)?;
//! let x = device.upload(&[3.0_f32, -1.0, 4.0])?;
//! assert_eq!(reduce(&device, ReduceKernel::Shuffle, &x, Sum)?, 6.0);
//!
//! let mut maximum = Reduction::<f32, Max>::new(&device, ReduceKernel::best_for::<f32, Max>(), x.len())?;
//! assert_eq!(maximum.reduce(&x)?, 4.0);
//! # Ok(())
//! # }
//! ```
//!
//! A rung that does not keep the order of the elements is not built for an operator that needs it:
//!
//! ```compile_fail,E0277
//! # use gpu::operator::{Affine, Compose};
//! # fn not_commutative(x: &launch::Buffer<Affine>, y: &mut launch::Buffer<Affine>) {
//! let call = gpu::reduce::reduce_interleaved::<Affine, Compose>(256, x.view(), y.view_mut()); // does not compile
//! # }
//! ```
//!
//! Input and result cannot be the same memory, by the rules of borrowing:
//!
//! ```compile_fail,E0499
//! # use gpu::operator::Sum;
//! # use host::{reduce::Reduction, rungs::AlgorithmError};
//! # fn overlap(sum: &mut Reduction<f32, Sum>, x: &launch::Buffer<f32>) -> Result<(), AlgorithmError> {
//! let result = sum.run(x)?;
//! sum.run(result)?; // does not compile: the result is in memory that this would write
//! # Ok(())
//! # }
//! ```

use gpu::operator::Operator;
use launch::{Buffer, Device};

use crate::rungs::{AlgorithmError, rungs};

pub mod command;
pub mod inputs;
pub mod reference;

mod plan;
mod reducible;
mod reduction;

pub use plan::{Pass, Plan};
pub use reducible::Reducible;
pub use reduction::Reduction;

rungs! {
    /// The kernels that reduce.
    pub enum ReduceKernel: "reduce" {
        /// A tree over neighbours in shared memory; keeps the order of the elements.
        Neighboured = "neighboured",
        /// A tree over halves: the threads that work are the first ones.
        Interleaved = "interleaved",
        /// Each thread combines two elements as it loads them.
        Unrolled2 = "unrolled_2",
        /// Each thread combines four elements as it loads them.
        Unrolled4 = "unrolled_4",
        /// Each thread combines eight elements as it loads them.
        Unrolled8 = "unrolled_8",
        /// The last 64 elements of a block's tree by one warp, without block barriers.
        UnrolledLastWarp = "unrolled_last_warp",
        /// Each step of the tree is spelled out.
        CompletelyUnrolled = "completely_unrolled",
        /// Lanes exchange registers; keeps the order of the elements.
        Shuffle = "shuffle",
        /// A grid of fixed size reads 16 bytes at a time, and its last block combines the partial results: one launch.
        GridStride = "grid_stride",
    }
}

impl ReduceKernel {
    /// The kernels of `gpu` that it launches.
    pub(crate) const fn families(self) -> &'static [&'static str] {
        match self {
            Self::Neighboured => &["reduce_neighboured"],
            Self::Interleaved => &["reduce_interleaved"],
            Self::Unrolled2 | Self::Unrolled4 | Self::Unrolled8 => &["reduce_unrolled"],
            Self::UnrolledLastWarp => &["reduce_unrolled_last_warp"],
            Self::CompletelyUnrolled => &["reduce_completely_unrolled"],
            Self::Shuffle => &["reduce_shuffle"],
            Self::GridStride => &["reduce_grid_stride", "reduce_one_tile"],
        }
    }

    /// The last rung that offers `O` on `T`: the fastest.
    pub fn best_for<T: Reducible<O>, O: Operator<T>>() -> Self {
        const { assert!(!T::KERNELS.is_empty(), "a type is reducible by some kernel") };
        T::KERNELS[T::KERNELS.len() - 1]
    }
}

/// All elements of `x` combined by `operator`, in their order; [`Operator::IDENTITY`] where there are none.
///
/// Allocates what it needs for partial results, and waits for the result; [`Reduction`] is for repeated calls. Floats are
/// combined in an order that is always the same on the same device, and otherwise unspecified.
///
/// # Errors
/// [`AlgorithmError::NotOffered`] when the kernel is not built for `O` on `T`, and whatever prevents the launches.
pub fn reduce<T, O>(device: &Device, kernel: ReduceKernel, x: &Buffer<T>, operator: O) -> Result<T, AlgorithmError>
where
    T: Reducible<O>,
    O: Operator<T>,
{
    // Its type says it all.
    let _ = operator;
    Reduction::<T, O>::new(device, kernel, x.len())?.reduce(x)
}
