//! Test kernels for groups of products that are in flight together, several warpgroups, and their registers.

use cuda_std::tensor::wgmma::{self, Accumulator, ROWS};
use cuda_std::tensor::{Factor, SharedTile, Swizzle128};
use cuda_std::{Global, GlobalMut, barrier, bf16, dynamic_shared, kernel, thread};

use super::products::{fill, write};

/// The number of columns of a step.
const STEP: usize = 64;

/// Copies step `step` of the matrix `from`, which has rows of `k` elements, to `to` by the 128 threads of the block.
/// All threads make equally many turns, because products are in flight.
#[inline(always)]
fn load<const R: usize>(to: SharedTile<bf16, R, STEP, Swizzle128>, from: Global<bf16>, k: usize, step: usize) {
    for turn in 0..R * STEP / wgmma::THREADS as usize {
        let i = turn * wgmma::THREADS as usize + thread::index_in_block() as usize;
        to.store(i / STEP, i % STEP, from.load(i / STEP * k + step * STEP + i % STEP));
    }
}

/// Writes `a`·`b`ᵀ to `d`, with 64 × `k` elements of `a` and 128 × `k` of `b`, both with contiguous rows. `k` is a
/// multiple of 64. The first product replaces the sums, and two groups of products are in flight. Launch one block of
/// 128 threads, with dynamic shared memory for three stages of 192 × 64 elements.
#[kernel(max_threads = 128)]
pub fn multiply_groups(k: usize, a: Global<bf16>, b: Global<bf16>, d: GlobalMut<[f32; 2]>) {
    const STAGES: usize = 3;
    let left = SharedTile::<bf16, ROWS, STEP, Swizzle128>::array_at::<STAGES>(dynamic_shared(), 0);
    let right = SharedTile::<bf16, 128, STEP, Swizzle128>::array_at::<STAGES>(dynamic_shared(), STAGES * ROWS * STEP);
    let mut sums = Accumulator::<f32, 128>::zeroed().begin();
    for step in 0..k / STEP {
        let stage = step % STAGES;
        load(left.get(stage), a, k, step);
        load(right.get(stage), b, k, step);
        barrier::fence_proxy_async();
        // All threads have waited for the product before the last one, whose stage comes next.
        thread::sync_threads();
        let (left, right) = (left.get(stage).rows::<ROWS>(0), right.get(stage).rows::<128>(0));
        sums = sums.multiply_add_or_replace(step > 0, left, right).wait::<1>();
    }
    write(sums.finish(), d, 0);
}

/// Writes `a`·`b`ᵀ to `d` like [`multiply_groups()`] for `k` = 64, in two halves of the columns. The first half is read
/// while the second one is in flight.
#[kernel(max_threads = 128)]
pub fn multiply_double(a: Global<bf16>, b: Global<bf16>, d: GlobalMut<[f32; 2]>) {
    let left = SharedTile::<bf16, ROWS, STEP, Swizzle128>::at(dynamic_shared(), 0);
    let right = SharedTile::<bf16, 128, STEP, Swizzle128>::at(dynamic_shared(), ROWS * STEP);
    fill(left, a);
    fill(right, b);
    barrier::fence_proxy_async();
    thread::sync_threads();
    let (left, halves) = (left.rows::<ROWS>(0), [right.rows::<64>(0), right.rows::<64>(64)]);
    let [mut first, mut second] = [Accumulator::<f32, 64>::zeroed().begin(), Accumulator::<f32, 64>::zeroed().begin()];
    // SAFETY: both groups begin with a fence and are committed. The wait for all but one group precedes the read of the
    // first sums, and no thread of the warpgroup takes another branch.
    let first = unsafe {
        first.fence();
        second.fence();
        for k in (0..STEP).step_by(16) {
            first = first.issue::<bf16, bf16, false, false>(true, left.descriptor(k), halves[0].descriptor(k));
        }
        first.commit();
        for k in (0..STEP).step_by(16) {
            second = second.issue::<bf16, bf16, false, false>(true, left.descriptor(k), halves[1].descriptor(k));
        }
        second.commit();
        first.wait::<1>().assume_finished()
    };
    first.for_each_pair(|row, column, pair| d.store((128 * row + column) / 2, pair));
    second.finish().for_each_pair(|row, column, pair| d.store((128 * row + 64 + column) / 2, pair));
}

/// Writes `a`·`b`ᵀ to `d`, with 128 × 64 elements of `a` and 128 × 64 of `b`, both with contiguous rows. Each of two
/// warpgroups multiplies half of the rows. Launch one block of 256 threads, with dynamic shared memory for `a` and `b`.
#[kernel(max_threads = 256)]
pub fn multiply_warpgroups(a: Global<bf16>, b: Global<bf16>, d: GlobalMut<[f32; 2]>) {
    let left = SharedTile::<bf16, 128, STEP, Swizzle128>::at(dynamic_shared(), 0);
    let right = SharedTile::<bf16, 128, STEP, Swizzle128>::at(dynamic_shared(), 128 * STEP);
    fill(left, a);
    fill(right, b);
    barrier::fence_proxy_async();
    thread::sync_threads();
    let row = (thread::index_in_block() / wgmma::THREADS) as usize * ROWS;
    let sums = Accumulator::<f32, 128>::zeroed().begin();
    write(sums.multiply_add(left.rows::<ROWS>(row), right.rows::<128>(0)).finish(), d, row);
}

/// Doubles the elements of `x`. The first of two warpgroups releases registers, and the second one takes them. Launch
/// one block of 256 threads.
// With two blocks on a multiprocessor each thread begins with 128 registers.
#[kernel(max_threads = 256, min_blocks = 2)]
pub fn move_registers(x: Global<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < wgmma::THREADS {
        wgmma::release_registers::<24>();
    } else {
        wgmma::take_registers::<232>();
    }
    y.store(thread as usize, 2 * x.load(thread as usize));
}
