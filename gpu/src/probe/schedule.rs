//! In which order blocks and warps run, and where.
//!
//! The hardware hands out blocks in about the order of their numbers, as many to each multiprocessor as fit; a block that
//! ends makes room for the next. Nothing may rely on the order. Source: hello-world_gpu of *Hands-On GPU Programming*,
//! which prints; the recorded times are for drawing a picture.

use cuda_std::{GlobalMut, kernel, machine, thread, warp};

/// 64-bit words that [`schedule_record()`] writes per warp: its multiprocessor, its place there, begin and end in
/// nanoseconds.
pub const RECORD: usize = 4;

/// Every `every`-th thread of a block prints who it is and where it runs. A one-dimensional grid.
#[kernel(
    max_threads = 1024,
    allow(
        local_in_ptx = "`vprintf` reads what it prints from local memory",
        local = "`vprintf` reads what it prints from local memory"
    )
)]
pub fn schedule_print(every: u32) {
    let thread = thread::thread_idx_x();
    if thread.is_multiple_of(every) {
        println!(
            "block {} of {}, warp {}, thread {}: multiprocessor {}",
            thread::block_idx_x(),
            thread::grid_dim_x(),
            warp::warp_id(),
            thread,
            machine::multiprocessor_id()
        );
    }
}

/// Every warp is busy for `cycles` cycles and records where and when. A one-dimensional grid; [`RECORD`] words of
/// `records` per warp, those of block 0 first.
#[kernel(max_threads = 1024)]
pub fn schedule_record(cycles: u64, records: GlobalMut<u64>) {
    let begin = machine::global_timer();
    let start = machine::clock();
    while machine::clock().wrapping_sub(start) < cycles {}
    let end = machine::global_timer();
    if warp::lane_id() == 0 {
        let warps = thread::block_dim_x().div_ceil(warp::SIZE) as usize;
        let first = (thread::block_idx_x() as usize * warps + warp::warp_id() as usize) * RECORD;
        records.store(first, u64::from(machine::multiprocessor_id()));
        records.store(first + 1, u64::from(machine::warp_slot()));
        records.store(first + 2, begin);
        records.store(first + 3, end);
    }
}
