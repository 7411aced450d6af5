//! 8-bit floats, and vectors of two and four of them.
//!
//! `e4m3` has 4 bits for the exponent and 3 for the fraction, its maximum is 448, and it has no infinity. `e5m2` is the
//! upper half of an [`f16`](struct@crate::f16), and its maximum is 57344. Tensor cores multiply them; other arithmetic
//! needs a conversion. A conversion from `f32` rounds to the nearest number, and saturates: numbers beyond the maximum,
//! and infinities, become the maximum with their sign (`cvt.rn.satfinite`). The results have the same bits on every
//! device. From sm_89 on, a conversion of two numbers is one instruction.

use core::cmp::Ordering;
use core::fmt;

use crate::print::{Kind, PrintArgument};
use crate::{DeviceCopy, backend, f16};

macro_rules! plain {
    ($($type:ident)*) => {$(
        // SAFETY: the type is an integer without padding, and every bit pattern is valid.
        unsafe impl bytemuck::Zeroable for $type {}
        // SAFETY: the type is an integer without padding, and every bit pattern is valid.
        unsafe impl bytemuck::Pod for $type {}
        // SAFETY: the type is an integer without padding, and every bit pattern is valid.
        unsafe impl DeviceCopy for $type {}
    )*};
}

macro_rules! vector {
    ($vector:ident $type:ident $bits:ident $n:literal $what:literal) => {
        #[doc = $what]
        #[allow(non_camel_case_types, reason = "as Rust names its own floats")]
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(transparent)]
        pub struct $vector($bits);

        impl $vector {
            /// Returns the vector with these bits. The first number has the lowest bits.
            #[inline(always)]
            pub const fn from_bits(bits: $bits) -> Self {
                Self(bits)
            }

            /// Returns the bits of the vector.
            #[inline(always)]
            pub const fn to_bits(self) -> $bits {
                self.0
            }

            /// Returns the vector of these numbers.
            #[inline(always)]
            pub const fn new(numbers: [$type; $n]) -> Self {
                let (mut bits, mut i) = (0, 0);
                while i < $n {
                    bits |= (numbers[i].to_bits() as $bits) << (8 * i);
                    i += 1;
                }
                Self(bits)
            }

            /// Returns the numbers of the vector.
            #[inline(always)]
            pub const fn to_array(self) -> [$type; $n] {
                let (mut numbers, mut i) = ([$type::ZERO; $n], 0);
                while i < $n {
                    numbers[i] = $type::from_bits((self.0 >> (8 * i)) as u8);
                    i += 1;
                }
                numbers
            }
        }
    };
}

