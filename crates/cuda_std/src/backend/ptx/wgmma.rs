//! Products of matrices in shared memory by a warpgroup (`wgmma`), and the registers of a warpgroup (`setmaxnreg`).
//!
//! # Design
//!
//! An instruction has all accumulators as operands, so there is one `asm!` for each number of registers. The other
//! parts of an instruction's name are `const` operands: `cuda_builder` replaces `cuda_std_ascii(<number>)` by the
//! characters in the bytes of the number.
//!
//! The accumulators stay in registers because they are moved and never borrowed. Fences and waits have them as
//! operands, too: the compiler could otherwise move an access to a register across them.

#[cfg(target_feature = "sm_90a")]
use core::arch::asm;

use crate::tensor::wgmma::Sums;
use crate::tensor::{for_each_wgmma, tf32};
use crate::{bf16, e4m3, e5m2, f16};

/// The instructions for elements of the types `A` and `B` and `N` columns, whose sums are of the type `Self`.
pub trait WgmmaInstruction<A, B, const N: usize>: Sums<N> {
    /// The types in the instruction's name, see [`ascii`].
    const TYPES: u128;
    /// True for integers, whose instructions have no factors of A and B.
    const IS_INTEGER: bool;
}

macro_rules! define {
    ($($sum:ident $a:ident $b:ident $types:literal;)*) => {$(
        impl<const N: usize> WgmmaInstruction<$a, $b, N> for $sum
        where
            $sum: Sums<N>,
        {
            const TYPES: u128 = ascii($types);
            const IS_INTEGER: bool = matches!($types.as_bytes()[0], b's');
        }
    )*};
}

for_each_wgmma! { define }

/// Returns the number whose bytes, the lowest first, are the characters of `text`, at most 16.
const fn ascii(text: &str) -> u128 {
    let (mut number, mut i) = (0, text.len());
    while i > 0 {
        i -= 1;
        number = number << 8 | text.as_bytes()[i] as u128;
    }
    number
}

/// Returns the end of an instruction's operands, in the form of [`ascii`]: the factors 1 of A and B, and whether the
/// matrices that are in shared memory are transposed, which only elements of 16 bits can be.
const fn last(is_integer: bool, element_bytes: usize, a: Option<bool>, b: bool) -> u128 {
    match (is_integer, element_bytes, a, b) {
        (true, ..) => 0,
        (false, 2, None, false) => ascii(", 1, 1, 0"),
        (false, 2, None, true) => ascii(", 1, 1, 1"),
        (false, 2, Some(false), false) => ascii(", 1, 1, 0, 0"),
        (false, 2, Some(false), true) => ascii(", 1, 1, 0, 1"),
        (false, 2, Some(true), false) => ascii(", 1, 1, 1, 0"),
        (false, 2, Some(true), true) => ascii(", 1, 1, 1, 1"),
        (false, ..) => ascii(", 1, 1"),
    }
}

