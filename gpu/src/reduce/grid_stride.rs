//! Grid-stride: a grid that fills the device once reduces the whole input in one launch. Its last block combines the
//! partial results of all blocks.
//!
//! A thread has [`LOADS`] 16-byte loads in flight, and combines all its elements in registers before the threads of the
//! block combine their values. Each block publishes its partial result ([`flagged_words`]). The grid's last block waits
//! for these results and combines them. It combines them in block order, not in the order in which the blocks finish,
//! so every run has the same result. In the CUDA sample, each block instead executes a fence and increments an atomic
//! counter, which takes longer than these flags. The operator must be commutative.
//!
//! The kernel is limited by memory. With a small input, it is limited by the launch and by the latency of memory, which
//! it waits for twice: for the input, and for the partial results in the last block. For small inputs the host launches
//! [`reduce_one_tile()`](super::reduce_one_tile()).
//!
//! Forward progress: only the last block waits for other blocks, and those blocks do not wait for any block.
//!
//! Source: the CUDA sample `threadFenceReduction`; for the loads, CUB's `DeviceReduce`.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::{LOADS, assert_block, combine_blocks};
use crate::collective::LANES;
use crate::collective::block::{MAX_WARPS, block_reduce};
use crate::collective::flagged_words::{self, words};
use crate::collective::vectors::{is_aligned, vector_len};
use crate::operator::{Max, Min, Operator, Product, Sum};

/// The flag of a published partial result.
pub const COMBINED: u32 = 1;

/// Combines all elements of `x` into `y[0]` in one launch, in 16-byte loads; commutative operators only.
///
/// `V` must be the number of elements in a vector ([`vector_len`]). Launch a one-dimensional grid of any size. The
/// number of threads per block must be a power of two. `partials` must have [`words`] elements per block except the
/// last. They must be 0 before the launch, and they are 0 again after it.
#[kernel(
    max_threads = 1024,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    wide(loads),
    exported = "reduce"
)]
pub fn reduce_grid_stride<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<T>,
) {
    assert_block();
    let slots = shared_array![T; MAX_WARPS];
    let slots_of_blocks = shared_array![T; MAX_WARPS];
    let value = block_reduce::<T, O>(slots, combine_strided::<T, O, V>(x));
    combine_blocks!(value, slots_of_blocks, partials, y);
}

/// Returns the combination of the calling thread's elements of `x`. A warp processes chunks of `LOADS` rows. In a row,
/// each lane has one vector of `V` elements, so the addresses of a thread's loads in a chunk differ by constants. After
/// a chunk, the warp advances by as many chunks as the grid has warps. The threads process the elements outside whole
/// chunks one by one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn combine_strided<T: Element, O: Operator<T>, const V: usize>(x: Global<T>) -> T {
    const { assert!(O::COMMUTATIVE, "this rung needs a commutative operator: use `neighboured` or `shuffle`") };
    const { assert!(V == vector_len(size_of::<T>()), "`V` must be the number of elements in a vector") };
    let (thread, block) = (thread::index_1d(), thread::block_dim_x() as usize);
    let threads = thread::grid_dim_x() as usize * block;
    // Buffers start at a multiple of 16 bytes. Unaligned views and partial warps are processed element by element.
    let by_vectors = is_aligned::<T, V>(x.as_ptr() as usize) && block >= LANES;
    let chunks = if by_vectors { x.len() / (V * LOADS * LANES) } else { 0 };

    let mut all = [O::IDENTITY; V];
    let mut chunk = thread / LANES;
    while chunk < chunks {
        let first = chunk * (LOADS * LANES) + thread % LANES;
        let mut rows = [[O::IDENTITY; V]; LOADS];
        for row in 0..LOADS {
            // SAFETY: the vector belongs to a chunk below `chunks`, each of which has LOADS · LANES vectors, and the
            // view is aligned for vectors.
            rows[row] = unsafe { x.load_vec_unchecked(first + row * LANES) };
        }
        for row in 0..LOADS {
            all = combine_vectors::<T, O, V>(all, rows[row]);
        }
        chunk += threads / LANES;
    }
    let mut rest = O::IDENTITY;
    let mut i = chunks * (V * LOADS * LANES) + thread;
    while i < x.len() {
        // SAFETY: the loop condition has checked that `i` is below the length.
        rest = O::combine(rest, unsafe { x.load_unchecked(i) });
        i += threads;
    }
    for v in 0..V {
        rest = O::combine(rest, all[v]);
    }
    rest
}

#[inline(always)]
pub fn combine_vectors<T: Element, O: Operator<T>, const V: usize>(mut a: [T; V], b: [T; V]) -> [T; V] {
    for v in 0..V {
        a[v] = O::combine(a[v], b[v]);
    }
    a
}
