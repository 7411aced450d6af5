//! How a warpgroup writes its sums to *C*: by boxes of a tensor map, or through an epilogue, chunk by chunk.

use cuda_std::barrier::{fence_proxy_async_shared, sync_named};
use cuda_std::bulk::{self, TensorMapMut};
use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, THREADS};
use cuda_std::{Element, Global, GlobalMut, Shared, Zeroable, thread, unroll};

use crate::matmul::{Epilogue, Output, Problem, Sum, generate};

/// The number of columns of a chunk that passes through an epilogue.
const CHUNK: usize = 32;
/// The number of sums from a row of a chunk to the next one.
const PITCH: usize = CHUNK + 4;
/// The number of bytes of a row of a box.
const BOX_BYTES: usize = 128;
/// The number of bytes of two boxes of sums.
const BOXES_BYTES: usize = 2 * ROWS * BOX_BYTES;
/// The number of bytes of the shared memory that a warpgroup needs at the end of a tile: two boxes, and at most 256
/// elements of the bias.
pub const STAGING_BYTES: usize = BOXES_BYTES + 1024;

/// The place of a warpgroup's sums in the matrices.
#[derive(Clone, Copy)]
pub struct Target<'a, C> {
    /// The sizes and layouts.
    pub problem: Problem,
    /// The number of the product in the batch.
    pub batch: usize,
    /// The row and the column of the first sum.
    pub at: [usize; 2],
    /// The result.
    pub c: GlobalMut<'a, C>,
    /// One element per column.
    pub bias: Global<'a, C>,
}

/// Writes `sums` to `target`, by boxes of 64 rows and 128 bytes if there is a map for `stores`. The threads of the
/// warpgroup synchronise at the named barrier `id`. The stores proceed until a later call needs the shared memory.
#[inline(always)]
#[track_caller]
pub fn finish<S: Sum + Sums<N>, C: Output<S>, E: Epilogue<S, C>, const N: usize>(
    sums: Accumulator<S, N>,
    target: Target<'_, C>,
    epilogue: E,
    stores: Option<&TensorMapMut<'_, C, 3>>,
    staging: Shared<u32>,
    id: u32,
) {
    let thread = (thread::index_in_block() % THREADS) as usize;
    // The place of the thread's first sum. Those of the others are at constant distances from it.
    let first = [thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2];
    if let Some(map) = stores {
        let bias = staging.part(BOXES_BYTES / 4, (STAGING_BYTES - BOXES_BYTES) / 4).cast::<C>();
        if !target.bias.is_empty() {
            for i in (thread..N).step_by(THREADS as usize) {
                let column = target.at[1] + i;
                let is_inside = column < target.problem.n as usize;
                bias.store(i, if is_inside { target.bias.load(column) } else { <C as Zeroable>::zeroed() });
            }
        }
        let columns = BOX_BYTES / size_of::<C>();
        unroll!(PANEL in N / (BOX_BYTES / size_of::<C>()) => {
            let place = staging.cast::<C>().part(PANEL % 2 * ROWS * columns, ROWS * columns);
            // The store before the last one has read the shared memory.
            if thread == 0 {
                bulk::wait_read::<1>();
            }
            sync_named(id, THREADS);
            let chunks = columns / COLUMNS;
            if epilogue.is_conversion() {
                unroll!(PART in BOX_BYTES / size_of::<C>() / COLUMNS => {
                    let values = sums_of(sums, [PANEL * chunks + PART, 1], 0);
                    store_results(generate(|i| C::from_sum(values[i])), first, place, PART);
                });
            } else {
                for chunk in 0..chunks {
                    let values = sums_of(sums, [PANEL * chunks, chunks], chunk);
                    let column = PANEL * columns + chunk * COLUMNS;
                    store_results(finish_sums(values, first, column, target, epilogue, bias), first, place, chunk);
                }
            }
            fence_proxy_async_shared();
            sync_named(id, THREADS);
            if thread == 0 {
                let [row, column] = target.at;
                map.store(place, [(column + PANEL * columns) as i32, row as i32, target.batch as i32]);
                bulk::commit();
            }
        });
        return;
    }
    let values = staging.cast::<S>();
    let Problem { m, n, c: strides, .. } = target.problem;
    let own = values.part(first[0] * PITCH + first[1], 8 * PITCH + CHUNK - 6);
    for chunk in 0..N / CHUNK {
        sync_named(id, THREADS);
        sums.for_each_pair(|row, column, [low, high]| {
            let distance = column - first[1];
            if distance / CHUNK == chunk {
                let at = (row - first[0]) * PITCH + distance % CHUNK;
                // SAFETY: the last sum is 8 rows below and `CHUNK` - 7 columns beside the first one, and `part` has
                // checked these places.
                unsafe {
                    own.store_unchecked(at, low);
                    own.store_unchecked(at + 1, high);
                }
            }
        });
        sync_named(id, THREADS);
        for i in (thread..ROWS * CHUNK).step_by(THREADS as usize) {
            let (row, column) = (i / CHUNK, i % CHUNK);
            let at = [target.at[0] + row, target.at[1] + chunk * CHUNK + column];
            if at[0] < m as usize && at[1] < n as usize {
                let index = strides.index(target.batch, at[0], at[1]);
                let (previous, bias) = (|| target.c.load(index), || target.bias.load(at[1]));
                target.c.store(index, epilogue.finish(values.load(row * PITCH + column), at, previous, bias));
            }
        }
    }
}

