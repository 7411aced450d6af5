//! Work-efficient: an up-sweep and a down-sweep over a tree, in place, one launch per level.
//!
//! The kernels need 2n operations instead of n log₂ n. After the up-sweep, element i with i + 1 = odd · 2ᵏ contains the
//! combination of 2ᵏ elements, of which element i is the last. These 2ᵏ elements form a node of the tree, of width 2ᵏ.
//! The down-sweep visits the nodes from the widest to the narrowest. It combines each node with the prefix of all
//! elements before the node, which is already complete.
//!
//! This is Brent and Kung's down-sweep. It swaps no elements, computes the inclusive scan, and works for any n without
//! padding. For the exclusive scan, the input is first shifted up by one element. Tuomanen's book has Blelloch's
//! version instead, which computes the exclusive scan and needs a length that is a power of two. The book's kernel also
//! uses `tid` before its definition. Consecutive threads process consecutive nodes of a level.
//!
//! The speed is limited by the 2 log₂ n launches, and by memory. Neighbouring threads access elements 2ᵏ⁺¹ apart, so on
//! levels with wide nodes each access moves 32 bytes for one element.
//!
//! Sources: G. E. Blelloch, "Prefix Sums and Their Applications", 1990; R. P. Brent, H. T. Kung, "A Regular Layout for
//! Parallel Adders", IEEE Trans. Computers C-31 (3), 1982; Tuomanen, ch. 4.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::shifted;
use crate::operator::{Operator, Sum};

/// Copies `x` to `y`, shifted up: `y[i]` is `x[i − shift]`, or the identity if `i` is below `shift`. The sweeps work on
/// this copy.
///
/// `y` must be as long as `x`. Launch a one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_shifted_copy<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, shift: usize) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, shifted::<T, O>(x, i, shift));
    }
}

/// Executes one level of the up-sweep: combines `y[i − width]` into `y[i]` if i + 1 is a multiple of 2 · `width`.
///
/// The host launches this kernel with `width` = 1, 2, 4, … up to half of the length. Launch a one-dimensional grid with
/// up to 256 threads per block.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_up_sweep<T: Element, O: Operator<T>>(y: GlobalMut<T>, width: usize) {
    for node in thread::grid_stride(up_sweep_nodes(y.len(), width)) {
        combine_into::<T, O>(y, (2 * node + 2) * width - 1, width);
    }
}

/// Executes one level of the down-sweep: combines `y[i − width]` into `y[i]` if i + 1 is an odd multiple of `width`
/// above `width`.
///
/// The host launches this kernel with the widths of the up-sweep in descending order. Launch a one-dimensional grid
/// with up to 256 threads per block.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_down_sweep<T: Element, O: Operator<T>>(y: GlobalMut<T>, width: usize) {
    for node in thread::grid_stride(down_sweep_nodes(y.len(), width)) {
        combine_into::<T, O>(y, (2 * node + 3) * width - 1, width);
    }
}

/// Returns the number of nodes in a level of the up-sweep over `n` elements.
#[inline(always)]
pub const fn up_sweep_nodes(n: usize, width: usize) -> usize {
    n / width / 2
}

/// Returns the number of nodes in a level of the down-sweep over `n` elements.
#[inline(always)]
pub const fn down_sweep_nodes(n: usize, width: usize) -> usize {
    (n / width).saturating_sub(1) / 2
}

/// Combines `y[i − width]` with `y[i]` and stores the result in `y[i]`. There is no race within a level, because no
/// thread writes the elements at `i − width`.
#[inline(always)]
fn combine_into<T: Element, O: Operator<T>>(y: GlobalMut<T>, i: usize, width: usize) {
    y.store(i, O::combine(y.load(i - width), y.load(i)));
}
