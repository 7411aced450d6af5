//! Associative operators, for reduce and scan.

use core::marker::PhantomData;

use cuda_std::{DeviceCopy, Element, GpuFloat};

/// An associative operation on `T` with an identity: a monoid.
///
/// `combine(a, combine(b, c)) = combine(combine(a, b), c)` and `combine(IDENTITY, a) = combine(a, IDENTITY) = a`; for a
/// float's sum and product as far as rounding allows. It need not be commutative where [`COMMUTATIVE`](Self::COMMUTATIVE)
/// is false: `a` always stands before `b`.
pub trait Operator<T>: Copy + Send + Sync + 'static {
    /// What changes nothing.
    const IDENTITY: T;

    /// Whether `combine(a, b) = combine(b, a)`.
    const COMMUTATIVE: bool;

    /// Whether GPUs have an instruction that combines three operands.
    const IS_TERNARY: bool = false;

    /// `a` and `b` in one.
    fn combine(a: T, b: T) -> T;
}

/// `O` with its operands exchanged: what comes first is the right operand.
#[derive(Clone, Copy)]
pub struct Reversed<O>(PhantomData<O>);

impl<T, O: Operator<T>> Operator<T> for Reversed<O> {
    const IDENTITY: T = O::IDENTITY;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        O::combine(b, a)
    }
}

/// `a + b`. Integers wrap. A float's sum starts from +0: nothing sums to +0, and −0 alone to one of both zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum;

/// `a · b`. Integers wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product;

/// The lesser of both. A NaN gives way to any number, as in `iter().copied().fold(f32::INFINITY, f32::min)`: the minimum
/// of no number, or of NaNs alone, is +∞. −0 is less than +0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Min;

/// The greater of both. A NaN gives way to any number: the maximum of no number, or of NaNs alone, is −∞. +0 is greater
/// than −0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Max;

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Operator<$type> for Sum {
            const IDENTITY: $type = 0;
            const COMMUTATIVE: bool = true;
            const IS_TERNARY: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.wrapping_add(b)
            }
        }

        impl Operator<$type> for Product {
            const IDENTITY: $type = 1;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.wrapping_mul(b)
            }
        }

        impl Operator<$type> for Min {
            const IDENTITY: $type = $type::MAX;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.min(b)
            }
        }

        impl Operator<$type> for Max {
            const IDENTITY: $type = $type::MIN;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.max(b)
            }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Operator<$type> for Sum {
            // −0 would change no element at all, and is what nobody expects of an empty sum.
            const IDENTITY: $type = 0.0;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a + b
            }
        }

        impl Operator<$type> for Product {
            const IDENTITY: $type = 1.0;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a * b
            }
        }

        impl Operator<$type> for Min {
            const IDENTITY: $type = $type::INFINITY;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.minimum_number(b)
            }
        }

        impl Operator<$type> for Max {
            const IDENTITY: $type = $type::NEG_INFINITY;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $type, b: $type) -> $type {
                a.maximum_number(b)
            }
        }
    )*};
}

integers! { u32 i32 u64 i64 }
floats! { f32 f64 }

/// The map `x ↦ factor·x + offset` on integers modulo 2³²: what [`Compose`] composes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Affine {
    /// What the argument is multiplied by.
    pub factor: u32,
    /// What is added then.
    pub offset: u32,
}

impl Affine {
    /// The map's value at `x`.
    #[inline(always)]
    pub fn apply(self, x: u32) -> u32 {
        self.factor.wrapping_mul(x).wrapping_add(self.offset)
    }
}

const _: fn() = || {
    fn is_element<T: Element>() {}
    is_element::<Affine>();
};

// SAFETY: two `u32`, of which zeros are values.
unsafe impl cuda_std::Zeroable for Affine {}
// SAFETY: two `u32` without padding, of which any bits are values.
unsafe impl cuda_std::Pod for Affine {}

/// Composition, first `a` then `b`: associative and not commutative. A scan with it solves the linear recurrence
/// `x[i + 1] = factor[i]·x[i] + offset[i]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compose;

impl Operator<Affine> for Compose {
    const IDENTITY: Affine = Affine { factor: 1, offset: 0 };
    const COMMUTATIVE: bool = false;
    #[inline(always)]
    fn combine(a: Affine, b: Affine) -> Affine {
        Affine { factor: b.factor.wrapping_mul(a.factor), offset: b.apply(a.offset) }
    }
}
