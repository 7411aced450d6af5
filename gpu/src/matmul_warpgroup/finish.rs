//! How a warpgroup writes its sums to *C*: by bulk stores of whole rows, or through an epilogue, chunk by chunk.

use cuda_std::barrier::{fence_proxy_async_shared, sync_named};
use cuda_std::tensor::wgmma::{Accumulator, ROWS, Sums, THREADS};
use cuda_std::{Global, GlobalMut, Shared, bulk, thread, warp};

use crate::matmul::{Epilogue, Output, Problem, Sum};

/// The number of columns of a chunk.
const CHUNK: usize = 64;
/// The number of elements between the ends of a row of a chunk and the start of the next one.
const GAP: usize = 4;
/// The same for the rows of elements of *C*: 16 bytes or more, so that stores have no bank conflicts.
const ROW_GAP: usize = 8;

/// The place of a warpgroup's sums in the matrices.
#[derive(Clone, Copy)]
pub struct Target<'a, C> {
    /// The sizes and layouts.
    pub problem: Problem,
    /// The number of the product in the batch.
    pub batch: usize,
    /// The row of the first sum.
    pub row: usize,
    /// The column of the first sum.
    pub column: usize,
    /// The result.
    pub c: GlobalMut<'a, C>,
    /// One element per column.
    pub bias: Global<'a, C>,
}

/// Tells if whole rows of a tile wait in shared memory to be stored: only those of 16-bit elements fit.
const fn has_rows<C>() -> bool {
    size_of::<C>() == 2
}

/// Returns the size in bytes of the shared memory that a warpgroup needs for its sums of `n` columns.
pub const fn staging_bytes<C>(n: usize) -> usize {
    let chunk = ROWS * (CHUNK + GAP) * 4;
    let rows = ROWS * (n + ROW_GAP) * size_of::<C>();
    if has_rows::<C>() && rows > chunk { rows } else { chunk }
}

/// Writes `sums` to `target`. The threads of the warpgroup synchronise at the named barrier `id`. The stores may proceed
/// until the thread waits for its bulk copies; the next call does.
#[inline(always)]
#[track_caller]
pub fn finish<S: Sum + Sums<N>, C: Output<S>, E: Epilogue<S, C>, const N: usize>(
    sums: Accumulator<S, N>,
    target: Target<'_, C>,
    epilogue: E,
    staging: Shared<[u32; 4]>,
    id: u32,
) {
    let Problem { m, n, c: strides, .. } = target.problem;
    let columns = (n as usize - target.column).min(N);
    let thread = (thread::index_in_block() % THREADS) as usize;
    // The place of the thread's first sum. Those of the others are at constant distances from it.
    let (first_row, first_column) = (thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2);
    // The previous stores of this warpgroup have read the shared memory.
    bulk::wait_read::<0>();
    sync_named(id, THREADS);
    let row_bytes = strides.row as usize * size_of::<C>();
    let is_whole = strides.column == 1 && (columns * size_of::<C>()) % 16 == 0 && row_bytes % 16 == 0
        && (target.c.as_ptr() as usize + strides.batch as usize * target.batch * size_of::<C>()) % 16 == 0;
    if has_rows::<C>() && is_whole && epilogue.is_conversion() {
        let pitch = N + ROW_GAP;
        let pairs = staging.cast::<[C; 2]>();
        let pairs = pairs.part((first_row * pitch + first_column) / 2, (8 * pitch + N - 6) / 2);
        sums.for_each_pair(|row, column, [low, high]| {
            let pair = [C::from_sum(low), C::from_sum(high)];
            let at = ((row - first_row) * pitch + (column - first_column)) / 2;
            // SAFETY: the last pair is 8 rows below and `N` - 8 columns beside the first one, which `part` has checked.
            unsafe { pairs.store_unchecked(at, pair) };
        });
        fence_proxy_async_shared();
        sync_named(id, THREADS);
        // Each warp stores 16 rows.
        let lane = warp::lane_id() as usize;
        let row = thread / 32 * 16 + lane;
        if lane < 16 && target.row + row < m as usize {
            let at = strides.index(target.batch, target.row + row, target.column);
            bulk::store(staging.cast::<C>().part(row * pitch, columns), target.c.part(at, columns));
        }
        bulk::commit();
        return;
    }
    let values = staging.cast::<S>();
    let pitch = CHUNK + GAP;
    let own = values.part(first_row * pitch + first_column, 8 * pitch + CHUNK - 6);
    for chunk in 0..N / CHUNK {
        if chunk > 0 {
            sync_named(id, THREADS);
        }
        sums.for_each_pair(|row, column, [low, high]| {
            let distance = column - first_column;
            if distance / CHUNK == chunk {
                let at = (row - first_row) * pitch + distance % CHUNK;
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
            let (at_row, at_column) = (target.row + row, target.column + chunk * CHUNK + column);
            if at_row < m as usize && at_column < n as usize {
                let at = strides.index(target.batch, at_row, at_column);
                let value = epilogue.finish(
                    values.load(row * pitch + column),
                    [at_row, at_column],
                    || target.c.load(at),
                    || target.bias.load(at_column),
                );
                target.c.store(at, value);
            }
        }
    }
}
