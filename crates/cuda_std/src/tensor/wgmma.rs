//! Products of matrices in shared memory, which a warpgroup (four warps) computes while its threads do other work
//! (`wgmma`, sm_90a).
//!
//! ```
//! use cuda_std::tensor::wgmma::{Accumulator, ROWS};
//! use cuda_std::tensor::{SharedTile, Swizzle128};
//! use cuda_std::{Global, GlobalMut, barrier, bf16, dynamic_shared, kernel, thread};
//!
//! /// Writes the product of the 64 × 64 matrix `a` and the transpose of the 128 × 64 matrix `b` to `c`, all with
//! /// contiguous rows. Launch one block of 128 threads with 24 KiB of dynamic shared memory.
//! #[kernel(max_threads = 128)]
//! pub fn multiply(a: Global<bf16>, b: Global<bf16>, c: GlobalMut<f32>) {
//!     let left = SharedTile::<bf16, 64, 64, Swizzle128>::at(dynamic_shared(), 0);
//!     let right = SharedTile::<bf16, 128, 64, Swizzle128>::at(dynamic_shared(), 64 * 64);
//!     for i in thread::block_stride(64 * 64) {
//!         left.store(i / 64, i % 64, a.load(i));
//!     }
//!     for i in thread::block_stride(128 * 64) {
//!         right.store(i / 64, i % 64, b.load(i));
//!     }
//!     barrier::fence_proxy_async();
//!     thread::sync_threads();
//!     let sums = Accumulator::<f32, 128>::zeroed().begin();
//!     let sums = sums.multiply_add(left.rows::<ROWS>(0), right.rows::<128>(0)).finish();
//!     sums.for_each(|row, column, sum| c.store(128 * row + column, sum));
//! }
//! # fn main() {}
//! ```
//!
//! # Products
//!
//! | A and B | sums | columns |
//! |---|---|---|
//! | `f16` | `f16`, `f32` | 8, 16, …, 256 |
//! | `bf16`, [`tf32`](super::tf32) | `f32` | 8, 16, …, 256 |
//! | [`e4m3`](crate::e4m3) or [`e5m2`](crate::e5m2), each | `f16`, `f32` | 8, 16, …, 256 |
//! | `i8` or `u8`, each | `i32` | 8, 16, 24, 32, 48, 64, …, 256 |
//!
//! An instruction multiplies 32 bytes of each row of A and B. B is given by its columns: its tile has a row for each
//! column of the product. Factors of 16-bit elements may also be [transposed](super::SharedTile::transposed).
//!
//! # Design
//!
//! The sums are values that move: an [`Accumulator`] becomes [`InFlight`], which has no method that reads a
//! sum, until [`InFlight::finish`] has waited. The fence that orders registers, and the end of a group, are part of
//! [`InFlight::multiply_add`]. Only the operands are left to the programmer: until a wait, they must not be
//! overwritten, which the simulator's checks report.

use super::mma::{A as Left, Fragment};
use super::operand::Tile;
pub use super::registers::{release_registers, take_registers};
use super::shared_tile::Factor;
pub use crate::backend::WgmmaInstruction;
use crate::backend::{self, RegisterArray, WgmmaRegisters};
use crate::{f16, thread, unroll};

/// The number of threads of a warpgroup.
pub const THREADS: u32 = 128;
/// The number of rows of an accumulator.
pub const ROWS: usize = 64;
/// The number of bytes of a row of A that an instruction reads.
const STEP: usize = 32;
/// The maximum number of instructions of a group.
const MAX_STEPS: usize = 24;

/// Ends the kernel with an error in PTX for an architecture without products of warpgroups. At the start of a kernel,
/// this keeps the rest of it out of such PTX.
#[inline(always)]
pub fn require() {
    backend::require_warpgroups();
}

