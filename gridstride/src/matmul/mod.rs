//! Matrix product: *C* = α·op(*A*)·op(*B*) + β·*C*, for any layout of each matrix, with a bias and an activation.
//!
//! [`MatmulExt`] adds the method `matmul` to a device. Use a [`Matmul`] for other layouts and epilogues, for batches,
//! and for repeated products, in streams and in graphs, because its runs allocate no memory.
//!
//! | elements of *A* and *B* | sums | elements of *C* | kernels |
//! |---|---|---|---|
//! | `f32` | `f32` | `f32` | full precision; tensor cores with [`MatmulOptions::tf32`] |
//! | `f64` | `f64` | `f64` | tensor cores from compute capability 8.0 on |
//! | `f16`, `bf16` | `f32` | `f32`, or the type of *A* | tensor cores from compute capability 8.0 on |
//! | `e4m3`, `e5m2` | `f32` | `f32` | tensor cores, as `f16` |
//! | `i8` | `i32` | `i32` | tensor cores from compute capability 8.0 on; wrapping |
//!
//! A product has the same bits in every run on a device. Kernels of different rungs add in different orders, so the
//! bits of floats differ between devices.
//!
//! ```
//! use gridstride::matmul::{Layout, Matmul, MatmulOptions, Matrix, MatrixMut};
//! use gridstride::prelude::*;
//!
//! # fn main() -> Result<(), AlgorithmError> {
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//! // Three products of a 2 x 2 matrix with the transposes of three others.
//! let a = device.upload(&[1.0_f64, 2.0, 3.0, 4.0])?;
//! let b = device.upload(&[1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0])?;
//! let mut c = device.alloc(12)?;
//! let of_a = Layout::row_major(2, 2).batch(3, 0);
//! let of_b = Layout::row_major(2, 2).batch(3, 4).t();
//! let mut product = Matmul::<f64>::with_options(&device, &MatmulOptions::new(of_a, of_b))?;
//! let (a, b) = (Matrix::new(a.view(), of_a)?, Matrix::new(b.view(), of_b)?);
//! product.run(device.queue(), a, b, MatrixMut::new(c.view_mut(), Layout::row_major(2, 2).batch(3, 4))?)?;
//! assert_eq!(c.download()?, [1.0, 2.0, 3.0, 4.0, 2.0, 4.0, 6.0, 8.0, 2.0, 0.0, 4.0, 0.0]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use launch::Device;

use crate::error::AlgorithmError;
use crate::vector::Vector;

mod element;
mod launches;
mod layout;
mod matrix;
mod matrix_error;
mod plan;
mod product;
mod warpgroups;

pub use element::MatmulElement;
pub use gpu::matmul::{Epilogue, Linear, MatmulEpilogue, MatmulRung, Operand, Output, Sum};
pub use layout::Layout;
pub use matrix::{Matrix, MatrixMut};
pub use matrix_error::MatrixError;
pub use plan::{MatmulOptions, Plan};
pub use product::Matmul;

/// Extends [`Device`] with the product of matrices.
pub trait MatmulExt: Borrow<Device> {
    /// Returns the product of `a`, with `m` rows of `k` elements, and `b`, with `k` rows of `n` elements. The result
    /// has `m` rows of `n` elements: `f32` for 8-bit floats, `i32` for `i8`, and otherwise elements of the type of `a`.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (a, b) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    /// assert_eq!(device.matmul(&a, &b, [2, 2, 3])?, [4.0, 5.0, 10.0, 11.0]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::SizeMismatch`] if `a` does not have `m · k` elements, or `b` not `k · n`. Returns
    /// [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn matmul<A, B>(
        &self,
        a: A,
        b: B,
        [m, n, k]: [usize; 3],
    ) -> Result<A::OutputOf<<A::Element as MatmulElement>::Result>, AlgorithmError>
    where
        A: Vector<Element: MatmulElement>,
        B: Vector<Element = A::Element>,
    {
        let device = self.borrow();
        let c = a.on_device(device, |a| {
            b.on_device(device, |b| {
                for (what, len, height, width) in [("a", a.len(), m, k), ("b", b.len(), k, n)] {
                    if width.checked_mul(height) != Some(len) {
                        return Err(AlgorithmError::SizeMismatch { width, height, what, len });
                    }
                }
                let mut c = device.alloc(m.saturating_mul(n))?;
                let mut product = Matmul::<A::Element>::new(device, [m, n, k])?;
                let (a, b) = (Matrix::row_major(a, m, k)?, Matrix::row_major(b, k, n)?);
                product.run(device.queue(), a, b, MatrixMut::row_major(&mut c, m, n)?)?;
                Ok(c)
            })
        })?;
        Ok(A::output_of(c)?)
    }
}

impl MatmulExt for Device {}
