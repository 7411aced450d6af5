//! The textbook's version in three steps: mark the selected elements, scan the marks, scatter the elements. Each step
//! is a launch; the second is a scan of `u64` by any rung of scan.
//!
//! It is limited by memory: the marks and their scan have 8 bytes per element, which are written and read twice.
//!
//! Source: G. Blelloch, "Prefix Sums and Their Applications", 1990 ("pack").

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::predicate::{ByFlag, InRange, Predicate, RunStart, is_selected};

/// Writes 1 to `marks[i]` if element `i` of `x` is selected, and otherwise 0.
///
/// `marks`, and `flags` if the predicate reads flags, must be as long as `x`. Launch a one-dimensional grid of any
/// size.
#[kernel(max_threads = 256, instances(T = [u32], P = [InRange, ByFlag, RunStart]))]
pub fn select_mark<T: Element, P: Predicate<T>>(x: Global<T>, flags: Global<u8>, predicate: P, marks: GlobalMut<u64>) {
    for i in thread::grid_stride(x.len()) {
        marks.store(i, u64::from(is_selected::<T, P>(x, flags, predicate, i)));
    }
}

/// Moves the selected elements of `x` to `y` and the others to `rejected`, both in order, and their number to `count`.
///
/// `ranks` must have the inclusive scan of the marks, and must be as long as `x`. Elements that do not fit into `y` or
/// `rejected` are not stored. `count` must have one element. Launch a one-dimensional grid of any size.
#[kernel(max_threads = 256, instances(T = [u32]))]
pub fn select_scatter<T: Element>(
    x: Global<T>,
    ranks: Global<u64>,
    y: GlobalMut<T>,
    rejected: GlobalMut<T>,
    count: GlobalMut<u64>,
) {
    if x.is_empty() && thread::block_idx_x() + thread::thread_idx_x() == 0 {
        count.store(0, 0);
    }
    for i in thread::grid_stride(x.len()) {
        let before = if i == 0 { 0 } else { ranks.load(i - 1) as usize };
        let through = ranks.load(i) as usize;
        let (output, at) = if through > before { (y, before) } else { (rejected, i - before) };
        if at < output.len() {
            output.store(at, x.load(i));
        }
        if i + 1 == x.len() {
            count.store(0, through as u64);
        }
    }
}
