//! Products of matrices in shared memory, which a warpgroup (four warps) computes while its threads do other work
//! (`wgmma`, sm_90a).
//!
//! # Design
//!
//! The sums are values that move: an [`Accumulator`] becomes [`InFlight`], which has no method that reads a
//! sum, until [`InFlight::finish`] has waited. The fence that orders registers, and the end of a group, are part of
//! [`InFlight::multiply_add`]. Only the operands are left to the programmer: until a wait, they must not be overwritten,
//! which the simulator's checks report.

use super::shared_tile::Factor;
pub use crate::backend::WgmmaInstruction;
use crate::backend::{self, WgmmaRegisters};
use crate::{f16, thread, unroll};

/// The number of threads of a warpgroup.
pub const THREADS: u32 = 128;
/// The number of rows of an accumulator.
pub const ROWS: usize = 64;
/// The number of bytes of a row of A that an instruction reads.
const STEP: usize = 32;

/// A type of sums: f32, f16 or i32, in a matrix of `N` columns.
pub trait Sums<const N: usize>: Copy {
    /// The type of a register: one sum, or two of `f16`.
    type Register: Copy;
    /// A thread's registers.
    type Registers: Copy + AsRef<[Self::Register]> + AsMut<[Self::Register]>;
    /// Zero in every sum.
    const ZERO: Self::Registers;
    /// The number of sums in a register.
    const PER_REGISTER: usize;

    /// Returns sum `at` of a register.
    fn extract(register: Self::Register, at: usize) -> Self;
}

macro_rules! sums {
    ($($n:literal)*) => {$(
        sums! { @ f32 f32 0.0, $n, { $n / 2 } 1, |register, _at| register }
        sums! { @ i32 i32 0, $n, { $n / 2 } 1, |register, _at| register }
        sums! { @ f16 u32 0, $n, { $n / 4 } 2, |register, at| f16::from_bits((register >> (16 * at)) as u16) }
    )*};
    (@ $type:ident $register:ident $zero:literal, $n:literal, $len:block $per:literal, $extract:expr) => {
        impl Sums<$n> for $type {
            type Register = $register;
            type Registers = [$register; $len];
            const ZERO: [$register; $len] = [$zero; $len];
            const PER_REGISTER: usize = $per;

            #[inline(always)]
            fn extract(register: $register, at: usize) -> $type {
                let extract: fn($register, usize) -> $type = $extract;
                extract(register, at)
            }
        }
    };
}

sums! {
    8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
}

/// The sums of a product: a matrix of 64 × `N` elements in the registers of a warpgroup. `N` is a multiple of 8, up to
/// 256.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator<S: Sums<N>, const N: usize>(S::Registers);

impl<S: Sums<N>, const N: usize> Accumulator<S, N> {
    /// Returns sums that are zero.
    #[inline(always)]
    pub fn zeroed() -> Self {
        Self(S::ZERO)
    }

    /// Makes the sums ready for products.
    #[inline(always)]
    pub fn begin(self) -> InFlight<S, N> {
        InFlight(WgmmaRegisters::begin(self.0))
    }

    /// Calls `f` with row, column and value of each sum of the calling thread. Lanes next to each other have adjacent
    /// columns, two sums each.
    #[inline(always)]
    pub fn for_each(self, mut f: impl FnMut(usize, usize, S)) {
        let thread = (thread::index_in_block() % THREADS) as usize;
        let (row, column) = (thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2);
        let per_group = 4 / S::PER_REGISTER;
        // Eight columns at a time, in 32 copies of the body: a loop would need an index into the registers.
        unroll!(HALF in 2 => {
            unroll!(GROUP in 16 => {
                if 16 * HALF + GROUP < N / 8 {
                    unroll!(I in 4 => {
                        let group = 16 * HALF + GROUP;
                        let register = self.0.as_ref()[group * per_group + I / S::PER_REGISTER];
                        f(row + I / 2 * 8, 8 * group + column + I % 2, S::extract(register, I % S::PER_REGISTER));
                    });
                }
            });
        });
    }
}

/// Sums to which products are being added. They cannot be read before [`finish`](Self::finish).
#[must_use = "`finish` waits for the products and returns the sums"]
pub struct InFlight<S: Sums<N>, const N: usize>(WgmmaRegisters<S::Registers>);

impl<S: Sums<N>, const N: usize> InFlight<S, N> {
    /// Begins to add the product of `a`, of 64 × `K` elements, and the transpose of `b`, of `N` × `K` elements, as one
    /// group. All threads of the warpgroup call this method together.
    ///
    /// Until a [`wait`](Self::wait) for this group, no thread may write the elements of `a` and `b`. What threads have
    /// stored there needs a proxy fence and a barrier before this call; what a tensor map has copied needs the wait for
    /// its barrier.
    #[inline(always)]
    #[track_caller]
    pub fn multiply_add<A, B, const K: usize, FA, FB>(self, a: FA, b: FB) -> Self
    where
        FA: Factor<A, ROWS, K>,
        FB: Factor<B, N, K>,
        S: WgmmaInstruction<A, B, N>,
    {
        let mut product = self.0;
        product.fence();
        unroll!(I in 24 => {
            if I * STEP < K * size_of::<A>() {
                let k = I * STEP / size_of::<A>();
                let [a, b] = [a.descriptor(k), b.descriptor(k)];
                // SAFETY: both factors are in shared memory.
                product = unsafe {
                    match (FA::IS_TRANSPOSED, FB::IS_TRANSPOSED) {
                        (false, false) => product.multiply::<S, A, B, N, false, false>(a, b),
                        (true, false) => product.multiply::<S, A, B, N, true, false>(a, b),
                        (false, true) => product.multiply::<S, A, B, N, false, true>(a, b),
                        (true, true) => product.multiply::<S, A, B, N, true, true>(a, b),
                    }
                };
            }
        });
        product.commit();
        Self(product)
    }

    /// Waits until at most the last `PENDING` groups of the thread are in progress. The operands of all earlier groups
    /// may then be overwritten.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(mut self) -> Self {
        self.0.wait::<PENDING>();
        self
    }

    /// Waits for all products and returns the sums.
    #[inline(always)]
    #[track_caller]
    pub fn finish(self) -> Accumulator<S, N> {
        Accumulator(self.wait::<0>().0.registers())
    }
}

/// Raises the number of registers of each thread of the calling warpgroup to `COUNT`, a multiple of 8 from 24 to 256,
/// and waits until the block has released as many (`setmaxnreg.inc`).
///
/// The kernel must have `max_threads` and `min_blocks`. A block begins with 65,536 ÷ (`max_threads` × `min_blocks`)
/// registers per thread, down to a multiple of 8, and all its warpgroups share them.
#[inline(always)]
#[track_caller]
pub fn take_registers<const COUNT: u32>() {
    const { assert!(COUNT >= 24 && COUNT <= 256 && COUNT.is_multiple_of(8), "24 to 256 registers, a multiple of 8") };
    backend::take_registers::<COUNT>();
}

/// Lowers the number of registers of each thread of the calling warpgroup to `COUNT`, a multiple of 8 from 24 to 256
/// (`setmaxnreg.dec`). Other warpgroups can then [take](take_registers) them.
#[inline(always)]
#[track_caller]
pub fn release_registers<const COUNT: u32>() {
    const { assert!(COUNT >= 24 && COUNT <= 256 && COUNT.is_multiple_of(8), "24 to 256 registers, a multiple of 8") };
    backend::release_registers::<COUNT>();
}
