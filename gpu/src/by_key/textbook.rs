//! The textbook's version in four steps: mark where runs begin, number the runs by a scan of the marks, scan within
//! each run, store the results. The marks are those of [`select_mark()`](crate::select::select_mark()), and their scan
//! is by any rung of scan. The scan within the runs takes one launch per step: in step *k*, each element is combined
//! with the one 2ᵏ before it if that has the same run.
//!
//! It is limited by ⌈log₂ n⌉ passes over memory.
//!
//! Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", 1986; S. Sengupta et al., "Scan Primitives for GPU
//! Computing", 2007, for the scan by segments.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::look_back::{EXCLUSIVE, REDUCE};
use crate::operator::{Operator, Sum};

/// Writes to `y` each element of `x`, combined with the one `distance` before it if both have the same run.
///
/// `runs` has the number of each element's run, and `y` must be as long as `x`. Launch a one-dimensional grid of any
/// size.
#[kernel(max_threads = 256, instances(T = [u32], O = [Sum]))]
pub fn by_key_step<T: Element, O: Operator<T>>(runs: Global<u64>, distance: u64, x: Global<T>, y: GlobalMut<T>) {
    for i in thread::grid_stride(x.len()) {
        let mut value = x.load(i);
        if i >= distance as usize && runs.load(i - distance as usize) == runs.load(i) {
            value = O::combine(x.load(i - distance as usize), value);
        }
        y.store(i, value);
    }
}

/// Stores the results from the inclusive scan of each run, `scanned`.
///
/// `runs` has the number of each element's run, counted from 1. The other arguments are those of
/// [`by_key_look_back()`](super::by_key_look_back()). Launch a one-dimensional grid of any size.
#[kernel(max_threads = 256, instances(K = [u32], T = [u32], O = [Sum]))]
pub fn by_key_store<K: Element, T: Element, O: Operator<T>>(
    keys: Global<K>,
    runs: Global<u64>,
    scanned: Global<T>,
    work: u32,
    y_keys: GlobalMut<K>,
    y: GlobalMut<T>,
    count: GlobalMut<u64>,
) {
    if work == REDUCE && keys.is_empty() && thread::block_idx_x() + thread::thread_idx_x() == 0 {
        count.store(0, 0);
    }
    for i in thread::grid_stride(keys.len()) {
        let run = runs.load(i);
        if work == REDUCE {
            let is_last = i + 1 == keys.len();
            let at = run as usize - 1;
            if is_last {
                count.store(0, run);
            }
            if is_last || runs.load(i + 1) != run {
                if at < y_keys.len() {
                    y_keys.store(at, keys.load(i));
                }
                if at < y.len() {
                    y.store(at, scanned.load(i));
                }
            }
        } else if work != EXCLUSIVE {
            y.store(i, scanned.load(i));
        } else {
            let begins = i == 0 || runs.load(i - 1) != run;
            y.store(i, if begins { O::IDENTITY } else { scanned.load(i - 1) });
        }
    }
}
