//! The sizes and layouts of a product, as a parameter of the kernels.

use cuda_std::DeviceCopy;

/// The layout of a matrix in a view: element (i, j) of matrix number *b* is element `b·batch + i·row + j·column`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Strides {
    /// The number of elements from a row to the next one.
    pub row: u64,
    /// The number of elements from a column to the next one.
    pub column: u64,
    /// The number of elements from a matrix of a batch to the next one.
    pub batch: u64,
}

impl Strides {
    /// Returns the index of element (`row`, `column`) of the matrix number `batch`.
    #[inline(always)]
    pub const fn index(self, batch: usize, row: usize, column: usize) -> usize {
        batch * self.batch as usize + row * self.row as usize + column * self.column as usize
    }
}

/// The sizes of a product, and the layouts of its matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Problem {
    /// The number of rows of *A* and *C*.
    pub m: u32,
    /// The number of columns of *B* and *C*.
    pub n: u32,
    /// The number of columns of *A* and of rows of *B*.
    pub k: u32,
    /// The number of products.
    pub batch: u32,
    /// The layout of *A*, with *m* rows.
    pub a: Strides,
    /// The layout of *B*, with *k* rows.
    pub b: Strides,
    /// The layout of *C*, with *m* rows.
    pub c: Strides,
}
