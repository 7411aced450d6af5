//! What is computed of each segment: [`Segmented`].

use cuda_std::{DeviceCopy, Element, Pod, Zeroable, opaque};

use crate::accumulate::Indexed;
use crate::operator::Operator;
use crate::sort_key::{Encoding, KeyBits};

/// The order of the elements for [`Least`] and [`First`]: by the encoded keys of [`sort`](crate::sort).
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Order {
    /// The greatest encoded number. Greater encoded keys are NaN.
    greatest: u64,
    /// The code of the encoding.
    code: u32,
    unused: u32,
}

impl Order {
    /// The order of operators that do not compare elements.
    pub const NONE: Self = Self { greatest: u64::MAX, code: Encoding::UNSIGNED.code(), unused: 0 };

    /// Returns the order of numbers with this encoding. `greatest` is the encoded number that is last in the order:
    /// infinity, or the last integer.
    pub const fn new(encoding: Encoding, greatest: u64) -> Self {
        Self { greatest, code: encoding.code(), unused: 0 }
    }

    /// Returns the encoding. Its constants are computed where they are used, so that they need no registers between
    /// the first and the last use.
    #[inline(always)]
    fn encoding(self) -> Encoding {
        Encoding::from_code(opaque(self.code))
    }
}

/// A computation on the segments of vectors of `T`.
pub trait Segmented<T: Element>: Copy + Send + Sync + 'static {
    /// The type of the values that are combined.
    type Value: Element;

    /// The operator that combines them. It need not be commutative.
    type Combine: Operator<Self::Value>;

    /// The type of the results.
    type Output: DeviceCopy;

    /// True if the results of a scan are elements of type `T`, and scans are built.
    const SCANS: bool;

    /// Returns the value of element `index`.
    fn value(order: Order, element: T, index: usize) -> Self::Value;

    /// Returns the result of a segment that begins at element `start`, from the combination of its values.
    fn output(order: Order, value: Self::Value, start: usize) -> Self::Output;

    /// Returns the result of a segment without elements.
    fn empty(order: Order) -> Self::Output;

    /// Returns a result of a scan as an element.
    fn element(order: Order, value: Self::Value) -> T;

    /// Returns the first result of an exclusive scan.
    fn identity(order: Order) -> T;
}

/// Implements [`Segmented`](crate::segments::Segmented) by an operator on elements.
#[doc(hidden)]
#[macro_export]
macro_rules! __segmented {
    ($($T:ty, $O:ty;)*) => {$(
        impl $crate::segments::Segmented<$T> for $O {
            type Value = $T;
            type Combine = $O;
            type Output = $T;
            const SCANS: bool = true;

            #[inline(always)]
            fn value(_: $crate::segments::Order, element: $T, _: usize) -> $T {
                element
            }

            #[inline(always)]
            fn output(_: $crate::segments::Order, value: $T, _: usize) -> $T {
                value
            }

            #[inline(always)]
            fn empty(_: $crate::segments::Order) -> $T {
                <$O as $crate::operator::Operator<$T>>::IDENTITY
            }

            #[inline(always)]
            fn element(_: $crate::segments::Order, value: $T) -> $T {
                value
            }

            #[inline(always)]
            fn identity(order: $crate::segments::Order) -> $T {
                <$O as $crate::segments::Segmented<$T>>::empty(order)
            }
        }
    )*};
}

crate::__segmented! {
    u32, crate::operator::Sum;
    u64, crate::operator::Sum;
    f32, crate::operator::Sum;
    f64, crate::operator::Sum;
}

/// The element that is first in the [`Order`]. Both minima and maxima of all numbers of a width share one kernel. NaN
/// counts as the greatest number: it is skipped, and a segment of NaN has the result of a segment without elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Least;

/// The first position of the element that is first in the [`Order`]. There is no position if all elements are NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct First;

/// An encoded element and its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Ranked<K> {
    key: K,
    /// The lower and the upper half of the index, so that the type has no padding.
    index: [u32; 2],
}

impl<K> Ranked<K> {
    #[inline(always)]
    fn index(self) -> u64 {
        u64::from(self.index[1]) << 32 | u64::from(self.index[0])
    }
}

macro_rules! words {
    ($($word:ident)*) => {$(
        // SAFETY: all-zero bits are a number and two `u32`.
        unsafe impl Zeroable for Ranked<$word> {}
        // SAFETY: any bits are a number and two `u32`, and there is no padding.
        unsafe impl Pod for Ranked<$word> {}
        // SAFETY: the type is `Pod` and has no addresses.
        unsafe impl DeviceCopy for Ranked<$word> {}

        impl Operator<$word> for Least {
            const IDENTITY: $word = $word::MAX;
            const COMMUTATIVE: bool = true;
            const IS_SHORT: bool = true;

            #[inline(always)]
            fn combine(a: $word, b: $word) -> $word {
                a.min(b)
            }
        }

        impl Segmented<$word> for Least {
            type Value = $word;
            type Combine = Self;
            type Output = $word;
            const SCANS: bool = true;

            #[inline(always)]
            fn value(order: Order, element: $word, _: usize) -> $word {
                element.encode($word::masks(order.encoding())).min(order.greatest as $word)
            }

            #[inline(always)]
            fn output(order: Order, value: $word, _: usize) -> $word {
                value.decode($word::masks(order.encoding()))
            }

            #[inline(always)]
            fn empty(order: Order) -> $word {
                <Self as Segmented<$word>>::output(order, order.greatest as $word, 0)
            }

            #[inline(always)]
            fn element(order: Order, value: $word) -> $word {
                <Self as Segmented<$word>>::output(order, value, 0)
            }

            #[inline(always)]
            fn identity(order: Order) -> $word {
                <Self as Segmented<$word>>::empty(order)
            }
        }

        impl Operator<Ranked<$word>> for First {
            const IDENTITY: Ranked<$word> = Ranked { key: $word::MAX, index: [u32::MAX; 2] };
            const COMMUTATIVE: bool = false;
            const IS_SHORT: bool = true;

            // `a` has the lesser index.
            #[inline(always)]
            fn combine(a: Ranked<$word>, b: Ranked<$word>) -> Ranked<$word> {
                if b.key < a.key { b } else { a }
            }
        }

        impl Segmented<$word> for First {
            type Value = Ranked<$word>;
            type Combine = Self;
            type Output = Indexed<$word>;
            const SCANS: bool = false;

            #[inline(always)]
            fn value(order: Order, element: $word, index: usize) -> Ranked<$word> {
                let key = element.encode($word::masks(order.encoding()));
                Ranked { key, index: [index as u32, (index as u64 >> 32) as u32] }
            }

            #[inline(always)]
            fn output(order: Order, value: Ranked<$word>, start: usize) -> Indexed<$word> {
                if value.key > order.greatest as $word {
                    return <Self as Segmented<$word>>::empty(order);
                }
                let element = value.key.decode($word::masks(order.encoding()));
                Indexed { index: value.index() - start as u64, value: element }
            }

            #[inline(always)]
            fn empty(_: Order) -> Indexed<$word> {
                Indexed { index: Indexed::<$word>::NONE, value: 0 }
            }

            #[inline(always)]
            fn element(_: Order, _: Ranked<$word>) -> $word {
                0
            }

            #[inline(always)]
            fn identity(_: Order) -> $word {
                0
            }
        }
    )*};
}

words! { u32 u64 }
