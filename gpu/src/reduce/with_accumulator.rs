//! With accumulator: a variant of the grid-stride kernel whose intermediate values have another type than the elements.
//!
//! The kernel reduces 16-bit floats in `f32` and rounds the result once. It sums small integers in large ones, and
//! finds the first position of the least or greatest element. [`Accumulate`] has the types and functions of each
//! reduction.
//!
//! As in [`reduce_grid_stride()`](super::reduce_grid_stride()), a thread has [`LOADS`] 16-byte loads in flight, and the
//! grid's last block combines the partial results. As in [`reduce_unaligned()`](super::reduce_unaligned()), the vectors
//! begin at the first 16-byte boundary of the view. As in [`reduce_one_tile()`](super::reduce_one_tile()), the threads
//! of the last block combine the results of the other blocks with their own, so the code has only one tree. The partial
//! results are intermediate values: only the last block converts, and nothing is rounded before.
//!
//! The kernel is limited by memory. With elements of one byte, it is also limited by the instructions per element.
//!
//! Forward progress: only the last block waits for other blocks, and those blocks do not wait for any block.

use cuda_std::{Element, Global, GlobalMut, bf16, f16, kernel, shared_array, thread};

use super::grid_stride::COMBINED;
use super::{LOADS, assert_block};
use crate::accumulate::{Accumulate, ArgMax, ArgMin, Widened};
use crate::collective::LANES;
use crate::collective::block::{MAX_WARPS, block_reduce};
use crate::collective::flagged_words::{self, words};
use crate::collective::vectors::before_first_vector;
use crate::operator::{Max, Min, Operator, Product, Sum};

// The names of the entries contain these names.
type SumF32 = Widened<Sum, f32>;
type SumF64 = Widened<Sum, f64>;
type SumI32 = Widened<Sum, i32>;
type SumU32 = Widened<Sum, u32>;
type SumI64 = Widened<Sum, i64>;
type SumU64 = Widened<Sum, u64>;

/// Returns the number of elements of `bytes` bytes in a 16-byte vector.
pub const fn accumulated_vector_len(bytes: usize) -> usize {
    16 / bytes
}

/// Reduces all elements of `x` to `y[0]` in one launch, by values of another type ([`Accumulate`]).
///
/// `V` must be the number of elements in 16 bytes. Launch a one-dimensional grid of any size. The number of threads per
/// block must be a power of two. The view may begin at any address. `partials` must have [`words`] elements for an
/// intermediate value per block except the last. They must be 0 before the launch, and they are 0 again after it.
#[kernel(
    max_threads = 1024,
    instances(T = [f16, bf16], O = [Sum, Product, Min, Max, SumF32, ArgMin, ArgMax], V = [8]),
    instances(T = [i8], O = [Sum, Product, Min, Max, SumI32, SumI64, ArgMin, ArgMax], V = [16]),
    instances(T = [u8], O = [Sum, Product, Min, Max, SumU32, SumU64, ArgMin, ArgMax], V = [16]),
    instances(T = [f32], O = [SumF64, ArgMin, ArgMax], V = [4]),
    instances(T = [i32], O = [SumI64, ArgMin, ArgMax], V = [4]),
    instances(T = [u32], O = [SumU64, ArgMin, ArgMax], V = [4]),
    instances(T = [f64, i64, u64], O = [ArgMin, ArgMax], V = [2]),
    wide(loads)
)]
pub fn reduce_with_accumulator<T: Element, O: Accumulate<T>, const V: usize>(
    x: Global<T>,
    partials: GlobalMut<u64>,
    y: GlobalMut<O::Output>,
) {
    assert_block();
    let slots = shared_array![O::Value; MAX_WARPS];
    let (thread, block, last) = (thread::thread_idx_x(), thread::block_idx_x(), thread::grid_dim_x() - 1);
    let mut value = accumulate_strided::<T, O, V>(x);
    if block == last {
        let mut other = thread;
        while other < last {
            let first = other as usize * words::<O::Value>();
            let (_, partial) = flagged_words::wait_for(partials, first);
            value = O::Combine::combine(value, partial);
            flagged_words::clear::<O::Value>(partials, first);
            other += thread::block_dim_x();
        }
    }
    let value = block_reduce::<O::Value, O::Combine>(slots, value);
    if thread == 0 {
        if block < last {
            flagged_words::publish(partials, block as usize * words::<O::Value>(), COMBINED, value);
        } else {
            y.store(0, O::lower(value, x.len() as u64));
        }
    }
}

/// Returns the combination of the calling thread's elements of `x`. The threads process the vectors as in
/// [`combine_strided`](super::grid_stride::combine_strided), and the elements before and after whole chunks one by one.
#[inline(always)]
fn accumulate_strided<T: Element, O: Accumulate<T>, const V: usize>(x: Global<T>) -> O::Value {
    const { assert!(<O::Combine as Operator<O::Value>>::COMMUTATIVE, "this rung needs a commutative operator") };
    const { assert!(V == accumulated_vector_len(size_of::<T>()), "`V` must be the number of elements in a vector") };
    let (thread, block) = (thread::index_1d(), thread::block_dim_x() as usize);
    let threads = thread::grid_dim_x() as usize * block;
    let lead = before_first_vector::<T, V>(x.as_ptr() as usize).min(x.len());
    let vectors = x.part(lead, x.len() - lead);
    let chunk_len = V * LOADS * LANES;
    let chunks = if block >= LANES { vectors.len() / chunk_len } else { 0 };

    // One value per load of a chunk, so that the combinations of these loads are independent. The elements of each
    // value have ascending indices.
    let mut all = [O::Combine::IDENTITY; LOADS];
    let mut chunk = thread / LANES;
    while chunk < chunks {
        let first = chunk * (LOADS * LANES) + thread % LANES;
        let mut rows = [[T::zeroed(); V]; LOADS];
        for row in 0..LOADS {
            // SAFETY: the vector belongs to a chunk below `chunks`, each of which has LOADS · LANES vectors, and
            // `vectors` begins at a 16-byte boundary.
            rows[row] = unsafe { vectors.load_vec_unchecked(first + row * LANES) };
        }
        all = append_rows::<T, O, V>(all, rows, (lead + first * V) as u64);
        chunk += threads / LANES;
    }

    let in_chunks = chunks * chunk_len;
    let outside = x.len() - in_chunks;
    let mut rest = O::Combine::IDENTITY;
    let mut i = thread;
    while i < outside {
        let index = if i < lead { i } else { i + in_chunks };
        // SAFETY: the index is below `lead`, or below `outside` and the number of elements in chunks together, which is
        // the length.
        rest = O::append(rest, [unsafe { x.load_unchecked(index) }], index as u64);
        i += threads;
    }
    for row in 0..LOADS {
        rest = O::Combine::combine(rest, all[row]);
    }
    rest
}

/// Returns `all` combined with the rows of a chunk, each of its values with one row. `index` is the index of the first
/// row's first element. The rows are written out: the compiler does not unroll a loop with so many instructions, and
/// would put the rows into local memory.
#[inline(always)]
fn append_rows<T: Element, O: Accumulate<T>, const V: usize>(
    all: [O::Value; LOADS],
    rows: [[T; V]; LOADS],
    index: u64,
) -> [O::Value; LOADS] {
    let ([a, b, c, d], [first, second, third, fourth]) = (all, rows);
    let step = (LANES * V) as u64;
    [
        O::append(a, first, index),
        O::append(b, second, index + step),
        O::append(c, third, index + 2 * step),
        O::append(d, fourth, index + 3 * step),
    ]
}