/// A type of sums: f32, f16 or i32, in a matrix of `N` columns.
#[diagnostic::on_unimplemented(
    message = "a warpgroup has no sums of type `{Self}` in {N} columns",
    note = "the table in `cuda_std::tensor::wgmma` lists the types and the numbers of columns"
)]
pub trait Sums<const N: usize>: Copy {
    /// A thread's registers: an array of `u32`, with one sum each, or with two of `f16`.
    type Registers: RegisterArray + AsRef<[u32]>;
    /// Zero in every sum.
    const ZERO: Self::Registers;
    /// The number of sums in a register.
    const PER_REGISTER: usize;

    /// Returns sum `at` of a register.
    fn extract(register: u32, at: usize) -> Self;
}

macro_rules! sums {
    ($($type:ident $per_register:literal |$register:ident, $at:ident| $extract:expr, $($n:literal)*;)*) => {$(
        sums! { @ $type $per_register |$register, $at| $extract, $([$n])* }
    )*};
    (@ $type:ident $per_register:literal |$register:ident, $at:ident| $extract:expr, $([$n:literal])*) => {$(
        impl Sums<$n> for $type {
            type Registers = [u32; $n / 2 / $per_register];
            const ZERO: Self::Registers = [0; $n / 2 / $per_register];
            const PER_REGISTER: usize = $per_register;

            #[inline(always)]
            fn extract($register: u32, $at: usize) -> $type {
                $extract
            }
        }
    )*};
}

sums! {
    f32 1 |register, _at| f32::from_bits(register),
        8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128
        136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256;
    f16 2 |register, at| f16::from_bits((register >> (16 * at)) as u16),
        8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128
        136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256;
    i32 1 |register, _at| register as i32,
        8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256;
}

/// The sums of a product: a matrix of 64 × `N` elements in the registers of a warpgroup.
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
    #[track_caller]
    pub fn begin(self) -> InFlight<S, N> {
        InFlight(WgmmaRegisters::begin(self.0))
    }

    /// Calls `f` with row, column and value of each sum of the calling thread. Lanes next to each other have adjacent
    /// columns, two sums each.
    #[inline(always)]
    pub fn for_each(self, mut f: impl FnMut(usize, usize, S)) {
        self.for_each_pair(|row, column, [first, second]| {
            f(row, column, first);
            f(row, column + 1, second);
        });
    }

    /// Calls `f` with row, column and values of each two adjacent sums of the calling thread; the column is that of the
    /// first one.
    #[inline(always)]
    pub fn for_each_pair(self, mut f: impl FnMut(usize, usize, [S; 2])) {
        // A loop would need an index into the registers. `unroll!` is not nested, because it multiplies the copies.
        unroll!(GROUP in 16 => {
            if GROUP < N / 8 {
                self.see_group(GROUP, &mut f);
            }
        });
        unroll!(GROUP in 16 => {
            if 16 + GROUP < N / 8 {
                self.see_group(16 + GROUP, &mut f);
            }
        });
    }

    /// Calls `f` for the two pairs of the calling thread in the eight columns number `group`.
    #[inline(always)]
    fn see_group(&self, group: usize, f: &mut impl FnMut(usize, usize, [S; 2])) {
        let thread = (thread::index_in_block() % THREADS) as usize;
        let (row, column) = (thread / 32 * 16 + thread % 32 / 4, 8 * group + thread % 4 * 2);
        let [a, b, c, d] = self.group(group);
        f(row, column, [a, b]);
        f(row + 8, column, [c, d]);
    }

    /// Returns the calling thread's sums in eight columns, number `group` (a constant): two rows of two, 8 rows apart.
    #[inline(always)]
    pub fn group(&self, group: usize) -> [S; 4] {
        let sum = |i: usize| S::extract(self.0.as_ref()[i / S::PER_REGISTER], i % S::PER_REGISTER);
        [sum(4 * group), sum(4 * group + 1), sum(4 * group + 2), sum(4 * group + 3)]
    }
}

