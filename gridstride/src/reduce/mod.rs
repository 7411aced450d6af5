//! Reduction: combines all elements of a buffer into one by an associative operator.
//!
//! [`reduce`] runs one of the kernels of `gpu::reduce`. Use a [`Reducer`] for repeated reductions, because its runs
//! allocate no memory and the result can stay on the device. A [`Plan`] lists the launches. [`ReduceElement`] lists the
//! element types for each operator.
//!
//! ```
//! use gpu::operator::{Max, Sum};
//! use gridstride::reduce::{ReduceRung, Reducer, default_rung, reduce};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?;
//! let x = device.upload(&[3.0_f32, -1.0, 4.0])?;
//! assert_eq!(reduce(&device, ReduceRung::Shuffle, &x, Sum)?, 6.0);
//!
//! let mut maximum = Reducer::<f32, Max>::new(&device, default_rung::<f32, Max>(), x.len())?;
//! assert_eq!(maximum.reduce(&x)?, 4.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Small types and positions
//!
//! The intermediate values of some reductions have another type than the elements ([`gpu::accumulate`]). `f16` and
//! `bf16` are combined in `f32`, and the result is rounded once. Small integers wrap, unless [`Widened`] names a larger
//! type. [`ArgMin`] and [`ArgMax`] find the first position of the least or greatest element.
//!
//! ```
//! use gridstride::prelude::*;
//! use gridstride::reduce::{ReduceRung, Reducer};
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//!
//! let bytes = device.upload(&[200_u8; 1000])?;
//! assert_eq!(device.reduce(&bytes, Sum)?, 64); // 200,000 modulo 256
//! assert_eq!(device.sum_as::<u64>(&bytes)?, 200_000);
//!
//! let ones = vec![f16::ONE; 4096];
//! assert_eq!(device.reduce(&ones, Sum)?.to_f32(), 4096.0); // a sum in `f16` would stay at 2048
//!
//! let x = device.upload(&[2.5_f32, f32::NAN, -1.0, -1.0])?;
//! assert_eq!(device.arg_min(&x)?, Some(Indexed { index: 2, value: -1.0 }));
//! assert_eq!(device.arg_max(&[f32::NAN])?, None);
//!
//! let mut greatest = Reducer::<f32, ArgMax>::new(&device, ReduceRung::GridStride, x.len())?;
//! let result = greatest.run_in(device.queue(), &x)?; // one launch; the result stays on the device
//! assert_eq!(result.download()?[0].found(), Some(Indexed { index: 0, value: 2.5 }));
//! # Ok::<(), AlgorithmError>(())
//! ```
//!
//! # What does not compile
//!
//! Some kernels change the order of the elements. They do not compile for an operator that is not commutative:
//!
//! ```compile_fail,E0277
//! # use gpu::operator::{Affine, Compose};
//! # fn not_commutative(x: &launch::Buffer<Affine>, y: &mut launch::Buffer<Affine>) {
//! let call = gpu::reduce::reduce_interleaved::<Affine, Compose>(256, x.view(), y.view_mut()); // does not compile
//! # }
//! ```
//!
//! A type and operator of another crate need kernels, which [`gpu::instances!`] makes (`docs/library.md`). Without
//! them, a reduction does not compile, and an empty implementation of the trait does not, either:
//!
//! ```compile_fail,E0277
//! # use gridstride::prelude::*;
//! # #[derive(Clone, Copy)]
//! # struct First;
//! # impl Operator<u64> for First {
//! #     const IDENTITY: u64 = 0;
//! #     const COMMUTATIVE: bool = false;
//! #     fn combine(a: u64, b: u64) -> u64 { if a == 0 { b } else { a } }
//! # }
//! # fn first(device: &Device, x: &[u64]) -> Result<u64, AlgorithmError> {
//! device.reduce(x, First) // does not compile: add `gpu::instances!(u64 by First: reduce);`
//! # }
//! ```
//!
//! ```compile_fail,E0277
//! # use gridstride::prelude::*;
//! # #[derive(Clone, Copy)]
//! # struct First;
//! # impl Operator<u64> for First {
//! #     const IDENTITY: u64 = 0;
//! #     const COMMUTATIVE: bool = false;
//! #     fn combine(a: u64, b: u64) -> u64 { if a == 0 { b } else { a } }
//! # }
//! impl gridstride::reduce::ReduceElement<First> for u64 {} // does not compile: the kernels are missing
//! ```
//!
//! The borrow checker rejects a run whose input lies in the memory of the result:
//!
//! ```compile_fail,E0499
//! # use gpu::operator::Sum;
//! # use gridstride::{error::AlgorithmError, reduce::Reducer};
//! # fn overlap(sum: &mut Reducer<f32, Sum>, x: &launch::Buffer<f32>) -> Result<(), AlgorithmError> {
//! let result = sum.run(x)?;
//! sum.run(result)?; // does not compile: the result is in memory that this would write
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use cuda_std::Global;
use gpu::operator::{Operator, Sum};
pub use gpu::reduce::ReduceRung;
use launch::{Buffer, Device, Element};

use crate::error::AlgorithmError;
use crate::vector::Vector;

