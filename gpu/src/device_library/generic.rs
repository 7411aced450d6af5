//! A kernel that is generic over a type, an operator and a number, and a kernel that reads the timers.

use cuda_std::{Global, GlobalMut, kernel, machine, shared_array, thread};

use crate::operator::{Affine, Compose, Max, Operator, Sum};

/// Combines the elements of block *b* from left to right and writes the result to `y[b]`. Each thread has `N` elements.
/// Launch blocks of 64 threads.
#[kernel(
    max_threads = 64,
    instances(T = [f32, i64], O = [Sum, Max], N = [1, 3]),
    instances(T = [Affine], O = [Compose], N = [2])
)]
pub fn combine_block<T: cuda_std::Element, O: Operator<T>, const N: usize>(x: Global<T>, y: GlobalMut<T>) {
    let tile = shared_array![T; 64 * N];
    let block = thread::block_idx_x() as usize;
    for i in thread::block_stride(64 * N) {
        tile.store(i, x.load(block * 64 * N + i));
    }
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        let mut all = O::IDENTITY;
        for i in 0..64 * N {
            all = O::combine(all, tile.load(i));
        }
        y.store(block, all);
    }
}

/// For each thread, writes to `out` the elapsed nanoseconds, the elapsed cycles, and the multiprocessor and slot of the
/// thread's warp. The elapsed values are never negative.
#[kernel(max_threads = 1024)]
pub fn timers(out: GlobalMut<u64>) {
    let (timer, clock) = (machine::global_timer(), machine::clock());
    let i = thread::index_1d();
    out.store(3 * i, machine::global_timer() - timer);
    out.store(3 * i + 1, machine::clock() - clock);
    out.store(3 * i + 2, u64::from(machine::multiprocessor_id()) << 32 | u64::from(machine::warp_slot()));
}
