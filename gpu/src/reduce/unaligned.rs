//! Unaligned: the last rung for large views that begin anywhere, by the whole vectors of memory that are in them.
//!
//! What it changes: what [`reduce_grid_stride()`](super::reduce_grid_stride()) does of a view that begins where a vector does, it
//! does from the view's first whole vector on; single threads take the few elements before. A kernel of its own, which the host
//! chooses by the view's address: aligned views pay nothing for it. Which elements a thread combines depends on the address, but
//! not on the run. Needs a commutative operator.
//!
//! Limited by memory.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::assert_block;
use super::grid_stride::{COMBINED, combine_blocks, combine_strided};
use crate::collective::block::{MOST_WARPS, block_reduce};
use crate::collective::flagged_words::{self, words};
use crate::collective::vectors::before_first_vector;
use crate::operator::{Max, Min, Operator, Product, Sum};

/// `y[0]` = all elements of `x` combined, wherever it begins, read `V` (16 bytes) at a time, in one launch; commutative operators.
///
/// As for [`reduce_grid_stride()`](super::reduce_grid_stride()): any one-dimensional grid, of blocks of a power of two of
/// threads. `partials` has [`words`] for each block but the last; they are 0 before the
/// launch, and are 0 again after it.
#[kernel(
    max_threads = 1024,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    wide(loads)
)]
pub fn reduce_unaligned<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<T>,
) {
    assert_block();
    let slots = shared_array![T; MOST_WARPS];
    let slots_of_blocks = shared_array![T; MOST_WARPS];
    let lead = before_first_vector::<T, V>(x.as_ptr() as usize).min(x.len());
    let mut value = combine_strided::<T, O, V>(x.part(lead, x.len() - lead));
    let mut i = thread::index_1d();
    while i < lead {
        // SAFETY: `lead` is at most the length.
        value = O::combine(value, unsafe { x.load_unchecked(i) });
        i += thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    }
    let value = block_reduce::<T, O>(slots, value);
    combine_blocks!(value, slots_of_blocks, partials, y);
}
