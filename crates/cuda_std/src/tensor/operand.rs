//! The element types of fragments, and the registers that hold a fragment.

use crate::{DeviceCopy, Element, backend, bf16, e4m3, e5m2, f16};

/// A 32-bit float of which tensor cores use the upper 19 bits: 8 for the exponent and 10 for the fraction. The range is
/// that of `f32`, and the precision that of [`f16`](struct@f16).
#[allow(non_camel_case_types, reason = "as Rust names its own floats")]
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct tf32(f32);

// SAFETY: the type is a number, and every bit pattern is valid.
unsafe impl bytemuck::Zeroable for tf32 {}
// SAFETY: the type is a number, and every bit pattern is valid.
unsafe impl bytemuck::Pod for tf32 {}
// SAFETY: the type is a number, and every bit pattern is valid.
unsafe impl DeviceCopy for tf32 {}

impl tf32 {
    /// Returns the number nearest to `value`. Of two equally near numbers, returns the one with the larger magnitude
    /// (`cvt.rna.tf32.f32`).
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        Self(backend::round_to_tf32(value))
    }

    /// Converts to `f32` without rounding.
    #[inline(always)]
    pub const fn to_f32(self) -> f32 {
        self.0
    }
}

/// Returns `value`, rounded to the nearest number of `tf32`, for devices without an instruction for this.
#[inline(always)]
#[allow(dead_code, reason = "GPUs from sm_80 on have an instruction")]
pub(crate) fn round_to_tf32(value: f32) -> f32 {
    // The bits of a NaN may all be in the lower part.
    if value.is_nan() { f32::NAN } else { f32::from_bits((value.to_bits() + 0x1000) & !0x1FFF) }
}

impl From<tf32> for f32 {
    #[inline(always)]
    fn from(value: tf32) -> Self {
        value.0
    }
}

/// An element type of fragments.
pub trait Operand: Element {
    /// The type of a register with such elements.
    type Register: Element + Default;

    /// The number of elements of a register.
    const PER_REGISTER: usize = size_of::<Self::Register>() / size_of::<Self>();

    /// Returns `register`, whose element `at` is zero, with `self` as element `at`.
    fn insert(self, register: Self::Register, at: usize) -> Self::Register;

    /// Returns element `at` of `register`.
    fn extract(register: Self::Register, at: usize) -> Self;
}

macro_rules! packed {
    ($($bits:ident: $($type:ident)*;)*) => {$($(
        impl Operand for $type {
            type Register = u32;

            #[inline(always)]
            fn insert(self, register: u32, at: usize) -> u32 {
                register | u32::from(bytemuck::cast::<_, $bits>(self)) << (at as u32 * $bits::BITS)
            }

            #[inline(always)]
            fn extract(register: u32, at: usize) -> Self {
                bytemuck::cast((register >> (at as u32 * $bits::BITS)) as $bits)
            }
        }
    )*)*};
}

macro_rules! whole {
    ($($type:ident)*) => {$(
        impl Operand for $type {
            type Register = Self;

            #[inline(always)]
            fn insert(self, _: Self, _: usize) -> Self {
                self
            }

            #[inline(always)]
            fn extract(register: Self, _: usize) -> Self {
                register
            }
        }
    )*};
}

packed! {
    u8: i8 u8 e4m3 e5m2;
    u16: f16 bf16;
    u32: tf32;
}
whole! { f32 f64 i32 }

/// An element type that has fragments of `ROWS` × `COLUMNS` elements.
#[diagnostic::on_unimplemented(
    message = "`mma.sync` has no matrices of {ROWS} × {COLUMNS} elements of type `{Self}`",
    note = "the table in `cuda_std::tensor::mma` lists the shapes"
)]
pub trait Tile<const ROWS: usize, const COLUMNS: usize>: Operand {
    /// A lane's registers of a fragment: an array.
    type Registers: Element + Default + AsRef<[Self::Register]> + AsMut<[Self::Register]>;

    /// The number of a lane's elements.
    const LEN: usize = ROWS * COLUMNS / 32;
}

macro_rules! tiles {
    ($($($type:ident)*: $($rows:literal $columns:literal)*;)*) => {
        $(tiles! { @ [$($type)*] $([$rows $columns])* })*
    };
    (@ [$($type:ident)*] $shapes:tt $($more:tt)*) => {
        $(tiles! { @one $type $shapes })*
        tiles! { @ [$($type)*] $($more)* }
    };
    (@ [$($type:ident)*]) => {};
    (@one $type:ident [$rows:literal $columns:literal]) => {
        impl Tile<$rows, $columns> for $type {
            type Registers = [Self::Register; $rows * $columns / 32 / Self::PER_REGISTER];
        }
    };
}

tiles! {
    f16 bf16: 16 8  16 16  8 8;
    tf32: 16 4  16 8  4 8  8 8;
    f64: 8 4  4 8  8 8  16 4  16 8  16 16;
    i8 u8: 8 16  16 8  16 16  16 32  32 8;
    e4m3 e5m2: 16 32  32 8;
    f32: 16 8;
    i32: 8 8  16 8;
}
