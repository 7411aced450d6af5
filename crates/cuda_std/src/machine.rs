//! Where and when a thread runs: for probes of the machine. No result should depend on it.

use crate::backend;

/// The number of the multiprocessor that the block is on (`%smid`). In the simulator 0.
#[inline(always)]
pub fn multiprocessor_id() -> u32 {
    backend::multiprocessor_id()
}

/// The place on its multiprocessor that the thread's warp has (`%warpid`). In the simulator the warp's number in its
/// block.
#[inline(always)]
pub fn warp_slot() -> u32 {
    backend::warp_slot()
}

/// Nanoseconds on a clock that all multiprocessors share (`%globaltimer`), whose resolution may be a microsecond.
#[inline(always)]
pub fn global_timer() -> u64 {
    backend::global_timer()
}

/// Cycles on the multiprocessor's own clock (`%clock64`). In the simulator nanoseconds.
#[inline(always)]
pub fn clock() -> u64 {
    backend::clock()
}
