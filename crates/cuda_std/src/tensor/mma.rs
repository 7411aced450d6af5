//! Fragments of matrices and their products (`mma.sync`).
//!
//! A warp holds a small matrix as a [`Fragment`]: each lane has some of the elements in its registers. One instruction
//! multiplies a fragment of A by a fragment of B and adds a fragment of C:
//!
//! ```
//! use cuda_std::tensor::mma::{A, Accumulator, B, Fragment};
//! use cuda_std::tensor::{ColumnMajor, RowMajor};
//! use cuda_std::{Global, GlobalMut, f16, kernel};
//!
//! /// Writes the product of the 16 × `k` matrix `a` and the `k` × 8 matrix `b` to `c`. The columns of `b` are
//! /// contiguous. `k` must be a multiple of 16. Launch one warp.
//! #[kernel(max_threads = 32)]
//! pub fn multiply(k: usize, a: Global<f16>, b: Global<f16>, c: GlobalMut<f32>) {
//!     let mut sums = Accumulator::<f32, 16, 8>::zero();
//!     for step in (0..k).step_by(16) {
//!         let a = Fragment::<A, f16, 16, 16>::load(RowMajor(a, k), 0, step);
//!         let b = Fragment::<B, f16, 16, 8>::load(ColumnMajor(b, k), step, 0);
//!         sums = a.multiply_add(b, sums);
//!     }
//!     sums.store(RowMajor(c, 8), 0, 0);
//! }
//! # fn main() {}
//! ```
//!
//! All 32 lanes of a warp must execute a product together. The simulator reports a warp that does not.
//!
//! # Products
//!
//! The shape M, N, K means that A has M × K elements, B has K × N, and C has M × N.
//!
//! | A and B | C | M, N, K | from |
//! |---|---|---|---|
//! | `f16` | `f16`, `f32` | 16, 8, 8 | sm_75 |
//! | `f16` | `f16`, `f32` | 16, 8, 16 | sm_80 |
//! | `bf16` | `f32` | 16, 8, 8; 16, 8, 16 | sm_80 |
//! | [`tf32`](super::tf32) | `f32` | 16, 8, 4; 16, 8, 8 | sm_80 |
//! | `f64` | `f64` | 8, 8, 4 | sm_80 |
//! | `f64` | `f64` | 16, 8, 4; 16, 8, 8; 16, 8, 16 | sm_90 |
//! | `i8` or `u8`, each | `i32` | 8, 8, 16 | sm_75 |
//! | `i8` or `u8`, each | `i32` | 16, 8, 16; 16, 8, 32 | sm_80 |
//! | [`e4m3`](crate::e4m3) or [`e5m2`](crate::e5m2), each | `f32` | 16, 8, 32 | sm_89 |
//!
//! Products of 16-bit and smaller floats are exact, and the hardware rounds their sums in its own way. Sums of integers
//! wrap around. PTX for an older architecture ends with an error where a product has no instruction; `cuda_builder`
//! names the architecture to build for.

use core::marker::PhantomData;

use super::layout::{Elements, ElementsMut, Layout};
use super::operand::Tile;
use crate::{bf16, bf16x2, f16, f16x2, unroll};

macro_rules! sides {
    ($($(#[$doc:meta])* $side:ident $has_rows:literal $is_sum:literal $block:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $side;

        impl Side for $side {
            const HAS_ROWS: bool = $has_rows;
            const IS_SUM: bool = $is_sum;

            #[inline(always)]
            fn block(block: usize, rows: usize, width: usize) -> (usize, usize) {
                $block(block, rows, width)
            }
        }
    )*};
}

/// The role of a fragment in a product: [`A`], [`B`] or [`C`].
pub trait Side: Copy + 'static {
    /// True if the elements of a register are in one row, and false if they are in one column.
    #[doc(hidden)]
    const HAS_ROWS: bool;

    /// True if each lane has pairs of adjacent elements, whether or not a register holds both.
    #[doc(hidden)]
    const IS_SUM: bool;

    /// Returns row and column of the first element of block `block`. A block has the elements that one register of all
    /// lanes holds, and for sums those of one pair: 8 rows (or columns) of `width` elements. The fragment has `rows`
    /// rows.
    #[doc(hidden)]
    fn block(block: usize, rows: usize, width: usize) -> (usize, usize);
}

