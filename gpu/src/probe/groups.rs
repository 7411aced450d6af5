//! The grid-stride loop of the bandwidth kernels. In each pass, a block processes a group of `UNROLL` elements per
//! thread.
//!
//! Within a group, consecutive elements of a thread are one block width apart. The accesses of a warp are therefore
//! coalesced at every unroll factor. A whole group needs no bounds tests. If the last group is incomplete, the kernel
//! processes it element by element.
//!
//! The loop in *The CUDA Handbook* compares the index with `N - n·blockDim·gridDim`. This difference underflows if the
//! array is shorter than one stride of the grid. The copy kernels of the book also process the last, incomplete group n
//! times.

use cuda_std::{Global, GlobalMut, thread};

use super::operand::Operand;

/// An iterator over the groups of an array that the calling thread processes. The grid must be one-dimensional, of any
/// size.
pub(super) struct Groups<const UNROLL: usize> {
    /// The index of the thread's first element in its next group.
    next: usize,
    /// The distance between two consecutive groups of the thread.
    stride: usize,
    /// The limit for whole groups: if the thread's first element of a group has an index below this value, all its
    /// elements of that group are in the array.
    end_of_whole: usize,
    /// The number of elements in the array.
    len: usize,
    /// The distance between two elements of a thread in a group, in elements. This distance equals the number of
    /// threads per block.
    pub step: usize,
}

impl<const UNROLL: usize> Groups<UNROLL> {
    /// Returns the calling thread's groups in an array of `len` elements.
    #[inline(always)]
    pub fn new(len: usize) -> Self {
        let step = thread::block_dim_x() as usize;
        let group = UNROLL * step;
        Self {
            next: thread::block_idx_x() as usize * group + thread::thread_idx_x() as usize,
            stride: thread::grid_dim_x() as usize * group,
            end_of_whole: len.saturating_sub((UNROLL - 1) * step),
            len,
            step,
        }
    }

    /// Returns the index `i` of the thread's first element in its next whole group. All `i + j·step` with `j < UNROLL`
    /// are below the length.
    #[inline(always)]
    pub fn next_whole(&mut self) -> Option<usize> {
        let first = self.next;
        if first >= self.end_of_whole {
            return None;
        }
        // The sum is below the array's length plus one stride, and therefore far below 2^64.
        self.next = first.wrapping_add(self.stride);
        Some(first)
    }

    /// Returns the index of the thread's element `j` in the last, incomplete group, or `None` if the element is beyond
    /// the end of the array. Call this method after the last whole group.
    #[inline(always)]
    pub fn rest(&self, j: usize) -> Option<usize> {
        // The group after this one starts at or beyond the end of the array, so a thread has at most one incomplete
        // group.
        let index = self.next.wrapping_add(j * self.step);
        if index < self.len { Some(index) } else { None }
    }
}

/// Returns `x[i]`. The function is inlined only in GPU code. In the simulator, the kernels of all unroll factors share
/// its machine code.
///
/// # Safety
/// `i` must be below the length of `x`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub(super) unsafe fn load<T: Operand>(x: Global<T>, i: usize) -> T {
    // SAFETY: by this function's contract, `i` is below the length of `x`.
    unsafe { x.load_unchecked(i) }
}

/// Stores `value` in `y[i]`. Like [`load`], the function is inlined only in GPU code.
///
/// # Safety
/// `i` must be below the length of `y`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub(super) unsafe fn store<T: Operand>(y: GlobalMut<T>, i: usize, value: T) {
    // SAFETY: by this function's contract, `i` is below the length of `y`.
    unsafe { y.store_unchecked(i, value) }
}