macro_rules! format {
    ($type:ident $pair:ident $quad:ident $what:literal $pair_what:literal $quad_what:literal
        $from_f32:ident $to_f16x2:ident $one:literal $max:literal $normal:literal $epsilon:literal $nan:literal) => {
        #[doc = $what]
        #[allow(non_camel_case_types, reason = "as Rust names its own floats")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $type(u8);

        plain! { $type $pair $quad }
        vector! { $pair $type u16 2 $pair_what }
        vector! { $quad $type u32 4 $quad_what }

        impl $type {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($one);
            /// The largest finite number.
            pub const MAX: Self = Self($max);
            /// The smallest positive normal number.
            pub const MIN_POSITIVE: Self = Self($normal);
            /// The difference between 1 and the next larger number.
            pub const EPSILON: Self = Self($epsilon);
            /// The NaN that conversions return.
            pub const NAN: Self = Self(0x7F);

            /// Returns the number with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Returns the bits of the number.
            #[inline(always)]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Returns the number nearest to `value`, at most [`MAX`](Self::MAX) in magnitude.
            #[inline(always)]
            pub fn from_f32(value: f32) -> Self {
                Self(backend::$from_f32(value, 0.0) as u8)
            }

            /// Converts to `f32` without rounding.
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                f16::from_bits(backend::$to_f16x2(self.0.into()) as u16).to_f32()
            }

            /// Returns true if the number is NaN.
            #[inline(always)]
            pub const fn is_nan(self) -> bool {
                self.0 & 0x7F >= $nan
            }
        }

        impl PartialEq for $type {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $type {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$type> for f32 {
            #[inline(always)]
            fn from(value: $type) -> Self {
                value.to_f32()
            }
        }

        impl PrintArgument for $type {
            const KIND: Kind = Kind::Float;
            type Kept = u64;

            #[inline(always)]
            fn keep(self) -> u64 {
                f64::from(self.to_f32()).to_bits()
            }

            #[inline(always)]
            fn word(kept: &u64) -> u64 {
                *kept
            }
        }

        impl $pair {
            /// Returns the pair of the numbers nearest to `low` and `high`, as [`from_f32`] of the single type.
            ///
            #[doc = concat!("[`from_f32`]: ", stringify!($type), "::from_f32")]
            #[inline(always)]
            pub fn from_f32(low: f32, high: f32) -> Self {
                Self(backend::$from_f32(low, high))
            }

            /// Converts both numbers to `f32` without rounding.
            #[inline(always)]
            pub fn to_f32(self) -> [f32; 2] {
                self.to_f16x2().to_f32()
            }

            /// Converts both numbers to `f16` without rounding.
            #[inline(always)]
            pub fn to_f16x2(self) -> crate::f16x2 {
                crate::f16x2::from_bits(backend::$to_f16x2(self.0))
            }
        }

        impl $quad {
            /// Returns the vector of the numbers nearest to these, as two conversions of pairs.
            #[inline(always)]
            pub fn from_f32(numbers: [f32; 4]) -> Self {
                let [a, b, c, d] = numbers;
                let (low, high) = ($pair::from_f32(a, b), $pair::from_f32(c, d));
                Self(u32::from(low.0) | u32::from(high.0) << 16)
            }

            /// Converts the numbers to `f32` without rounding.
            #[inline(always)]
            pub fn to_f32(self) -> [f32; 4] {
                let ([a, b], [c, d]) = ($pair(self.0 as u16).to_f32(), $pair((self.0 >> 16) as u16).to_f32());
                [a, b, c, d]
            }
        }
    };
}

format! {
    e4m3 e4m3x2 e4m3x4 "An 8-bit float with 4 bits for the exponent and 3 for the fraction: at most 448, no infinity."
    "Two numbers of [`e4m3`]." "Four numbers of [`e4m3`]." e4m3x2_from_f32 e4m3x2_to_f16x2
    0x38 0x7E 0x08 0x20 0x7F
}
format! {
    e5m2 e5m2x2 e5m2x4 "An 8-bit float with 5 bits for the exponent and 2 for the fraction: at most 57344."
    "Two numbers of [`e5m2`]." "Four numbers of [`e5m2`]." e5m2x2_from_f32 e5m2x2_to_f16x2
    0x3C 0x7B 0x04 0x34 0x7D
}

impl e5m2 {
    /// Infinity. No conversion returns it.
    pub const INFINITY: Self = Self(0x7C);
}

/// The conversions in software: for the simulator, and for GPUs before sm_89.
#[allow(dead_code, reason = "GPUs from sm_89 on have instructions")]
#[doc(hidden)]
pub(crate) mod software {
    use crate::f16;
    use crate::half::rounding::{E4M3, E5M2, Format};

    #[inline]
    fn saturating(format: Format, max: u8, value: f32) -> u8 {
        let magnitude = format.magnitude(value as f64).min(max as u64) as u8;
        let sign = (value.to_bits() >> 24) as u8 & 0x80;
        if value.is_nan() { 0x7F } else { sign | magnitude }
    }

    #[inline]
    pub fn e4m3x2_from_f32(low: f32, high: f32) -> u16 {
        u16::from_le_bytes([low, high].map(|value| saturating(E4M3, 0x7E, value)))
    }

    #[inline]
    pub fn e5m2x2_from_f32(low: f32, high: f32) -> u16 {
        u16::from_le_bytes([low, high].map(|value| saturating(E5M2, 0x7B, value)))
    }

    /// Returns an `f16` with the bits of the `e4m3` in place. Its exponent's bias is larger by 8, which a product
    /// corrects without rounding.
    #[inline]
    fn from_e4m3(bits: u8) -> u16 {
        if bits & 0x7F == 0x7F {
            return f16::NAN.to_bits();
        }
        let placed = (bits as u16 & 0x80) << 8 | (bits as u16 & 0x7F) << 7;
        (f16::from_bits(placed) * f16::from_bits(0x5C00)).to_bits()
    }

    #[inline]
    pub fn e4m3x2_to_f16x2(pair: u16) -> u32 {
        from_e4m3(pair as u8) as u32 | (from_e4m3((pair >> 8) as u8) as u32) << 16
    }

    #[inline]
    fn from_e5m2(bits: u8) -> u16 {
        if bits & 0x7F > 0x7C { f16::NAN.to_bits() } else { (bits as u16) << 8 }
    }

    #[inline]
    pub fn e5m2x2_to_f16x2(pair: u16) -> u32 {
        from_e5m2(pair as u8) as u32 | (from_e5m2((pair >> 8) as u8) as u32) << 16
    }
}