sides! {
    /// The left factor of a product.
    A true false |block, rows, width| (block % (rows / 8) * 8, block / (rows / 8) * width);
    /// The right factor of a product.
    B false false |block, _, width| (block * width, 0);
    /// The addend and the result of a product.
    C true true |block, _, _| (block * 8, 0);
}

/// Returns row and column of element `i` of a lane, in a fragment of `rows` rows. A block has `per_block` elements of
/// the lane.
#[inline(always)]
pub(crate) fn position<S: Side>(lane: usize, i: usize, rows: usize, per_block: usize) -> (usize, usize) {
    let (row, column) = S::block(i / per_block, rows, 4 * per_block);
    let (across, along) = (lane / 4, lane % 4 * per_block + i % per_block);
    if S::HAS_ROWS { (row + across, column + along) } else { (row + along, column + across) }
}

/// `unroll!` for the registers of a fragment, of which there are at most 8. The index is a constant, so that the
/// registers are never in memory.
macro_rules! each_register {
    ($i:ident in $n:expr => $body:block) => {{
        const { assert!($n <= 8, "a fragment has at most 8 registers") };
        unroll!(@ $i $n, $body 0 1 2 3 4 5 6 7);
    }};
}

/// A matrix of `ROWS` × `COLUMNS` elements in the registers of a warp: the factor [`A`] or [`B`] of a product, or
/// [`C`].
///
/// Each lane holds `ROWS` · `COLUMNS` / 32 elements. [`row`](Self::row) and [`column`](Self::column) say which ones.
#[derive(Debug)]
pub struct Fragment<S, T: Tile<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> {
    registers: T::Registers,
    side: PhantomData<S>,
}

/// The addend and result of products: a matrix of sums.
pub type Accumulator<T, const ROWS: usize, const COLUMNS: usize> = Fragment<C, T, ROWS, COLUMNS>;

impl<S, T: Tile<R, K>, const R: usize, const K: usize> Clone for Fragment<S, T, R, K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, T: Tile<R, K>, const R: usize, const K: usize> Copy for Fragment<S, T, R, K> {}

impl<S: Side, T: Tile<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> Fragment<S, T, ROWS, COLUMNS> {
    /// The number of elements that each lane holds.
    pub const LEN: usize = ROWS * COLUMNS / 32;

    /// The number of a lane's elements in a block.
    pub(crate) const PER_BLOCK: usize = if S::IS_SUM { 2 } else { T::PER_REGISTER };

    /// Returns the fragment whose elements are zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::from_registers(T::Registers::default())
    }

    /// Returns the fragment with these registers of the calling lane.
    #[inline(always)]
    pub const fn from_registers(registers: T::Registers) -> Self {
        Self { registers, side: PhantomData }
    }

    /// Returns the registers of the calling lane.
    #[inline(always)]
    pub const fn registers(self) -> T::Registers {
        self.registers
    }

    /// Returns the row of element `i` (below [`LEN`](Self::LEN)) of `lane` (below 32).
    #[inline(always)]
    pub fn row(lane: usize, i: usize) -> usize {
        position::<S>(lane, i, ROWS, Self::PER_BLOCK).0
    }

    /// Returns the column of element `i` (below [`LEN`](Self::LEN)) of `lane` (below 32).
    #[inline(always)]
    pub fn column(lane: usize, i: usize) -> usize {
        position::<S>(lane, i, ROWS, Self::PER_BLOCK).1
    }

    /// Returns the calling lane's element `i`, which must be below [`LEN`](Self::LEN).
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, i: usize) -> T {
        T::extract(self.registers.as_ref()[i / T::PER_REGISTER], i % T::PER_REGISTER)
    }

    /// Returns the fragment with the elements that `element` returns for each row and column.
    #[inline(always)]
    #[track_caller]
    pub fn from_fn(mut element: impl FnMut(usize, usize) -> T) -> Self {
        let lane = crate::warp::lane_id() as usize;
        let mut registers = T::Registers::default();
        each_register!(R in Self::LEN / T::PER_REGISTER => {
            let mut register = T::Register::default();
            for at in 0..T::PER_REGISTER {
                let (row, column) = position::<S>(lane, R * T::PER_REGISTER + at, ROWS, Self::PER_BLOCK);
                register = element(row, column).insert(register, at);
            }
            registers.as_mut()[R] = register;
        });
        Self::from_registers(registers)
    }

    /// Calls `see` with row, column and value of each element of the calling lane.
    #[inline(always)]
    #[track_caller]
    pub fn for_each(&self, mut see: impl FnMut(usize, usize, T)) {
        let lane = crate::warp::lane_id() as usize;
        each_register!(R in Self::LEN / T::PER_REGISTER => {
            let register = self.registers.as_ref()[R];
            for at in 0..T::PER_REGISTER {
                let (row, column) = position::<S>(lane, R * T::PER_REGISTER + at, ROWS, Self::PER_BLOCK);
                see(row, column, T::extract(register, at));
            }
        });
    }

    /// Loads the elements of `matrix` from `row` and `column` on, element by element.
    #[inline(always)]
    #[track_caller]
    pub fn load<L: Layout<View: Elements<T>>>(matrix: L, row: usize, column: usize) -> Self {
        let lane = crate::warp::lane_id() as usize;
        let mut registers = T::Registers::default();
        each_register!(R in Self::LEN / T::PER_REGISTER => {
            let mut register = T::Register::default();
            for at in 0..T::PER_REGISTER {
                let (down, right) = position::<S>(lane, R * T::PER_REGISTER + at, ROWS, Self::PER_BLOCK);
                let element = matrix.view().load(matrix.index(row + down, column + right));
                register = element.insert(register, at);
            }
            registers.as_mut()[R] = register;
        });
        Self::from_registers(registers)
    }

    /// Stores the elements to `matrix` from `row` and `column` on, element by element.
    #[inline(always)]
    #[track_caller]
    pub fn store<L: Layout<View: ElementsMut<T>>>(&self, matrix: L, row: usize, column: usize) {
        let lane = crate::warp::lane_id() as usize;
        each_register!(R in Self::LEN / T::PER_REGISTER => {
            let register = self.registers.as_ref()[R];
            for at in 0..T::PER_REGISTER {
                let (down, right) = position::<S>(lane, R * T::PER_REGISTER + at, ROWS, Self::PER_BLOCK);
                matrix.view().store(matrix.index(row + down, column + right), T::extract(register, at));
            }
        });
    }
}

