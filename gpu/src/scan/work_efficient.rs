//! Work-efficient: an up-sweep and a down-sweep over a tree, in place, one launch per level.
//!
//! What it changes: 2n operations instead of n log₂ n. The up-sweep leaves in element i, for i + 1 = odd · 2ᵏ, the 2ᵏ
//! elements that end there; the down-sweep, from the widest nodes to the narrowest, combines each node with
//! the prefix that ends where the node begins, which is complete by then. This is Brent and Kung's down-sweep: it swaps nothing, gives the inclusive
//! scan, and holds for any n without padding. The exclusive scan is the inclusive one of the input moved up by one.
//! (Blelloch's, which the book has, gives the exclusive scan of a power of two; the book's kernel also uses `tid` before
//! it is defined.) The threads map densely onto the nodes of a level.
//! Limited by its 2 log₂ n launches, and by memory: neighbouring threads access elements 2ᵏ⁺¹ apart, so that each access
//! of the wider levels fetches 32 bytes for one element.
//! Sources: G. E. Blelloch, "Prefix Sums and Their Applications", 1990; R. P. Brent, H. T. Kung, "A Regular Layout for
//! Parallel Adders", IEEE Trans. Computers C-31 (3), 1982; Tuomanen, ch. 4.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::shifted;
use crate::operator::{Operator, Sum};

/// `y[i] = x[i − shift]`, and the identity where there is none: what the sweeps work on.
///
/// `y` must be as long as `x`. A one-dimensional grid of blocks of up to 256 threads.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_shifted_copy<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, shift: usize) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, shifted::<T, O>(x, i, shift));
    }
}

/// A level of the up-sweep: `y[i] = y[i − width]` and `y[i]` combined, where i + 1 is a multiple of 2 · `width`.
///
/// `width` goes 1, 2, 4, … up to half of the length. A one-dimensional grid of blocks of up to 256 threads.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_up_sweep<T: Element, O: Operator<T>>(y: GlobalMut<T>, width: usize) {
    for node in thread::grid_stride(up_sweep_nodes(y.len(), width)) {
        combine_into::<T, O>(y, (2 * node + 2) * width - 1, width);
    }
}

/// A level of the down-sweep: `y[i] = y[i − width]` and `y[i]` combined, where i + 1 is an odd multiple of `width` from 3 on.
///
/// `width` goes back down through the widths of the up-sweep. A one-dimensional grid of blocks of up to 256 threads.
#[kernel(max_threads = 256, instances(T = [f32, i32, f64], O = [Sum]))]
pub fn scan_down_sweep<T: Element, O: Operator<T>>(y: GlobalMut<T>, width: usize) {
    for node in thread::grid_stride(down_sweep_nodes(y.len(), width)) {
        combine_into::<T, O>(y, (2 * node + 3) * width - 1, width);
    }
}

/// Nodes of a level of the up-sweep over `n` elements.
#[inline(always)]
pub const fn up_sweep_nodes(n: usize, width: usize) -> usize {
    n / width / 2
}

/// Nodes of a level of the down-sweep over `n` elements.
#[inline(always)]
pub const fn down_sweep_nodes(n: usize, width: usize) -> usize {
    (n / width).saturating_sub(1) / 2
}

/// Takes the element `width` before it into element `i`. No thread of a level writes what another reads: the elements read at `i − width` lie between those written.
#[inline(always)]
fn combine_into<T: Element, O: Operator<T>>(y: GlobalMut<T>, i: usize, width: usize) {
    y.store(i, O::combine(y.load(i - width), y.load(i)));
}
