//! Asynchronous copies, from sm_80 on. Before, a load and a store, which are there at once.

#[cfg(target_feature = "sm_80")]
use core::arch::asm;

#[cfg(target_feature = "sm_80")]
use super::memory::to_global;

/// A thread's copies: the hardware keeps track of them.
#[derive(Debug, Default)]
pub struct Copies;

// None is `nomem`: no access of memory is moved across.
#[cfg(target_feature = "sm_80")]
impl Copies {
    /// # Safety
    /// Both addresses must be valid for 16 bytes, and multiples of 16.
    #[inline(always)]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        // SAFETY: the caller's.
        unsafe {
            asm!("cp.async.cg.shared.global [{}], [{}], 16;", in(reg32) to, in(reg64) to_global(from),
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub fn commit(&mut self) {
        // SAFETY: touches nothing but the thread's copies.
        unsafe { asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {
        // SAFETY: waits.
        unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack, preserves_flags)) }
    }
}

#[cfg(not(target_feature = "sm_80"))]
impl Copies {
    /// # Safety
    /// Both addresses must be valid for 16 bytes, and multiples of 16.
    #[inline(always)]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        // SAFETY: the caller's.
        unsafe { super::shared_store(to, super::global_load(from)) }
    }

    #[inline(always)]
    pub fn commit(&mut self) {}

    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {}
}
