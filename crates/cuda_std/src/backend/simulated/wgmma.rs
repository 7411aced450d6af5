//! Products of a warpgroup in the simulator.

use simt::tensor::Format;
use simt::wgmma::{self, Elements, InFlight, Instruction, Left};

use crate::tensor::wgmma::Sums;
use crate::tensor::{for_each_wgmma, tf32};
use crate::{bf16, e4m3, e5m2, f16};

/// The instruction for elements of the types `A` and `B` and `N` columns, whose sums are of the type `Self`.
pub trait WgmmaInstruction<A, B, const N: usize>: Sums<N> {
    /// The instruction's types and shape.
    #[doc(hidden)]
    const INSTRUCTION: Instruction;
}

macro_rules! instructions {
    ($($sums:ident $a:ident $b:ident $types:literal;)*) => {$(
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
    )*};
    (@sums f32) => { wgmma::Sums::F32 };
    (@sums f16) => { wgmma::Sums::F16 };
    (@sums i32) => { wgmma::Sums::I32 };
    (@elements i8) => { Elements::I8 };
    (@elements u8) => { Elements::U8 };
    (@elements f16) => { Elements::Float(Format::F16) };
    (@elements bf16) => { Elements::Float(Format::Bf16) };
    (@elements tf32) => { Elements::Float(Format::Tf32) };
    (@elements e4m3) => { Elements::Float(Format::E4m3) };
    (@elements e5m2) => { Elements::Float(Format::E5m2) };
}

for_each_wgmma! { instructions }

/// The registers of sums: an array of `u32`.
pub trait RegisterArray: Copy + AsRef<[u32]> + AsMut<[u32]> {}

impl<const COUNT: usize> RegisterArray for [u32; COUNT] {}

/// The registers of sums that a product may still change.
pub struct WgmmaRegisters<R> {
    registers: R,
    sums: InFlight,
}

impl<R: RegisterArray> WgmmaRegisters<R> {
    #[inline(always)]
    #[track_caller]
    pub fn begin(registers: R) -> Self {
        Self { registers, sums: InFlight::begin() }
    }

    /// Orders earlier accesses to the registers before the products that follow.
    #[inline(always)]
    #[track_caller]
    pub fn fence(&mut self) {
        self.sums.fence();
    }

    /// Begins to add a product to the sums, or to replace them by it if `adds` is false.
    ///
    /// # Safety
    /// No condition, because the simulator checks the descriptors.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(
        mut self,
        a: u64,
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        let a = Left::Shared { descriptor: a, is_transposed: TA };
        self.sums.multiply(S::INSTRUCTION, self.registers.as_ref(), a, (b, TB), adds);
        self
    }

    /// Does the same for a matrix A in registers.
    ///
    /// # Safety
    /// No condition, because the simulator checks the descriptor.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(
        mut self,
        a: [u32; 4],
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        self.sums.multiply(S::INSTRUCTION, self.registers.as_ref(), Left::Registers(a), (b, TB), adds);
        self
    }

    /// Ends a group of products.
    #[inline(always)]
    #[track_caller]
    pub fn commit(&mut self) {
        wgmma::commit();
    }

    /// Waits until at most `PENDING` groups are in progress.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        wgmma::wait(PENDING);
    }

    /// Returns the registers. All products must have been waited for.
    #[inline(always)]
    #[track_caller]
    pub fn registers(mut self) -> R {
        self.sums.read(self.registers.as_mut());
        self.registers
    }
}

#[inline(always)]
pub fn require_warpgroups() {}

#[inline(always)]
#[track_caller]
pub fn take_registers<const COUNT: u32>() {
    wgmma::take_registers(COUNT);
}

#[inline(always)]
#[track_caller]
pub fn release_registers<const COUNT: u32>() {
    wgmma::release_registers(COUNT);
}
