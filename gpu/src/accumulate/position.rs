//! [`ArgMin`] and [`ArgMax`]: the first position of the least or greatest element.
//!
//! # Design
//!
//! The *rank* of an element is an unsigned integer. The element with the least rank is the result, and NaN has the
//! greatest rank. Two candidates of equal rank are compared by their indices, so the result does not depend on the
//! order of the combinations.
//!
//! A thread first finds the best element of a vector by a number of a few bits, and then compares it with its best
//! element so far. The 64-bit index is therefore computed once per vector. A rank of at most 16 bits is in one word
//! with the position, so that one minimum per element is enough.

use cuda_std::{DeviceCopy, Element, Pod, Zeroable, bf16, f16};

use super::Accumulate;
use crate::operator::Operator;

/// The first position of the least element, and the element. NaN is skipped, and −0 is less than +0, as for
/// [`Min`](crate::operator::Min). There is no position if all elements are NaN, or if there are no elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgMin;

/// The first position of the greatest element, and the element. NaN is skipped, and +0 is greater than −0, as for
/// [`Max`](crate::operator::Max). There is no position if all elements are NaN, or if there are no elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgMax;

/// An element and its index in the input: the result of [`ArgMin`] and [`ArgMax`].
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Indexed<T> {
    /// The index of the element, or [`NONE`](Self::NONE).
    pub index: u64,
    /// The element, or zero if there is none.
    pub value: T,
}

// SAFETY: the bytes of zeros are an index and a value, which is `Zeroable`.
unsafe impl<T: Zeroable> Zeroable for Indexed<T> {}

impl<T> Indexed<T> {
    /// The index of the result if there is no element, or if all elements are NaN.
    pub const NONE: u64 = u64::MAX;

    /// Returns the element with its index, or `None` if the index is [`NONE`](Self::NONE).
    pub fn found(self) -> Option<Self> {
        if self.index == Self::NONE { None } else { Some(self) }
    }
}

/// An unsigned integer that orders elements.
pub trait Rank: Element + Ord {
    /// The greatest rank.
    const MAX: Self;
}

impl Rank for u32 {
    const MAX: Self = Self::MAX;
}

impl Rank for u64 {
    const MAX: Self = Self::MAX;
}

/// A number type whose least or greatest element has a position.
pub trait Ranked: Element {
    /// The type of the ranks.
    type Rank: Rank;

    /// The rank of NaN, which is greater than the rank of every number; `None` for integers.
    const NAN: Option<Self::Rank>;

    /// Returns the rank of the number. A greater number has a greater rank, or a lesser one if `DESCENDING` is true.
    fn rank<const DESCENDING: bool>(self) -> Self::Rank;

    /// Returns the number of this rank.
    fn of_rank<const DESCENDING: bool>(rank: Self::Rank) -> Self;

    /// Returns the least rank of the elements of `row`, and the first position of it.
    #[inline(always)]
    fn first<const V: usize, const DESCENDING: bool>(row: [Self; V]) -> (Self::Rank, u32) {
        let mut best = (row[0].rank::<DESCENDING>(), 0);
        for v in 1..V {
            let rank = row[v].rank::<DESCENDING>();
            if rank < best.0 {
                best = (rank, v as u32);
            }
        }
        best
    }
}

/// Implements [`Ranked::first`] for ranks of at most 16 bits.
macro_rules! narrow {
    () => {
        #[inline(always)]
        fn first<const V: usize, const DESCENDING: bool>(row: [Self; V]) -> (u32, u32) {
            let mut best = u32::MAX;
            for v in 0..V {
                best = best.min(row[v].rank::<DESCENDING>() << 8 | v as u32);
            }
            (best >> 8, best & 0xFF)
        }
    };
}

macro_rules! integers {
    ($($type:ident $bits:ident $rank:ident $least:expr $(, $narrow:ident)?;)*) => {$(
        impl Ranked for $type {
            type Rank = $rank;
            const NAN: Option<$rank> = None;

            #[inline(always)]
            fn rank<const DESCENDING: bool>(self) -> $rank {
                let flip = if DESCENDING { !($least as $bits) } else { $least as $bits };
                (self as $bits ^ flip) as $rank
            }

            #[inline(always)]
            fn of_rank<const DESCENDING: bool>(rank: $rank) -> Self {
                let flip = if DESCENDING { !($least as $bits) } else { $least as $bits };
                (rank as $bits ^ flip) as $type
            }

            $($narrow! {})?
        }
    )*};
}

