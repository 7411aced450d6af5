//! Barriers in shared memory and the barrier of the grid.

use core::arch::asm;

use super::{atomic_load, atomic_update, fence, sync_threads, trap};
use crate::atomic::{Place, Scope, Update};
use crate::thread;

/// A wait for a barrier in shared memory, which the simulator notes.
pub struct BarrierWait;

#[inline(always)]
pub const fn begin_barrier_wait() -> BarrierWait {
    BarrierWait
}

/// Waits for all blocks of a cooperative launch. The blocks count their arrivals in a word provided by the driver. The
/// word's highest bit flips when the last block arrives.
///
/// The driver provides the same word to CUDA's cooperative groups. It is the second word of a structure whose address
/// is in two special registers (`cooperative_groups/details/driver_abi.h` of the toolkit).
#[inline(always)]
pub fn sync_grid() {
    let (high, low): (u32, u32);
    // SAFETY: the instruction only reads special registers.
    unsafe {
        asm!("mov.u32 {}, %envreg1;", "mov.u32 {}, %envreg2;", out(reg32) high, out(reg32) low,
            options(nostack, preserves_flags));
    }
    let workspace = (high as u64) << 32 | low as u64;
    if workspace == 0 {
        not_cooperative();
    }
    sync_threads();
    if thread::index_in_block() == 0 {
        let place = Place::Global((workspace + 4) as *mut u32);
        let blocks = thread::grid_dim_x() * thread::grid_dim_y() * thread::grid_dim_z();
        let is_first = thread::block_idx_x() | thread::block_idx_y() | thread::block_idx_z() == 0;
        // The additions of all blocks sum to 2³¹, whatever their order is.
        let step = if is_first { (1 << 31) - (blocks - 1) } else { 1 };
        fence(Scope::Device);
        // SAFETY: the driver's word is valid as long as the kernel runs.
        unsafe {
            let before = atomic_update(Update::Add, place, step, Scope::Device);
            while (before ^ atomic_load(place, false, Scope::Device)) >> 31 == 0 {}
        }
        fence(Scope::Device);
    }
    sync_threads();
}

macro_rules! named {
    ($($name:ident $instruction:literal)*) => {$(
        #[inline(always)]
        pub fn $name(id: u32, threads: u32) {
            // SAFETY: a barrier accesses no memory of the program. If too few threads reach it, the kernel hangs.
            unsafe {
                asm!(concat!($instruction, " {}, {};"), in(reg32) id, in(reg32) threads,
                    options(nostack, preserves_flags));
            }
        }
    )*};
}

named! { sync_named "barrier.sync" arrive_named "barrier.arrive" }

/// Prints once per block that the launch is not cooperative, and ends the kernel with an error.
#[cold]
#[inline(never)]
fn not_cooperative() -> ! {
    if thread::index_in_block() == 0 {
        crate::__fail! {
            { Text("grid::sync in a launch that is not cooperative: add `.cooperative()` to its configuration"), } {}
        }
    }
    sync_threads();
    trap()
}

#[cfg(target_feature = "sm_80")]
mod hardware {
    use core::arch::asm;

    #[inline(always)]
    pub fn barrier_init(address: u32, count: u32) {
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("mbarrier.init.shared.b64 [{}], {};", in(reg32) address, in(reg32) count, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub fn barrier_arrive(address: u32) -> u64 {
        let state;
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("mbarrier.arrive.shared.b64 {}, [{}];", out(reg64) state, in(reg32) address,
                options(nostack, preserves_flags));
        }
        state
    }

    #[inline(always)]
    pub fn barrier_arrive_and_drop(address: u32) -> u64 {
        let state;
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("mbarrier.arrive_drop.shared.b64 {}, [{}];", out(reg64) state, in(reg32) address,
                options(nostack, preserves_flags));
        }
        state
    }

    #[inline(always)]
    pub fn barrier_is_over(address: u32, state: u64) -> bool {
        let is_over: u32;
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("{{ .reg .pred over; mbarrier.test_wait.shared.b64 over, [{}], {}; selp.u32 {}, 1, 0, over; }}",
                in(reg32) address, in(reg64) state, out(reg32) is_over, options(nostack, preserves_flags));
        }
        is_over != 0
    }

    #[inline(always)]
    pub fn barrier_parity_is_over(address: u32, parity: bool) -> bool {
        let is_over: u32;
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("{{ .reg .pred over; mbarrier.test_wait.parity.shared.b64 over, [{}], {}; selp.u32 {}, 1, 0, over; }}",
                in(reg32) address, in(reg32) parity as u32, out(reg32) is_over, options(nostack, preserves_flags));
        }
        is_over != 0
    }
}

#[cfg(target_feature = "sm_80")]
pub use hardware::*;

#[cfg(not(target_feature = "sm_80"))]
mod by_atomics {
    use super::super::{atomic_compare_exchange, atomic_load, atomic_store, fence_acquire_release};
    use crate::atomic::{Place, Scope};
    use crate::barrier::word;

    #[inline(always)]
    pub fn barrier_init(address: u32, count: u32) {
        fallback!("Barrier" 80);
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe { atomic_store(Place::Shared(address), word::new(count), false, Scope::Block) }
    }

    #[inline(always)]
    fn arrive(address: u32, drops: bool) -> u64 {
        let place = Place::Shared(address);
        fence_acquire_release(Scope::Block);
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            let mut before: u64 = atomic_load(place, false, Scope::Block);
            loop {
                let seen = atomic_compare_exchange(place, before, word::arrived(before, drops, false), Scope::Block);
                if seen == before {
                    return word::phase(before);
                }
                before = seen;
            }
        }
    }

    #[inline(always)]
    pub fn barrier_arrive(address: u32) -> u64 {
        arrive(address, false)
    }

    #[inline(always)]
    pub fn barrier_arrive_and_drop(address: u32) -> u64 {
        arrive(address, true)
    }

    #[inline(always)]
    pub fn barrier_is_over(address: u32, phase: u64) -> bool {
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        let now: u64 = unsafe { atomic_load(Place::Shared(address), true, Scope::Block) };
        word::phase(now) != phase
    }

    #[inline(always)]
    pub fn barrier_parity_is_over(address: u32, parity: bool) -> bool {
        // SAFETY: `address` is the address of a `Barrier`, which has 8 bytes of shared memory.
        let now: u64 = unsafe { atomic_load(Place::Shared(address), true, Scope::Block) };
        word::phase(now) % 2 != parity as u64
    }
}

#[cfg(not(target_feature = "sm_80"))]
pub use by_atomics::*;

/// Allows the next launch to start early. Before sm_90 launches never overlap, so this function does nothing.
#[inline(always)]
pub fn launch_dependents() {
    #[cfg(not(target_feature = "sm_90"))]
    fallback!("grid::launch_dependents" 90);
    #[cfg(target_feature = "sm_90")]
    // SAFETY: the instruction has no operands and changes no state of this kernel.
    unsafe {
        asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags));
    }
}

/// Waits for the previous launches. `launch` searches a kernel's PTX for this instruction and lets only kernels that
/// have it overlap with the previous launch.
#[inline(always)]
pub fn wait_for_dependencies() {
    #[cfg(target_feature = "sm_90")]
    // SAFETY: the instruction only waits. It is not `nomem`, so later reads see the writes of earlier launches.
    unsafe {
        asm!("griddepcontrol.wait;", options(nostack, preserves_flags));
    }
}
