//! How a warpgroup writes its sums to *C*: by boxes of a tensor map, or through an epilogue, chunk by chunk.

use cuda_std::barrier::{fence_proxy_async_shared, sync_named};
use cuda_std::bulk::{self, TensorMapMut};
use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, THREADS};
use cuda_std::{Global, GlobalMut, Shared, Zeroable, thread};

use crate::matmul::{Epilogue, Output, Problem, Sum};

/// The number of columns that pass through an epilogue at once.
const CHUNK: usize = 32;
/// The number of sums from a row of a chunk to the next one.
const PITCH: usize = CHUNK + 4;
/// The number of bytes of a row of a box.
const BOX_BYTES: usize = 128;
/// The number of bytes of the shared memory that a warpgroup needs for its sums: two boxes.
pub const STAGING_BYTES: usize = 2 * ROWS * BOX_BYTES;

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
        let columns = BOX_BYTES / size_of::<C>();
        for panel in 0..N / columns {
            let place = staging.cast::<C>().part(panel % 2 * ROWS * columns, ROWS * columns);
            // The store before the last one has read the shared memory.
            if thread == 0 {
                bulk::wait_read::<1>();
            }
            sync_named(id, THREADS);
            store_panel(sums, first, place, panel, target, epilogue);
            fence_proxy_async_shared();
            sync_named(id, THREADS);
            if thread == 0 {
                let [row, column] = target.at;
                map.store(place, [(column + panel * columns) as i32, row as i32, target.batch as i32]);
                bulk::commit();
            }
        }
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

/// The number of sums of a thread that pass through an epilogue at once: two rows of two columns, four times.
const SUMS: usize = 16;

/// Stores the results of the columns number `panel` of `sums` to `place`, a tile with a swizzle of 128 bytes. `first`
/// is the place of the thread's first sum.
#[inline(always)]
#[track_caller]
fn store_panel<S: Sum + Sums<N>, C: Output<S>, E: Epilogue<S, C>, const N: usize>(
    sums: Accumulator<S, N>,
    first: [usize; 2],
    place: Shared<C>,
    panel: usize,
    target: Target<'_, C>,
    epilogue: E,
) {
    let pairs = place.cast::<[C; 2]>();
    let (per_row, per_chunk) = (BOX_BYTES / size_of::<[C; 2]>(), 16 / size_of::<[C; 2]>());
    let (swizzle, chunks) = (first[0] % 8, 2 * per_row / CHUNK);
    for chunk in 0..chunks {
        let mut values = [<S as Sum>::ZERO; SUMS];
        sums.for_each_pair(|row, column, [low, high]| {
            let distance = column - first[1];
            if distance / CHUNK == panel * chunks + chunk {
                let at = distance % CHUNK / 8 * 4 + (row - first[0]) / 8 * 2;
                (values[at], values[at + 1]) = (low, high);
            }
        });
        let results = finish_sums(values, first, (panel * chunks + chunk) * CHUNK, target, epilogue);
        for pair in 0..SUMS / 2 {
            let (row, of_row) = (first[0] + pair % 2 * 8, chunk * CHUNK / 2 + pair / 2 * 4 + first[1] / 2);
            let at = row * per_row + ((of_row / per_chunk) ^ swizzle) * per_chunk + of_row % per_chunk;
            // SAFETY: the row is below `ROWS`, and the pair is one of a row.
            unsafe { pairs.store_unchecked(at, [results[2 * pair], results[2 * pair + 1]]) };
        }
    }
}

/// Returns the results of a thread's sums in the columns from `column` of the tile on.
#[inline(always)]
#[track_caller]
fn finish_sums<S: Sum, C: Output<S>, E: Epilogue<S, C>>(
    sums: [S; SUMS],
    first: [usize; 2],
    column: usize,
    target: Target<'_, C>,
    epilogue: E,
) -> [C; SUMS] {
    if epilogue.is_conversion() {
        return sums.map(C::from_sum);
    }
    let Problem { m, n, c: strides, .. } = target.problem;
    let (row, column) = (target.at[0] + first[0], target.at[1] + column + first[1]);
    let at = |i: usize| [row + i % 4 / 2 * 8, column + i / 4 * 8 + i % 2];
    let zero = || <C as Zeroable>::zeroed();
    // The elements of the bias are loaded together, before the first one is needed.
    let mut bias = [zero(); SUMS / 2];
    if target.bias.len() != 0 {
        bias = core::array::from_fn(|i| {
            let [_, column] = at(i / 2 * 4 + i % 2);
            if column < n as usize { target.bias.load(column) } else { zero() }
        });
    }
    let previous = |i: usize| {
        let [row, column] = at(i);
        let is_inside = row < m as usize && column < n as usize;
        if is_inside { target.c.load(strides.index(target.batch, row, column)) } else { zero() }
    };
    epilogue.finish_all(sums, at, previous, |i| bias[i / 4 * 2 + i % 2])
}
