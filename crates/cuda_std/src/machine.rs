//! The place and time at which a thread runs, for probes of the hardware. A kernel's results should not depend on them.

use crate::backend;

/// Returns the number of the block's multiprocessor (`%smid`), or 0 in the simulator.
#[inline(always)]
pub fn multiprocessor_id() -> u32 {
    backend::multiprocessor_id()
}

/// Returns the slot of the thread's warp on its multiprocessor (`%warpid`), or the warp's index in its block in the
/// simulator.
#[inline(always)]
pub fn warp_slot() -> u32 {
    backend::warp_slot()
}

/// Returns the nanoseconds of a clock shared by all multiprocessors (`%globaltimer`). Its resolution may be a
/// microsecond.
#[inline(always)]
pub fn global_timer() -> u64 {
    backend::global_timer()
}

/// Returns the cycles of the multiprocessor's clock (`%clock64`), or nanoseconds in the simulator.
#[inline(always)]
pub fn clock() -> u64 {
    backend::clock()
}
