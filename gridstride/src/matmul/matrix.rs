//! [`Matrix`] and [`MatrixMut`]: the matrices of a product, as views of buffers.

use cuda_std::{Element, Global, GlobalMut};
use launch::Buffer;

use super::{Layout, MatrixError};
use crate::error::AlgorithmError;

macro_rules! matrix {
    ($(#[$attribute:meta])* $name:ident $view:ident $buffer:ty, $as_view:ident, $check:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub struct $name<'a, T> {
            pub(super) view: $view<'a, T>,
            pub(super) layout: Layout,
        }

        impl<'a, T: Element> $name<'a, T> {
            /// Returns the matrix with the layout `layout` in `view`, which begins at the first element of the matrix.
            ///
            /// # Errors
            /// Returns [`AlgorithmError::Matrix`] if the view has too few elements, or if the leading dimension is less
            /// than the number of elements of a row. For an output also if two elements are at the same place.
            pub fn new(view: $view<'a, T>, layout: Layout) -> Result<Self, AlgorithmError> {
                layout.$check(view.len())?;
                Ok(Self { view, layout })
            }

            /// Returns the matrix of `rows` rows of `columns` elements at the start of `buffer`, in row-major order.
            ///
            /// # Errors
            /// Returns [`AlgorithmError::Matrix`] if the buffer has too few elements.
            pub fn row_major(buffer: $buffer, rows: usize, columns: usize) -> Result<Self, AlgorithmError> {
                Self::new(buffer.$as_view(), Layout::row_major(rows, columns))
            }

            /// Returns the transpose, in the same memory.
            #[must_use]
            pub fn t(self) -> Self {
                Self { layout: self.layout.t(), ..self }
            }

            /// Returns the size of the matrix and the places of its elements.
            pub fn layout(&self) -> Layout {
                self.layout
            }
        }
    };
}

matrix! {
    /// A matrix, or a batch of matrices, in the memory of a device, which a product reads.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// use gridstride::matmul::{Layout, Matrix};
    ///
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    /// let a = Matrix::row_major(&x, 2, 3)?; // 1 2 3, 4 5 6
    /// let transposed = a.t(); // 1 4, 2 5, 3 6
    /// let part = Matrix::new(x.view().part(1, 7), Layout::row_major(2, 2).leading_dimension(4))?; // 2 3, 6 7
    /// # assert_eq!((transposed.layout().rows(), part.layout().columns()), (3, 2));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    Matrix Global &'a Buffer<T>, view, check_input
}

matrix! {
    /// A matrix, or a batch of matrices, in the memory of a device, which a product writes.
    MatrixMut GlobalMut &'a mut Buffer<T>, view_mut, check_output
}

/// Checks the sizes of the matrices of a product, and returns m, n, k and the number of products.
pub(super) fn sizes(a: &Layout, b: &Layout) -> Result<[usize; 4], MatrixError> {
    if a.columns() != b.rows() {
        let text = format!(
            "A is {} x {} and B is {} x {}: A must have as many columns as B has rows; `t()` returns the transpose",
            a.rows(),
            a.columns(),
            b.rows(),
            b.columns()
        );
        return Err(MatrixError(text));
    }
    if a.count() != b.count() {
        let text = format!(
            "A is a batch of {} matrices and B of {}: use the same number; a batch stride of 0 repeats one matrix",
            a.count(),
            b.count()
        );
        return Err(MatrixError(text));
    }
    Ok([a.rows(), b.columns(), a.columns(), a.count()])
}
