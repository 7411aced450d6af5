//! Products of matrices in shared memory by a warpgroup (`wgmma`), and the registers of a warpgroup (`setmaxnreg`).
//!
//! Each instruction is one `asm!` with all accumulators as operands, which stay in registers because they are moved and
//! never borrowed. The instructions of a group are in the program's order, because none of them is `pure`.

#[cfg(target_feature = "sm_90a")]
use core::arch::asm;

use crate::tensor::wgmma::Sums;
#[cfg(target_feature = "sm_90a")]
use crate::{bf16, e4m3, e5m2, f16, tensor::tf32};

/// The instruction for elements of the types `A` and `B` and `N` columns, whose sums are of the type `Self`.
pub trait WgmmaInstruction<A, B, const N: usize>: Sums<N> {
    /// Begins to add the product of two matrices in shared memory to `sums`. `TA` and `TB` are true for a matrix whose
    /// rows (of A) or columns (of B) are contiguous, instead of the dimension that is summed.
    ///
    /// # Safety
    /// `a` and `b` must be descriptors of matrices in shared memory.
    unsafe fn multiply<const TA: bool, const TB: bool>(sums: Self::Registers, a: u64, b: u64) -> Self::Registers;

    /// Begins to add the product of a matrix in registers and one in shared memory to `sums`.
    ///
    /// # Safety
    /// `b` must be the descriptor of a matrix in shared memory.
    unsafe fn multiply_registers<const TB: bool>(sums: Self::Registers, a: [u32; 4], b: u64) -> Self::Registers;
}

#[cfg(target_feature = "sm_90a")]
cuda_std_macros::wgmma_instructions! {}

#[cfg(not(target_feature = "sm_90a"))]
impl<A, B, S: Sums<N>, const N: usize> WgmmaInstruction<A, B, N> for S {
    #[inline(always)]
    unsafe fn multiply<const TA: bool, const TB: bool>(_: S::Registers, _: u64, _: u64) -> S::Registers {
        need_90a()
    }

    #[inline(always)]
    unsafe fn multiply_registers<const TB: bool>(_: S::Registers, _: [u32; 4], _: u64) -> S::Registers {
        need_90a()
    }
}

/// Prints that the GPU lacks the instruction, and ends the kernel with an error.
#[cfg(not(target_feature = "sm_90a"))]
#[cold]
#[inline(never)]
fn need_90a() -> ! {
    fallback!("tensor::wgmma" "90a" missing);
    crate::__fail! {
        { Text("a product of a warpgroup needs a GPU of compute capability 9.0 and PTX for sm_90a"), } {}
    }
}

/// The registers of sums that a product may still change.
pub struct WgmmaRegisters<R>(R);

impl<R> WgmmaRegisters<R> {
    #[inline(always)]
    pub fn begin(registers: R) -> Self {
        Self(registers)
    }

    /// Orders earlier accesses to the registers before the products that follow.
    #[inline(always)]
    #[cfg(target_feature = "sm_90a")]
    pub fn fence(&mut self) {
        // SAFETY: the instruction only orders accesses to registers.
        unsafe { asm!("wgmma.fence.sync.aligned;", options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    #[cfg(not(target_feature = "sm_90a"))]
    pub fn fence(&mut self) {}

    /// # Safety
    /// `a` and `b` must be descriptors of matrices in shared memory.
    #[inline(always)]
    pub unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(self, a: u64, b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        // SAFETY: the caller guarantees valid descriptors.
        Self(unsafe { S::multiply::<TA, TB>(self.0, a, b) })
    }

    /// # Safety
    /// `b` must be the descriptor of a matrix in shared memory.
    #[inline(always)]
    pub unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(self, a: [u32; 4], b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        // SAFETY: the caller guarantees a valid descriptor.
        Self(unsafe { S::multiply_registers::<TB>(self.0, a, b) })
    }

    #[inline(always)]
    pub fn commit(&mut self) {
        #[cfg(target_feature = "sm_90a")]
        // SAFETY: the instruction affects only the thread's own products.
        unsafe {
            asm!("wgmma.commit_group.sync.aligned;", options(nostack, preserves_flags))
        }
    }

    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {
        #[cfg(target_feature = "sm_90a")]
        // SAFETY: the instruction only waits. It is not `nomem`, so later writes of the operands stay behind it.
        unsafe {
            asm!("wgmma.wait_group.sync.aligned {};", const PENDING, options(nostack, preserves_flags))
        }
    }

    /// Returns the registers. All products must have been waited for.
    #[inline(always)]
    pub fn registers(self) -> R {
        self.0
    }
}

macro_rules! set_registers {
    ($($name:ident $instruction:literal)*) => {$(
        #[inline(always)]
        pub fn $name<const COUNT: u32>() {
            #[cfg(target_feature = "sm_90a")]
            // SAFETY: the assembler allocates the registers of the code that follows.
            unsafe {
                asm!(concat!($instruction, " {};"), const COUNT, options(nomem, nostack, preserves_flags))
            }
        }
    )*};
}

set_registers! {
    take_registers "setmaxnreg.inc.sync.aligned.u32"
    release_registers "setmaxnreg.dec.sync.aligned.u32"
}
