//! Reductions whose intermediate values have another type than the elements: sums of 16-bit floats in `f32`, sums of
//! small integers in large ones, and the position of the least or greatest element.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod position;

use cuda_std::{DeviceCopy, Element, Zeroable, bf16, f16};

pub use position::{ArgMax, ArgMin, Candidate, First, Indexed, Rank, Ranked};

use crate::operator::{Max, Min, Operator, Product, Sum};

/// A reduction of elements of type `T` by values of type [`Value`](Self::Value), as thrust's `transform_reduce`.
pub trait Accumulate<T: Element>: Copy + Send + Sync + 'static {
    /// The type of the intermediate values.
    type Value: Element;

    /// The operator that combines intermediate values. It must be commutative.
    type Combine: Operator<Self::Value>;

    /// The type of the result.
    type Output: DeviceCopy + Zeroable;

    /// Returns `all` combined with the elements of `row`. The first element of `row` has the index `index`, and `all`
    /// has no element with a greater index.
    fn append<const V: usize>(all: Self::Value, row: [T; V], index: u64) -> Self::Value;

    /// Converts the combination of all elements to the result. `elements` is the number of elements.
    fn lower(all: Self::Value, elements: u64) -> Self::Output;
}

/// The operator `O` on values of type `A`: each element is first converted to `A`, and the result is an `A`.
///
/// `Widened<Sum, i64>` sums bytes without wrapping. `Widened<Sum, f64>` sums `f32` with the precision of `f64`.
#[derive(Clone, Copy, Debug)]
pub struct Widened<O, A>(core::marker::PhantomData<fn() -> (O, A)>);

/// Implements [`Accumulate`] by an operator on values of another type. `$lift` converts an element to such a value, and
/// `$lower` converts the result back.
macro_rules! by_operators {
    ($($type:ident: $reduction:ty = $operator:ident on $value:ident to $output:ident, $lift:expr, $lower:expr;)*) => {$(
        impl Accumulate<$type> for $reduction {
            type Value = $value;
            type Combine = $operator;
            type Output = $output;

            #[inline(always)]
            fn append<const V: usize>(mut all: $value, row: [$type; V], _: u64) -> $value {
                for v in 0..V {
                    all = <$operator as Operator<$value>>::combine(all, $lift(row[v]));
                }
                all
            }

            #[inline(always)]
            fn lower(all: $value, _: u64) -> $output {
                $lower(all)
            }
        }
    )*};
}

macro_rules! halves {
    ($($type:ident)*) => {by_operators! {$(
        $type: Sum = Sum on f32 to $type, $type::to_f32, $type::from_f32;
        $type: Product = Product on f32 to $type, $type::to_f32, $type::from_f32;
        $type: Min = Min on f32 to $type, $type::to_f32, $type::from_f32;
        $type: Max = Max on f32 to $type, $type::to_f32, $type::from_f32;
        $type: Widened<Sum, f32> = Sum on f32 to f32, $type::to_f32, core::convert::identity;
    )*}};
}

macro_rules! small_integers {
    ($($type:ident)*) => {by_operators! {$(
        // Sums and products modulo 2⁸ follow from those modulo 2³².
        $type: Sum = Sum on u32 to $type, (|x| x as u8 as u32), (|all| all as $type);
        $type: Product = Product on u32 to $type, (|x| x as u8 as u32), (|all| all as $type);
        $type: Min = Min on i32 to $type, (|x| x as i32), saturated::$type;
        $type: Max = Max on i32 to $type, (|x| x as i32), saturated::$type;
    )*}};
}

macro_rules! widened {
    ($($type:ident $value:ident;)*) => {by_operators! {$(
        $type: Widened<Sum, $value> = Sum on $value to $value, (|x| x as $value), core::convert::identity;
    )*}};
}

halves! { f16 bf16 }
small_integers! { i8 u8 }
widened! { i8 i32; i8 i64; u8 u32; u8 u64; i32 i64; u32 u64; f32 f64; }

/// Conversions of a minimum or maximum. That of no elements is the identity of `i32`, which becomes that of the type.
mod saturated {
    #[inline(always)]
    pub fn i8(all: i32) -> i8 {
        all.clamp(i8::MIN as i32, i8::MAX as i32) as i8
    }

    #[inline(always)]
    pub fn u8(all: i32) -> u8 {
        all.clamp(0, u8::MAX as i32) as u8
    }
}
