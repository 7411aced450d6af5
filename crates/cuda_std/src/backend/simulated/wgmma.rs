//! Products of a warpgroup in the simulator.

use simt::tensor::Format;
use simt::wgmma::{self, Elements, InFlight, Instruction, Left};

use crate::tensor::tf32;
use crate::tensor::wgmma::Sums;
use crate::{bf16, e4m3, e5m2, f16};

/// The instruction for elements of the types `A` and `B` and `N` columns, whose sums are of the type `Self`.
pub trait WgmmaInstruction<A, B, const N: usize>: Sums<N> {
    /// The instruction's types and shape.
    #[doc(hidden)]
    const INSTRUCTION: Instruction;
}

macro_rules! instructions {
    ($($sums:ident: $($a:ident $b:ident),*;)*) => {$($(
        impl<const N: usize> WgmmaInstruction<$a, $b, N> for $sums
        where
            $sums: Sums<N>,
        {
            const INSTRUCTION: Instruction = Instruction {
                n: N,
                a: instructions!(@elements $a),
                b: instructions!(@elements $b),
                sums: instructions!(@sums $sums),
            };
        }
    )*)*};
    (@sums f32) => { wgmma::Sums::F32 };
    (@sums f16) => { wgmma::Sums::F16 };
    (@sums i32) => {{
        assert!(N < 32 || N.is_multiple_of(16), "products of 8-bit integers have 8, 16, 24, 32, 48, 64, ... columns");
        wgmma::Sums::I32
    }};
    (@elements i8) => { Elements::I8 };
    (@elements u8) => { Elements::U8 };
    (@elements f16) => { Elements::Float(Format::F16) };
    (@elements bf16) => { Elements::Float(Format::Bf16) };
    (@elements tf32) => { Elements::Float(Format::Tf32) };
    (@elements e4m3) => { Elements::Float(Format::E4m3) };
    (@elements e5m2) => { Elements::Float(Format::E5m2) };
}

instructions! {
    f32: f16 f16, bf16 bf16, tf32 tf32, e4m3 e4m3, e4m3 e5m2, e5m2 e4m3, e5m2 e5m2;
    f16: f16 f16, e4m3 e4m3, e4m3 e5m2, e5m2 e4m3, e5m2 e5m2;
    i32: i8 i8, i8 u8, u8 i8, u8 u8;
}

/// The registers of sums that a product may still change.
pub struct WgmmaRegisters<R> {
    registers: R,
    sums: InFlight,
}

impl<R: Copy> WgmmaRegisters<R> {
    #[inline(always)]
    #[track_caller]
    pub fn begin(registers: R) -> Self {
        Self { registers, sums: InFlight::begin() }
    }

    /// Orders earlier accesses to the registers before the products that follow.
    #[inline(always)]
    #[track_caller]
    pub fn fence(&mut self) {
        wgmma::fence();
    }

    /// # Safety
    /// No condition, because the simulator checks the descriptors.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(mut self, a: u64, b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        let a = Left::Shared { descriptor: a, is_transposed: TA };
        self.sums.multiply(S::INSTRUCTION, words(&self.registers), a, (b, TB));
        self
    }

    /// # Safety
    /// No condition, because the simulator checks the descriptor.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(mut self, a: [u32; 4], b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        self.sums.multiply(S::INSTRUCTION, words(&self.registers), Left::Registers(a), (b, TB));
        self
    }

    #[inline(always)]
    #[track_caller]
    pub fn commit(&mut self) {
        wgmma::commit();
    }

    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        wgmma::wait(PENDING);
    }

    /// Returns the registers. All products must have been waited for.
    #[inline(always)]
    #[track_caller]
    pub fn registers(mut self) -> R {
        self.sums.read(words_mut(&mut self.registers));
        self.registers
    }
}

/// Returns the registers of a thread as words.
fn words<R: Copy>(registers: &R) -> &[u32] {
    // SAFETY: `R` is a type of `Sums::Registers`: an array of `f32`, `i32` or `u32`, which have the size and the alignment
    // of `u32` and no padding.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(registers).cast(), size_of::<R>() / 4) }
}

/// Returns the registers of a thread as words.
fn words_mut<R: Copy>(registers: &mut R) -> &mut [u32] {
    // SAFETY: `R` is a type of `Sums::Registers`: an array of `f32`, `i32` or `u32`, for which any bits are a value.
    unsafe { core::slice::from_raw_parts_mut(core::ptr::from_mut(registers).cast(), size_of::<R>() / 4) }
}

/// Changes nothing: the simulator has no registers.
#[inline(always)]
pub const fn take_registers<const COUNT: u32>() {}

/// Changes nothing: the simulator has no registers.
#[inline(always)]
pub const fn release_registers<const COUNT: u32>() {}
