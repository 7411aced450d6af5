//! 16-bit floats in the simulator.

use crate::half::rounding::{BF16, F16, Format};

macro_rules! singles {
    ($($format:ident $add:ident $sub:ident $mul:ident $fma:ident $from_f32:ident $from_f64:ident;)*) => {$(
        #[inline]
        pub fn $add(a: u16, b: u16) -> u16 { $format.add(a, b) }
        #[inline]
        pub fn $sub(a: u16, b: u16) -> u16 { $format.sub(a, b) }
        #[inline]
        pub fn $mul(a: u16, b: u16) -> u16 { $format.mul(a, b) }
        #[inline]
        pub fn $fma(a: u16, b: u16, c: u16) -> u16 { $format.fma(a, b, c) }
        #[inline]
        pub fn $from_f32(value: f32) -> u16 { $format.round(value.into()) }
        #[inline]
        pub fn $from_f64(value: f64) -> u16 { $format.round(value) }
    )*};
}

singles! {
    F16 f16_add f16_sub f16_mul f16_fma f16_from_f32 f16_from_f64;
    BF16 bf16_add bf16_sub bf16_mul bf16_fma bf16_from_f32 bf16_from_f64;
}

#[inline]
pub fn f16_to_f32(bits: u16) -> f32 {
    let value = F16.widen(bits);
    // A GPU does not preserve the bits of a NaN.
    if value.is_nan() { f32::from_bits(0x7FFF_FFFF) } else { value as f32 }
}

#[inline]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

fn of_each<const N: usize>(pairs: [u32; N], f: impl Fn([u16; N]) -> u16) -> u32 {
    u32::from(f(pairs.map(|pair| pair as u16))) | u32::from(f(pairs.map(|pair| (pair >> 16) as u16))) << 16
}

fn fma_of_each(format: Format, a: u32, b: u32, c: u32) -> u32 {
    of_each([a, b, c], |[a, b, c]| format.fma(a, b, c))
}

macro_rules! pairs {
    ($($format:ident $add:ident $sub:ident $mul:ident $fma:ident $from_f32:ident;)*) => {$(
        #[inline]
        pub fn $from_f32(low: f32, high: f32) -> u32 {
            u32::from($format.round(low.into())) | u32::from($format.round(high.into())) << 16
        }
        #[inline]
        pub fn $add(a: u32, b: u32) -> u32 { of_each([a, b], |[a, b]| $format.add(a, b)) }
        #[inline]
        pub fn $sub(a: u32, b: u32) -> u32 { of_each([a, b], |[a, b]| $format.sub(a, b)) }
        #[inline]
        pub fn $mul(a: u32, b: u32) -> u32 { of_each([a, b], |[a, b]| $format.mul(a, b)) }
        #[inline]
        pub fn $fma(a: u32, b: u32, c: u32) -> u32 { fma_of_each($format, a, b, c) }
    )*};
}

pairs! {
    F16 f16x2_add f16x2_sub f16x2_mul f16x2_fma f16x2_from_f32;
    BF16 bf16x2_add bf16x2_sub bf16x2_mul bf16x2_fma bf16x2_from_f32;
}