/// Ends the kernel with an error in PTX for an architecture before sm_80, which lacks most of the products and
/// asynchronous copies. At the start of a kernel, this keeps the rest of it out of such PTX.
#[inline(always)]
pub fn require() {
    crate::backend::require_products();
}

/// An element type of A that `mma.sync` multiplies by a B with elements of type `U`, into sums of type `V`.
#[diagnostic::on_unimplemented(
    message = "`mma.sync` has no product of `{Self}` and `{U}` into `{V}` with the shape {M}, {N}, {K}",
    note = "the table in `cuda_std::tensor::mma` lists the products"
)]
pub trait Product<U: Tile<K, N>, V: Tile<M, N>, const M: usize, const N: usize, const K: usize>: Tile<M, K> {
    /// Executes the instruction on the registers of the calling lane.
    #[doc(hidden)]
    #[track_caller]
    fn multiply_add(
        a: <Self as Tile<M, K>>::Registers,
        b: <U as Tile<K, N>>::Registers,
        c: <V as Tile<M, N>>::Registers,
    ) -> <V as Tile<M, N>>::Registers;
}

impl<T: Tile<M, K>, const M: usize, const K: usize> Fragment<A, T, M, K> {
    /// Returns `self`·`b` + `c` (`mma.sync`). All 32 lanes of the warp must call this method together.
    #[doc(alias = "mma")]
    #[doc(alias = "mma_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn multiply_add<U: Tile<K, N>, V: Tile<M, N>, const N: usize>(
        self,
        b: Fragment<B, U, K, N>,
        c: Accumulator<V, M, N>,
    ) -> Accumulator<V, M, N>
    where
        T: Product<U, V, M, N, K>,
    {
        Fragment::from_registers(T::multiply_add(self.registers, b.registers, c.registers))
    }
}

macro_rules! narrowing {
    ($($name:ident $type:ident $pair:ident)*) => {$(
        #[doc = concat!("Rounds the sums to `", stringify!($type), "`.")]
        #[inline(always)]
        pub fn $name(self) -> Accumulator<$type, 16, 8> {
            let [a, b, c, d] = self.registers;
            Fragment::from_registers([$pair::from_f32(a, b).to_bits(), $pair::from_f32(c, d).to_bits()])
        }
    )*};
}

impl Accumulator<f32, 16, 8> {
    narrowing! { to_f16 f16 f16x2 to_bf16 bf16 bf16x2 }
}
