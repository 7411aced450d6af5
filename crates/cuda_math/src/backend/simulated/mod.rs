//! The host back end: operations of std that return the same bits as the GPU's operations.

extern crate std;

use core::ops::{BitAnd, BitOr};

mod double;
pub mod single;

pub use double::*;

pub fn fma_f32(x: f32, a: f32, b: f32) -> f32 {
    x.mul_add(a, b)
}

pub fn fma_f64(x: f64, a: f64, b: f64) -> f64 {
    x.mul_add(a, b)
}

macro_rules! extremes {
    ($($name:ident $type:ident $inherent:ident $zero:ident;)*) => {$(
        #[inline]
        pub fn $name(a: $type, b: $type) -> $type {
            // Rust does not specify which zero is the minimum.
            if a == 0.0 && b == 0.0 {
                $type::from_bits(a.to_bits().$zero(b.to_bits()))
            } else {
                a.$inherent(b)
            }
        }
    )*};
}

extremes! {
    minimum_number_f32 f32 min bitor;
    maximum_number_f32 f32 max bitand;
    minimum_number_f64 f64 min bitor;
    maximum_number_f64 f64 max bitand;
}

pub fn sqrt_f32(x: f32) -> f32 {
    x.sqrt()
}

pub fn sqrt_f64(x: f64) -> f64 {
    x.sqrt()
}