mod element;
mod plan;
mod reducer;

pub use element::default_rung;
pub use gpu::accumulate::{ArgMax, ArgMin, Indexed, Widened};
pub use gpu::reduce::{ReduceElement, ReduceInput};
pub use plan::{Pass, Plan};
pub use reducer::Reducer;

// The former names of these items, for existing callers.
pub use ReduceElement as Reducible;
pub use Reducer as Reduction;

/// Returns the number of elements of `x` that lie before its first 16-byte boundary, for [`Plan::roundings_from`].
pub fn before_first_vector<T: Element>(x: Global<'_, T>) -> usize {
    (x.as_ptr() as usize).wrapping_neg() % 16 / size_of::<T>()
}

/// Returns all elements of `x` combined by `operator` in order, or [`Operator::IDENTITY`] if `x` is empty.
///
/// This function allocates memory for partial results and waits for the result. Use a [`Reducer`] for repeated calls.
/// The order of float operations is unspecified, but it is the same in every run on the same device.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for `O` on `T`. Returns [`AlgorithmError::Launch`] if
/// the device fails or has too little memory.
pub fn reduce<T, O>(device: &Device, rung: ReduceRung, x: &Buffer<T>, operator: O) -> Result<T, AlgorithmError>
where
    T: ReduceElement<O>,
    O: Operator<T>,
{
    // The operator's value is not used, because its type determines the kernel.
    let _ = operator;
    Reducer::<T, O>::new(device, rung, x.len())?.reduce(x)
}

/// Returns the elements of `x` reduced by `O`, by the default rung.
fn reduced<X: Vector<Element: ReduceInput<O>>, O: 'static>(
    device: &Device,
    x: X,
) -> Result<<X::Element as ReduceInput<O>>::Output, AlgorithmError> {
    x.on_device(device, |x| Reducer::<X::Element, O>::new(device, default_rung::<X::Element, O>(), x.len())?.reduce(x))
}

/// Extends [`Device`] with reductions by the default rung, the fastest kernel for the operator and element type.
pub trait ReduceExt: Borrow<Device> {
    /// Returns all elements of `x` combined in order, `x[0] ∘ x[1] ∘ …`, or the operator's identity if `x` is empty.
    /// Waits for the result.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.reduce(&[3, 1, 4, 1, 5], Product)?, 60);
    /// assert_eq!(device.reduce(&Vec::<f64>::new(), Min)?, f64::INFINITY);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn reduce<X, O>(&self, x: X, operator: O) -> Result<X::Element, AlgorithmError>
    where
        X: Vector<Element: ReduceElement<O>>,
        O: Operator<X::Element>,
    {
        let device = self.borrow();
        x.on_device(device, |x| reduce(device, default_rung::<X::Element, O>(), x, operator))
    }

    /// Returns the sum of all elements of `x` as an `A`: each element is first converted to `A`. The sum of no elements
    /// is zero. Waits for the result.
    ///
    /// `A` is `f32` for `f16` and `bf16`, `i32` or `i64` for `i8`, `u32` or `u64` for `u8`, `i64` for `i32`, `u64` for
    /// `u32`, and `f64` for `f32`.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let bytes = [200_u8; 1000];
    /// assert_eq!(device.reduce(&bytes, Sum)?, 64); // modulo 256
    /// assert_eq!(device.sum_as::<u64>(&bytes)?, 200_000);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn sum_as<A: 'static>(
        &self,
        x: impl Vector<Element: ReduceInput<Widened<Sum, A>, Output = A>>,
    ) -> Result<A, AlgorithmError> {
        reduced::<_, Widened<Sum, A>>(self.borrow(), x)
    }

    /// Returns the least element of `x` and its index, the first one if several elements are equal. Returns `None` if
    /// there are no elements, or if all of them are NaN. Waits for the result.
    ///
    /// As for [`Min`](gpu::operator::Min), NaN is skipped, and −0 is less than +0.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let least = device.arg_min(&[3, -1, 4, -1, 5])?;
    /// assert_eq!(least.map(|least| (least.index, least.value)), Some((1, -1)));
    /// assert_eq!(device.arg_min(&Vec::<f32>::new())?, None);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn arg_min<X>(&self, x: X) -> Result<Option<Indexed<X::Element>>, AlgorithmError>
    where
        X: Vector<Element: ReduceInput<ArgMin, Output = Indexed<<X as Vector>::Element>>>,
    {
        Ok(reduced::<_, ArgMin>(self.borrow(), x)?.found())
    }

    /// Returns the greatest element of `x` and its index, the first one if several elements are equal. Returns `None`
    /// if there are no elements, or if all of them are NaN. Waits for the result.
    ///
    /// As for [`Max`](gpu::operator::Max), NaN is skipped, and +0 is greater than −0.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn arg_max<X>(&self, x: X) -> Result<Option<Indexed<X::Element>>, AlgorithmError>
    where
        X: Vector<Element: ReduceInput<ArgMax, Output = Indexed<<X as Vector>::Element>>>,
    {
        Ok(reduced::<_, ArgMax>(self.borrow(), x)?.found())
    }
}

impl ReduceExt for Device {}
