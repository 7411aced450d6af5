//! What the command reduces: random numbers, for a product such that neither overflows nor vanishes.

use crate::inputs::Inputs;
use crate::numbers::{Number, OperatorName};

/// A number that a product of many is made of.
pub trait Factor: Number {
    /// One of `n` factors, of 64 random bits: of floats 1 + u/√n with u in −1..1, so that the product is of the order of 1;
    /// of integers an odd one, so that the product modulo 2^w depends on every bit of each.
    fn factor(bits: u64, n: usize) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Factor for $type {
            fn factor(bits: u64, _n: usize) -> Self {
                Self::from_random(bits) | 1
            }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Factor for $type {
            fn factor(bits: u64, n: usize) -> Self {
                1.0 + Self::from_random(bits) / (n as Self).sqrt()
            }
        }
    )*};
}

integers! { i32 u32 i64 u64 }
floats! { f32 f64 }

/// Element `index` of `n` to reduce with the operator.
pub fn element<T: Factor>(operator: OperatorName, inputs: Inputs<T>, n: usize, index: usize) -> T {
    match operator {
        OperatorName::Product => T::factor(inputs.bits(index), n),
        OperatorName::Sum | OperatorName::Min | OperatorName::Max => inputs.element(index),
    }
}
