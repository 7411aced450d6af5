//! Unaligned: a variant of the grid-stride kernel for large views that begin at any address. It loads the aligned
//! 16-byte vectors of the view.
//!
//! From the view's first aligned vector on, the kernel does the same as
//! [`reduce_grid_stride()`](super::reduce_grid_stride()). It processes the elements before this vector one by one. The
//! host selects this kernel by the view's address, so aligned views do not become slower. The address determines which
//! elements a thread combines, so every run at the same address has the same result. The operator must be commutative.
//!
//! The kernel is limited by memory.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::grid_stride::{COMBINED, combine_strided};
use super::{assert_block, combine_blocks};
use crate::collective::block::{MAX_WARPS, block_reduce};
use crate::collective::flagged_words::{self, words};
use crate::collective::vectors::before_first_vector;
use crate::operator::{Max, Maximum, Min, Minimum, Operator, Product, Sum};

/// Combines all elements of `x` into `y[0]` in one launch, for a view that begins at any address. The operator must be
/// commutative.
///
/// `V` must be the number of elements in a vector ([`vector_len`](crate::collective::vectors::vector_len)). Launch a
/// one-dimensional grid of any size. The number of threads per block must be a power of two. `partials` must have
/// [`words`] elements per block except the last. They must be 0 before the launch, and they are 0 again after it.
#[kernel(
    max_threads = 1024,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [f32], O = [Minimum, Maximum], V = [4]),
    instances(T = [f64], O = [Minimum, Maximum], V = [2]),
    wide(loads),
    exported = "reduce"
)]
pub fn reduce_unaligned<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<T>,
) {
    assert_block();
    let slots = shared_array![T; MAX_WARPS];
    let slots_of_blocks = shared_array![T; MAX_WARPS];
    let lead = before_first_vector::<T, V>(x.as_ptr() as usize).min(x.len());
    let mut value = combine_strided::<T, O, V>(x.part(lead, x.len() - lead));
    let mut i = thread::index_1d();
    while i < lead {
        // SAFETY: `i` is below `lead`, which is at most the length.
        value = O::combine(value, unsafe { x.load_unchecked(i) });
        i += thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    }
    let value = block_reduce::<T, O>(slots, value);
    combine_blocks!(value, slots_of_blocks, partials, y);
}
