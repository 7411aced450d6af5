//! Asynchronous copies, which are hardware copies from sm_80 on, and loads and stores on older GPUs.

#[cfg(target_feature = "sm_80")]
use core::arch::asm;

use crate::{Element, unroll};

#[cfg(target_feature = "sm_80")]
use super::memory::to_global;

/// The asynchronous copies of a thread. The type is empty because the hardware counts the copies.
#[derive(Debug, Default)]
pub struct Copies;

// None of these statements is `nomem`, so LLVM moves no memory access across them.
#[cfg(target_feature = "sm_80")]
impl Copies {
    /// # Safety
    /// Both addresses must be valid for 16 bytes, and multiples of 16.
    #[inline(always)]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        // SAFETY: the caller guarantees valid addresses.
        unsafe {
            asm!("cp.async.cg.shared.global [{}], [{}], 16;", in(reg32) to, in(reg64) to_global(from),
                options(nostack, preserves_flags));
        }
    }

    /// # Safety
    /// `from` must be valid for `count` elements, and `to` for 16 bytes at a multiple of 16. `N` elements have 16 bytes
    /// and are aligned to at least 4.
    #[inline(always)]
    pub unsafe fn begin_by_elements<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        let (from, bytes) = (to_global(from), count * size_of::<T>() as u32);
        unroll!(WORD in 4 => {
            // An element is copied in pieces as large as its alignment.
            if WORD * 4 % align_of::<T>() == 0 {
                let read = if (WORD as u32 * 4) < bytes { align_of::<T>() as u32 } else { 0 };
                // SAFETY: the caller guarantees valid addresses. A copy of 0 bytes does not access its source.
                unsafe {
                    asm!("cp.async.ca.shared.global [{}+{}], [{}+{}], {}, {};",
                        in(reg32) to, const WORD * 4, in(reg64) from, const WORD * 4, const align_of::<T>(), in(reg32) read,
                        options(nostack, preserves_flags));
                }
            }
        });
    }

    /// # Safety
    /// `from` must be valid for `count` elements, and `to` for `N` elements. `N` elements have 4, 8 or 16 bytes, and
    /// both addresses must be multiples of these bytes.
    #[inline(always)]
    pub unsafe fn begin_padded<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        let (from, read) = (to_global(from), count * size_of::<T>() as u32);
        // SAFETY: the caller guarantees valid addresses. A copy of 0 bytes does not access its source.
        unsafe {
            if size_of::<[T; N]>() == 16 {
                asm!("cp.async.cg.shared.global [{}], [{}], 16, {};", in(reg32) to, in(reg64) from, in(reg32) read,
                    options(nostack, preserves_flags));
            } else {
                asm!("cp.async.ca.shared.global [{}], [{}], {}, {};", in(reg32) to, in(reg64) from,
                    const size_of::<[T; N]>(), in(reg32) read, options(nostack, preserves_flags));
            }
        }
    }

    #[inline(always)]
    pub fn commit(&mut self) {
        // SAFETY: the instruction affects only the thread's own copies.
        unsafe { asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {
        // SAFETY: the instruction only waits.
        unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    pub fn arrive(&mut self, barrier: u32) {
        // SAFETY: `barrier` is the address of a `Barrier`, which has 8 bytes of shared memory.
        unsafe {
            asm!("cp.async.mbarrier.arrive.noinc.shared.b64 [{}];", in(reg32) barrier,
                options(nostack, preserves_flags));
        }
    }
}

#[cfg(not(target_feature = "sm_80"))]
impl Copies {
    /// # Safety
    /// Both addresses must be valid for 16 bytes, and multiples of 16.
    #[inline(always)]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        fallback!("AsyncCopies" 80);
        // SAFETY: the caller guarantees valid addresses.
        unsafe { super::shared_store(to, super::global_load(from)) }
    }

    /// # Safety
    /// `from` must be valid for `count` elements, and `to` for `N` elements. `N` elements have 4, 8 or 16 bytes, and
    /// `to` must be a multiple of these bytes.
    #[inline(always)]
    pub unsafe fn begin_by_elements<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        fallback!("AsyncCopies" 80);
        let mut vector = [T::zeroed(); N];
        unroll!(I in N => {
            if (I as u32) < count {
                // SAFETY: the caller guarantees `count` valid elements.
                vector[I] = unsafe { super::global_load(from.add(I)) };
            }
        });
        // SAFETY: the caller guarantees a valid destination.
        unsafe { super::shared_store(to, vector) }
    }

    /// # Safety
    /// `from` must be valid for `count` elements, and `to` for `N` elements. `N` elements have 4, 8 or 16 bytes, and
    /// `to` must be a multiple of these bytes.
    #[inline(always)]
    pub unsafe fn begin_padded<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        // SAFETY: the caller's guarantees are those of `begin_by_elements`, which accepts these sizes, too.
        unsafe { self.begin_by_elements::<T, N>(from, count, to) }
    }

    #[inline(always)]
    pub fn commit(&mut self) {}

    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {}

    #[inline(always)]
    pub fn arrive(&mut self, barrier: u32) {
        super::barrier_arrive(barrier);
    }
}