/// The registers of sums: an array of `u32`.
pub trait RegisterArray: Copy {
    /// Begins to add the product of two matrices in shared memory to the sums, or to replace the sums if `adds` is
    /// false. `TA` and `TB` are true for a matrix whose rows (of A) or columns (of B) are contiguous, instead of the
    /// dimension that is summed.
    ///
    /// # Safety
    /// `a` and `b` must be descriptors of matrices in shared memory. `self` must be the registers of
    /// `<S as Sums<N>>`.
    unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(
        self,
        a: u64,
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N>;

    /// Does the same for a matrix A in registers.
    ///
    /// # Safety
    /// The conditions of [`multiply`](Self::multiply) must hold for `b`.
    unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(
        self,
        a: [u32; 4],
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N>;

    /// Executes `wgmma.fence`. No access to the registers moves across it.
    fn fence(self) -> Self;

    /// Waits until at most `PENDING` groups are in progress. No access to the registers moves across the wait.
    fn wait<const PENDING: usize>(self) -> Self;
}

/// Executes a product. `$a` is the text of the operand A, and `$operands` are the operands in it.
#[cfg(target_feature = "sm_90a")]
macro_rules! product {
    ($sums:expr, $first:literal $($i:literal)*, $a:literal [$($operands:tt)*] $b:ident $adds:ident $transposes_a:expr) => {{
        let mut d = $sums;
        // SAFETY: the caller guarantees valid descriptors. The statement is not `nomem`, because the instruction reads
        // shared memory.
        unsafe {
            asm!(
                "{{ .reg .pred %adds; setp.ne.b32 %adds, {adds}, 0;",
                concat!(
                    "wgmma.mma_async.sync.aligned.m64n{n}k{k}.cuda_std_ascii({types}) {{{", $first, "}"
                    $(, ", {", $i, "}")*, "}}, ", $a, ", {b}, %addscuda_std_ascii({last}); }}"
                ),
                inout(reg32) d[$first], $(inout(reg32) d[$i],)*
                $($operands)* b = in(reg64) $b, adds = in(reg32) u32::from($adds),
                n = const N, k = const { 32 / size_of::<A>() }, types = const { S::TYPES },
                last = const { last(S::IS_INTEGER, size_of::<A>(), $transposes_a, TB) },
                options(nostack, preserves_flags)
            );
        }
        d
    }};
}

/// Executes an instruction that orders accesses to the registers. `cuda_builder` removes the second line, which names
/// them.
#[cfg(target_feature = "sm_90a")]
macro_rules! synchronise {
    ($sums:expr, $first:literal $($i:literal)*, $text:literal [$($operands:tt)*]) => {{
        let mut d = $sums;
        // SAFETY: the instruction only orders accesses and waits. It is not `nomem`: accesses to the operands in shared
        // memory stay behind it.
        unsafe {
            asm!(
                concat!("wgmma.", $text, ";"),
                concat!("// cuda_std registers {", $first, "}" $(, " {", $i, "}")*),
                inout(reg32) d[$first], $(inout(reg32) d[$i],)*
                $($operands)* options(nostack, preserves_flags)
            );
        }
        d
    }};
}

#[cfg(target_feature = "sm_90a")]
macro_rules! registers {
    ([$($i:literal)*]) => {};
    ([$($i:literal)*] [$($next:literal)*] $($more:tt)*) => {
        registers! { @ $($i)* $($next)* }
        registers! { [$($i)* $($next)*] $($more)* }
    };
    (@ $first:literal $($i:literal)*) => {
        impl RegisterArray for [u32; [$first, $($i),*].len()] {
            #[inline(always)]
            unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(
                self,
                a: u64,
                b: u64,
                adds: bool,
            ) -> Self
            where
                S: WgmmaInstruction<A, B, N>,
            {
                product! { self, $first $($i)*, "{a}" [a = in(reg64) a,] b adds Some(TA) }
            }

            #[inline(always)]
            unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(
                self,
                a: [u32; 4],
                b: u64,
                adds: bool,
            ) -> Self
            where
                S: WgmmaInstruction<A, B, N>,
            {
                product! {
                    self, $first $($i)*, "{{{a0}, {a1}, {a2}, {a3}}}" [
                        a0 = in(reg32) a[0], a1 = in(reg32) a[1], a2 = in(reg32) a[2], a3 = in(reg32) a[3],
                    ] b adds None
                }
            }

            #[inline(always)]
            fn fence(self) -> Self {
                synchronise! { self, $first $($i)*, "fence.sync.aligned" [] }
            }

            #[inline(always)]
            fn wait<const PENDING: usize>(self) -> Self {
                synchronise! { self, $first $($i)*, "wait_group.sync.aligned {pending}" [pending = const PENDING,] }
            }
        }
    };
}

// The numbers of registers are N/2, and N/4 for sums of 16 bits: up to 64 every even one, and above every fourth.
#[cfg(target_feature = "sm_90a")]
registers! {
    []
    [0 1] [2 3] [4 5] [6 7] [8 9] [10 11] [12 13] [14 15] [16 17] [18 19] [20 21] [22 23] [24 25] [26 27] [28 29]
    [30 31] [32 33] [34 35] [36 37] [38 39] [40 41] [42 43] [44 45] [46 47] [48 49] [50 51] [52 53] [54 55] [56 57]
    [58 59] [60 61] [62 63] [64 65 66 67] [68 69 70 71] [72 73 74 75] [76 77 78 79] [80 81 82 83] [84 85 86 87]
    [88 89 90 91] [92 93 94 95] [96 97 98 99] [100 101 102 103] [104 105 106 107] [108 109 110 111] [112 113 114 115]
    [116 117 118 119] [120 121 122 123] [124 125 126 127]
}

#[cfg(not(target_feature = "sm_90a"))]
impl<const COUNT: usize> RegisterArray for [u32; COUNT] {
    #[inline(always)]
    unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(self, _: u64, _: u64, _: bool) -> Self
    where
        S: WgmmaInstruction<A, B, N>,
    {
        super::missing::need_90a()
    }

    #[inline(always)]
    unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(self, _: [u32; 4], _: u64, _: bool) -> Self
    where
        S: WgmmaInstruction<A, B, N>,
    {
        super::missing::need_90a()
    }

    #[inline(always)]
    fn fence(self) -> Self {
        self
    }

    #[inline(always)]
    fn wait<const PENDING: usize>(self) -> Self {
        self
    }
}

/// The registers of sums that a product may still change.
pub struct WgmmaRegisters<R>(R);

impl<R: RegisterArray> WgmmaRegisters<R> {
    #[inline(always)]
    pub fn begin(registers: R) -> Self {
        Self(registers)
    }

    /// Orders earlier accesses to the registers before the products that follow.
    #[inline(always)]
    pub fn fence(&mut self) {
        self.0 = self.0.fence();
    }

    /// Begins to add a product to the sums, or to replace them by it if `adds` is false.
    ///
    /// # Safety
    /// `a` and `b` must be descriptors of matrices in shared memory.
    #[inline(always)]
    pub unsafe fn multiply<S, A, B, const N: usize, const TA: bool, const TB: bool>(
        self,
        a: u64,
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        // SAFETY: the caller guarantees valid descriptors, and the registers are those of the type of sums.
        Self(unsafe { self.0.multiply::<S, A, B, N, TA, TB>(a, b, adds) })
    }

    /// Does the same for a matrix A in registers.
    ///
    /// # Safety
    /// `b` must be the descriptor of a matrix in shared memory.
    #[inline(always)]
    pub unsafe fn multiply_registers<S, A, B, const N: usize, const TB: bool>(
        self,
        a: [u32; 4],
        b: u64,
        adds: bool,
    ) -> Self
    where
        S: WgmmaInstruction<A, B, N> + Sums<N, Registers = R>,
    {
        // SAFETY: the caller guarantees a valid descriptor, and the registers are those of the type of sums.
        Self(unsafe { self.0.multiply_registers::<S, A, B, N, TB>(a, b, adds) })
    }

    /// Ends a group of products.
    #[inline(always)]
    pub fn commit(&mut self) {
        #[cfg(target_feature = "sm_90a")]
        // SAFETY: the instruction affects only the thread's own products.
        unsafe {
            asm!("wgmma.commit_group.sync.aligned;", options(nostack, preserves_flags))
        }
    }

    /// Waits until at most `PENDING` groups are in progress.
    #[inline(always)]
    pub fn wait<const PENDING: usize>(&mut self) {
        self.0 = self.0.wait::<PENDING>();
    }

    /// Returns the registers. All products must have been waited for.
    #[inline(always)]
    pub fn registers(self) -> R {
        self.0
    }
}

#[inline(always)]
pub fn require_warpgroups() {
    #[cfg(not(target_feature = "sm_90a"))]
    super::missing::need_90a();
}

macro_rules! set_registers {
    ($($name:ident $instruction:literal)*) => {$(
        #[inline(always)]
        pub fn $name<const COUNT: u32>() {
            #[cfg(target_feature = "sm_90a")]
            // SAFETY: the assembler allocates the registers of the code that follows.
            unsafe {
                asm!(concat!($instruction, " {};"), const COUNT, options(nostack, preserves_flags))
            }
        }
    )*};
}

set_registers! {
    take_registers "setmaxnreg.inc.sync.aligned.u32"
    release_registers "setmaxnreg.dec.sync.aligned.u32"
}
