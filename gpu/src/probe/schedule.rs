//! The order in which blocks and warps run, and the multiprocessors on which they run.
//!
//! The hardware starts blocks approximately in the order of their numbers, and fills each multiprocessor with as many
//! as fit. When a block ends, the next block starts in its place. No program may rely on this order. Source:
//! hello-world_gpu of *Hands-On GPU Programming*, which prints the order. The host draws a picture from the recorded
//! times.

use cuda_std::{GlobalMut, kernel, machine, thread, warp};

/// The number of 64-bit words that [`schedule_record()`] writes per warp: the multiprocessor, the warp's slot on it,
/// and the start and end times in nanoseconds.
pub const RECORD: usize = 4;

/// Prints block, warp, thread and multiprocessor for some threads of each block: threads 0, `every`, 2·`every`, and so
/// on. Launch a one-dimensional grid.
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

/// Records each warp's multiprocessor, slot, start and end. Every warp is busy for `cycles` cycles. Launch a
/// one-dimensional grid. `records` has [`RECORD`] words per warp, starting with the warps of block 0.
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
