//! The operations of reductions by bulk copies, and the types for which the hardware has them.

use crate::{Element, bf16, f16};

/// The types of elements that a bulk reduction distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

/// A number that bulk reductions can combine.
pub trait BulkNumber: Element {
    /// The type of the number.
    const TYPE: NumberType;
}

macro_rules! numbers {
    ($($type:ident $kind:ident)*) => {$(
        impl BulkNumber for $type {
            const TYPE: NumberType = NumberType::$kind;
        }
    )*};
}

numbers! { u32 U32 i32 I32 u64 U64 i64 I64 f16 F16 bf16 Bf16 f32 F32 f64 F64 }

/// The operations of bulk reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionKind {
    /// A sum.
    Add,
    /// The smaller number.
    Min,
    /// The larger number.
    Max,
    /// A conjunction of bits.
    And,
    /// A disjunction of bits.
    Or,
    /// An exclusive disjunction of bits.
    Xor,
}

/// An operation that the hardware has for elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "a bulk reduction cannot combine elements of type `{T}` by `{Self}`",
    note = "`Add` takes integers and floats, `Min` and `Max` integers, `f16` and `bf16`, and the others integers"
)]
pub trait Reduction<T>: Copy {
    /// The operation.
    const KIND: ReductionKind;

    /// Returns the result for an element in memory and an element of the copy.
    fn combine(memory: T, copied: T) -> T;
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident) = $result:expr, $($type:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        $(impl Reduction<$type> for $name {
            const KIND: ReductionKind = ReductionKind::$name;

            #[inline]
            fn combine($a: $type, $b: $type) -> $type {
                $result
            }
        })*
    )*};
}

/// Adds two numbers. Integers wrap around.
trait Sum: Sized {
    fn sum(self, other: Self) -> Self;
}

macro_rules! sums {
    ($($type:ident = |$a:ident, $b:ident| $sum:expr;)*) => {$(
        impl Sum for $type {
            #[inline]
            fn sum(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        }
    )*};
}

sums! {
    u32 = |a, b| a.wrapping_add(b);
    i32 = |a, b| a.wrapping_add(b);
    u64 = |a, b| a.wrapping_add(b);
    i64 = |a, b| a.wrapping_add(b);
    f16 = |a, b| a + b;
    bf16 = |a, b| a + b;
    f32 = |a, b| a + b;
    f64 = |a, b| a + b;
}

reductions! {
    /// The sum of two numbers. Integers wrap around.
    Add(a, b) = a.sum(b), u32 i32 u64 i64 f16 bf16 f32 f64;
    /// The smaller of two numbers.
    Min(a, b) = a.min(b), u32 i32 u64 i64 f16 bf16;
    /// The larger of two numbers.
    Max(a, b) = a.max(b), u32 i32 u64 i64 f16 bf16;
    /// The conjunction of the bits of two numbers.
    And(a, b) = a & b, u32 i32 u64 i64;
    /// The disjunction of the bits of two numbers.
    Or(a, b) = a | b, u32 i32 u64 i64;
    /// The exclusive disjunction of the bits of two numbers.
    Xor(a, b) = a ^ b, u32 i32 u64 i64;
}