integers! {
    i8 u8 u32 i8::MIN, narrow;
    u8 u8 u32 u8::MIN, narrow;
    i32 u32 u32 i32::MIN;
    u32 u32 u32 u32::MIN;
    i64 u64 u64 i64::MIN;
    u64 u64 u64 u64::MIN;
}

macro_rules! floats {
    ($($type:ident $bits:ident $signed:ident $rank:ident $(, $narrow:ident)?;)*) => {$(
        impl Ranked for $type {
            type Rank = $rank;
            const NAN: Option<$rank> = Some($bits::MAX as $rank);

            #[inline(always)]
            fn rank<const DESCENDING: bool>(self) -> $rank {
                // The bits of a negative float decrease while the float increases.
                let bits = self.to_bits();
                let negative = (bits as $signed >> ($bits::BITS - 1)) as $bits;
                let flip = negative | 1 << ($bits::BITS - 1);
                let rank = bits ^ if DESCENDING { !flip } else { flip };
                if self.is_nan() { $bits::MAX as $rank } else { rank as $rank }
            }

            #[inline(always)]
            fn of_rank<const DESCENDING: bool>(rank: $rank) -> Self {
                let rank = if DESCENDING { !(rank as $bits) } else { rank as $bits };
                let is_positive = rank >> ($bits::BITS - 1) == 1;
                Self::from_bits(if is_positive { rank ^ 1 << ($bits::BITS - 1) } else { !rank })
            }

            $($narrow! {})?
        }
    )*};
}

floats! {
    f16 u16 i16 u32, narrow;
    bf16 u16 i16 u32, narrow;
    f32 u32 i32 u32;
    f64 u64 i64 u64;
}

/// The best element of a part of the input, by its rank and its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Candidate<R> {
    rank: R,
    /// The lower and the upper half of the index, so that the type has no padding.
    index: [u32; 2],
}

macro_rules! plain {
    ($($rank:ident)*) => {$(
        // SAFETY: all-zero bits are a valid rank and index.
        unsafe impl Zeroable for Candidate<$rank> {}
        // SAFETY: the fields have no invalid bits, and there is no padding, because the size of a rank is a multiple of
        // its alignment and the index has 8 bytes.
        unsafe impl Pod for Candidate<$rank> {}
        // SAFETY: the type is `Pod` and has no addresses.
        unsafe impl DeviceCopy for Candidate<$rank> {}
    )*};
}

plain! { u32 u64 }

impl<R: Rank> Candidate<R> {
    #[inline(always)]
    fn new(rank: R, index: u64) -> Self {
        Self { rank, index: [index as u32, (index >> 32) as u32] }
    }

    #[inline(always)]
    fn index(self) -> u64 {
        self.index[0] as u64 | (self.index[1] as u64) << 32
    }
}

/// Selects the candidate with the least rank, and of equal ranks the one with the least index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct First;

impl<R: Rank> Operator<Candidate<R>> for First
where
    Candidate<R>: Element,
{
    const IDENTITY: Candidate<R> = Candidate { rank: R::MAX, index: [u32::MAX; 2] };
    const COMMUTATIVE: bool = true;
    #[inline(always)]
    fn combine(a: Candidate<R>, b: Candidate<R>) -> Candidate<R> {
        let is_first = b.rank < a.rank || (b.rank == a.rank && b.index() < a.index());
        if is_first { b } else { a }
    }
}

macro_rules! positions {
    ($($reduction:ident $descending:literal)*) => {$(
        impl<T: Ranked> Accumulate<T> for $reduction
        where
            Candidate<T::Rank>: Element,
            T: DeviceCopy + Zeroable,
        {
            type Value = Candidate<T::Rank>;
            type Combine = First;
            type Output = Indexed<T>;

            #[inline(always)]
            fn append<const V: usize>(all: Self::Value, row: [T; V], index: u64) -> Self::Value {
                let (rank, position) = T::first::<V, $descending>(row);
                if rank < all.rank { Candidate::new(rank, index + position as u64) } else { all }
            }

            #[inline(always)]
            fn lower(all: Self::Value, elements: u64) -> Indexed<T> {
                if elements == 0 || T::NAN == Some(all.rank) {
                    return Indexed { index: Indexed::<T>::NONE, value: T::zeroed() };
                }
                // `append` takes no element of the greatest rank. All elements have it if there is no index.
                let index = if all.index() == u64::MAX { 0 } else { all.index() };
                Indexed { index, value: T::of_rank::<$descending>(all.rank) }
            }
        }
    )*};
}

positions! { ArgMin false ArgMax true }
