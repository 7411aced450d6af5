//! How the bandwidth kernels go over an array: each block takes groups of `UNROLL` elements per thread, in strides of the
//! grid.
//!
//! Within a group a thread's elements are a block's width apart, so that a warp's accesses are coalesced whatever the
//! unroll factor. A whole group needs no bounds tests; the group that the array's end cuts is done element by element.
//! The Handbook's loop compares the index with `N - n·blockDim·gridDim`, which underflows where the array is shorter than
//! one stride of the grid, and its copies go over that cut group n times.

use cuda_std::{Global, GlobalMut, thread};

use super::operand::Operand;

/// The groups of the calling thread in an array, in a one-dimensional grid of any size.
pub(super) struct Groups<const UNROLL: usize> {
    /// The thread's first element of the next group.
    next: usize,
    /// From one group of the thread to its next.
    stride: usize,
    /// A group that starts below this has all of the thread's elements in the array.
    end_of_whole: usize,
    /// Elements of the array.
    len: usize,
    /// Between two elements of a thread in a group: the block's width.
    pub step: usize,
}

impl<const UNROLL: usize> Groups<UNROLL> {
    /// The groups of the calling thread in an array of `len` elements.
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

    /// The thread's first element of its next whole group, `i`: all `i + j·step` with `j < UNROLL` are below the length.
    #[inline(always)]
    pub fn next_whole(&mut self) -> Option<usize> {
        let first = self.next;
        if first >= self.end_of_whole {
            return None;
        }
        // Below the array's length plus one stride, and so far below 2^64.
        self.next = first.wrapping_add(self.stride);
        Some(first)
    }

    /// After the last whole group: the thread's element `j` of the group that the array's end cuts, if it has one there.
    #[inline(always)]
    pub fn rest(&self, j: usize) -> Option<usize> {
        // The group after this one starts at or beyond the end: a thread has at most one that is cut.
        let index = self.next.wrapping_add(j * self.step);
        if index < self.len { Some(index) } else { None }
    }
}

/// `x[i]`. Inlined on a GPU alone: in the simulator the kernels of all unroll factors call the same machine code.
///
/// # Safety
/// `i` must be below the length of `x`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub(super) unsafe fn load<T: Operand>(x: Global<T>, i: usize) -> T {
    // SAFETY: the caller's.
    unsafe { x.load_unchecked(i) }
}

/// `y[i] = value`, inlined as [`load`] is.
///
/// # Safety
/// `i` must be below the length of `y`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub(super) unsafe fn store<T: Operand>(y: GlobalMut<T>, i: usize, value: T) {
    // SAFETY: the caller's.
    unsafe { y.store_unchecked(i, value) }
}