/// The number of columns of the sums that pass through an epilogue in registers at once, and the number of these sums
/// of a thread: two rows of two columns, twice.
const COLUMNS: usize = 16;
const SUMS: usize = 8;
/// The maximum number of such columns of a box.
const MAX_CHUNKS: usize = BOX_BYTES / 2 / COLUMNS;

/// Returns the thread's sums in the columns number `chunk` of the `count` ones from number `start` on. Only `chunk`
/// need not be a constant.
#[inline(always)]
fn sums_of<S: Sum + Sums<N>, const N: usize>(
    sums: Accumulator<S, N>,
    [start, count]: [usize; 2],
    chunk: usize,
) -> [S; SUMS] {
    let mut groups = [[<S as Sum>::ZERO; 4]; SUMS / 4];
    unroll!(I in MAX_CHUNKS => {
        if I < count && (chunk == I || count == 1) {
            groups = [sums.group(2 * (start + I)), sums.group(2 * (start + I) + 1)];
        }
    });
    generate(|i| groups[i / 4][i % 4])
}

/// Stores the results of a thread's sums in the columns number `chunk` to `place`, a tile with a swizzle of 128 bytes.
#[inline(always)]
#[track_caller]
fn store_results<C: Element>(results: [C; SUMS], first: [usize; 2], place: Shared<C>, chunk: usize) {
    let pairs = place.cast::<[C; 2]>();
    let (per_row, per_unit) = (BOX_BYTES / size_of::<[C; 2]>(), 16 / size_of::<[C; 2]>());
    unroll!(PAIR in SUMS / 2 => {
        let (row, pair) = (first[0] + PAIR % 2 * 8, (chunk * COLUMNS + PAIR / 2 * 8 + first[1]) / 2);
        let at = row * per_row + ((pair / per_unit) ^ (first[0] % 8)) * per_unit + pair % per_unit;
        // SAFETY: the row is below `ROWS`, and the pair is one of a row.
        unsafe { pairs.store_unchecked(at, [results[2 * PAIR], results[2 * PAIR + 1]]) };
    });
}

/// Returns the results of a thread's sums in the columns from `column` of the tile on. `bias` has the elements of the
/// bias for the tile.
#[inline(always)]
#[track_caller]
fn finish_sums<S: Sum, C: Output<S>, E: Epilogue<S, C>>(
    sums: [S; SUMS],
    first: [usize; 2],
    column: usize,
    target: Target<'_, C>,
    epilogue: E,
    bias: Shared<C>,
) -> [C; SUMS] {
    let Problem { m, n, c: strides, .. } = target.problem;
    let (row, of_tile) = (target.at[0] + first[0], column + first[1]);
    let at = |i: usize| [row + i % 4 / 2 * 8, target.at[1] + of_tile + i / 4 * 8 + i % 2];
    let zero = || <C as Zeroable>::zeroed();
    let previous = |i: usize| {
        let [row, column] = at(i);
        let is_inside = row < m as usize && column < n as usize;
        if is_inside { target.c.load(strides.index(target.batch, row, column)) } else { zero() }
    };
    let pairs = bias.cast::<[C; 2]>();
    // SAFETY: the columns are two of the tile, which has at most 256.
    let bias = |i: usize| unsafe { pairs.load_unchecked(of_tile / 2 + i / 4 * 4) }[i % 2];
    epilogue.finish_all(sums, at, previous, bias)
}