/// Sums to which products are being added. They cannot be read before [`finish`](Self::finish):
///
/// ```compile_fail,E0599
/// use cuda_std::tensor::wgmma::Accumulator;
///
/// let sums = Accumulator::<f32, 8>::zeroed().begin();
/// sums.for_each(|_, _, _| {});
/// ```
///
/// A factor of other sizes, and a product that no GPU has, do not compile:
///
/// ```compile_fail,E0277
/// use cuda_std::tensor::wgmma::Accumulator;
/// use cuda_std::tensor::{SharedTile, Swizzle128};
/// use cuda_std::{bf16, dynamic_shared};
///
/// let tile = SharedTile::<bf16, 64, 64, Swizzle128>::at(dynamic_shared(), 0);
/// Accumulator::<i32, 64>::zeroed().begin().multiply_add::<bf16, bf16, 64, _, _>(tile.rows::<64>(0), tile.rows::<64>(0));
/// ```
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
        self.multiply_add_or_replace(true, a, b)
    }

    /// Begins the same product as [`multiply_add`](Self::multiply_add), but replaces the sums by it if `adds` is false.
    /// In a loop, `adds` is false in the first step, and the sums then need not be zero.
    #[doc(alias = "scale-d")]
    #[inline(always)]
    #[track_caller]
    pub fn multiply_add_or_replace<A, B, const K: usize, FA, FB>(mut self, adds: bool, a: FA, b: FB) -> Self
    where
        FA: Factor<A, ROWS, K>,
        FB: Factor<B, N, K>,
        S: WgmmaInstruction<A, B, N>,
    {
        const {
            assert!(
                K * size_of::<A>() <= MAX_STEPS * STEP,
                "a group has at most 768 bytes of each row: use a smaller K"
            );
            assert!((K * size_of::<A>()).is_multiple_of(STEP), "an instruction multiplies 32 bytes of each row");
        }
        // SAFETY: every group begins with a fence and is committed, and both factors are in shared memory.
        unsafe {
            self.fence();
            unroll!(I in 24 => {
                if I * STEP < K * size_of::<A>() {
                    self = self.step::<A, B, K, FA, FB>(adds || I > 0, a, b, I * STEP / size_of::<A>());
                }
            });
            self.commit();
        }
        self
    }

    /// Begins the product of 32 bytes of each row from column `k` on.
    ///
    /// # Safety
    /// The conditions of [`issue`](Self::issue) must hold.
    #[inline(always)]
    #[track_caller]
    unsafe fn step<A, B, const K: usize, FA, FB>(self, adds: bool, a: FA, b: FB, k: usize) -> Self
    where
        FA: Factor<A, ROWS, K>,
        FB: Factor<B, N, K>,
        S: WgmmaInstruction<A, B, N>,
    {
        let [a, b] = [a.descriptor(k), b.descriptor(k)];
        // SAFETY: the caller guarantees it, and the descriptors are those of factors.
        let product = unsafe {
            match (FA::IS_TRANSPOSED, FB::IS_TRANSPOSED) {
                (false, false) => self.0.multiply::<S, A, B, N, false, false>(a, b, adds),
                (true, false) => self.0.multiply::<S, A, B, N, true, false>(a, b, adds),
                (false, true) => self.0.multiply::<S, A, B, N, false, true>(a, b, adds),
                (true, true) => self.0.multiply::<S, A, B, N, true, true>(a, b, adds),
            }
        };
        Self(product)
    }

    /// Adds the product of `a`, a matrix in registers of 64 × (`STEPS` · `K`) elements, and the transpose of `b`, of
    /// `N` × `TOTAL` elements, or replaces the sums by it if `adds` is false. Waits for the product, because the
    /// registers of `a` must not be used before, and returns the sums. `K` elements are 32 bytes, and `TOTAL` is
    /// `STEPS` · `K`. Warp *w* of the warpgroup has rows 16 · *w* to 16 · *w* + 15 of A.
    #[inline(always)]
    #[track_caller]
    pub fn multiply_add_fragments<A, B, const K: usize, const STEPS: usize, const TOTAL: usize, FB>(
        mut self,
        adds: bool,
        a: [Fragment<Left, A, 16, K>; STEPS],
        b: FB,
    ) -> Accumulator<S, N>
    where
        A: Tile<16, K, Registers = [u32; 4]>,
        FB: Factor<B, N, TOTAL>,
        S: WgmmaInstruction<A, B, N>,
    {
        const {
            assert!(STEPS <= MAX_STEPS, "a group has at most 24 fragments");
            assert!(STEPS * K == TOTAL && K * size_of::<A>() == STEP, "K elements are 32 bytes, TOTAL is STEPS * K");
        }
        // SAFETY: every group begins with a fence and is committed, and the factor is in shared memory. The wait
        // follows.
        unsafe {
            self.fence();
            unroll!(I in 24 => {
                if I < STEPS {
                    let (a, b, adds) = (a[I].registers(), b.descriptor(I * K), adds || I > 0);
                    self = Self(match FB::IS_TRANSPOSED {
                        false => self.0.multiply_registers::<S, A, B, N, false>(a, b, adds),
                        true => self.0.multiply_registers::<S, A, B, N, true>(a, b, adds),
                    });
                }
            });
            self.commit();
        }
        self.finish()
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

/// The single instructions, for groups that the safe methods cannot express.
impl<S: Sums<N>, const N: usize> InFlight<S, N> {
    /// Orders earlier accesses to the registers of the sums before the products that follow (`wgmma.fence`).
    ///
    /// # Safety
    /// All threads of the warpgroup must call this method together.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn fence(&mut self) {
        self.0.fence();
    }

    /// Begins to add one product of 32 bytes of each row to the sums, or to replace them by it if `adds` is false
    /// (`wgmma.mma_async`). `a` and `b` are descriptors, see [`Factor::descriptor`]; `TA` and `TB` are true for
    /// transposed factors.
    ///
    /// # Safety
    /// All threads of the warpgroup must call this method together. `a` and `b` must be descriptors of matrices in
    /// shared memory. A [`fence`](Self::fence) must precede the first product, and each product after another access to
    /// the sums or after a product of another shape. [`commit`](Self::commit) must follow.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn issue<A, B, const TA: bool, const TB: bool>(self, adds: bool, a: u64, b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N>,
    {
        const { assert!(size_of::<A>() == 2 || !TA && !TB, "only elements of 16 bits can be transposed") };
        // SAFETY: the caller guarantees valid descriptors.
        Self(unsafe { self.0.multiply::<S, A, B, N, TA, TB>(a, b, adds) })
    }

    /// Begins a product like [`issue`](Self::issue), with A in registers: those of a [`Fragment`] of 16 rows.
    ///
    /// # Safety
    /// The conditions of [`issue`](Self::issue) must hold. The registers `a` must not be used before the wait for this
    /// product.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn issue_registers<A, B, const TB: bool>(self, adds: bool, a: [u32; 4], b: u64) -> Self
    where
        S: WgmmaInstruction<A, B, N>,
    {
        const { assert!(size_of::<A>() == 2 || !TB, "only elements of 16 bits can be transposed") };
        // SAFETY: the caller guarantees a valid descriptor.
        Self(unsafe { self.0.multiply_registers::<S, A, B, N, TB>(a, b, adds) })
    }

    /// Makes the products that the thread has begun since the last `commit` one group (`wgmma.commit_group`).
    ///
    /// # Safety
    /// All threads of the warpgroup must call this method together.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn commit(&mut self) {
        self.0.commit();
    }

    /// Returns the sums without a wait.
    ///
    /// # Safety
    /// A [`wait`](Self::wait) must have waited for all products with these sums.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn assume_finished(self) -> Accumulator<S, N> {
        Accumulator(self.0.registers())
    }
}
