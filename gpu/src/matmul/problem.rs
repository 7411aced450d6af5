//! The sizes and layouts of a product, as a parameter of the kernels.

use cuda_std::{DeviceCopy, Global, GlobalMut};

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

    /// Returns true if a view of `len` elements has every element of `batch` matrices of `rows` × `columns`.
    #[inline(always)]
    const fn fit(self, len: usize, batch: u32, rows: u32, columns: u32) -> bool {
        if batch == 0 || rows == 0 || columns == 0 {
            return true;
        }
        let last = (batch as u64 - 1).saturating_mul(self.batch);
        let last = last.saturating_add((rows as u64 - 1).saturating_mul(self.row));
        let last = last.saturating_add((columns as u64 - 1).saturating_mul(self.column));
        last < len as u64
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

impl Problem {
    /// Traps if a view lacks an element of its matrices. After this call, indices of rows and columns of the matrices
    /// are in bounds.
    #[inline(always)]
    #[track_caller]
    pub fn assert_views<T: DeviceCopy, C: DeviceCopy>(&self, a: &Global<T>, b: &Global<T>, c: &GlobalMut<C>) {
        let Self { m, n, k, batch, .. } = *self;
        assert!(self.a.fit(a.len(), batch, m, k) && self.b.fit(b.len(), batch, k, n));
        self.assert_result(c);
    }

    /// Traps if the view lacks an element of *C*.
    #[inline(always)]
    #[track_caller]
    pub fn assert_result<C: DeviceCopy>(&self, c: &GlobalMut<C>) {
        assert!(self.c.fit(c.len(), self.batch, self.m, self.n));
    }

    /// Returns the numbers of the matrices *A* and *B* of the product number `batch`: 0 for one that all products
    /// share.
    #[inline(always)]
    pub const fn matrices(self, batch: u32) -> [u32; 2] {
        [if self.a.batch == 0 { 0 } else { batch }, if self.b.batch == 0 { 0 } else { batch }]
    }
}
