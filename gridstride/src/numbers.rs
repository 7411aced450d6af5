//! The element types and operators that have a name on the command line.

use std::fmt;
use std::str::FromStr;

use cuda_std::{ArgumentId, bf16, f16};
use gpu::operator::{Max, Maximum, Min, Minimum, Product, Sum};
use launch::Element;
use units::alternatives;

macro_rules! names {
    ($(#[$attribute:meta])* pub enum $enum:ident: $what:literal { $($variant:ident = $name:literal $type:ty),+ }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
        #[allow(missing_docs)]
        pub enum $enum { $($variant),+ }

        impl $enum {
            /// All values of the type, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name that the command line uses.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns the [`ArgumentId`] of the Rust type that the value names.
            pub const fn id(self) -> ArgumentId {
                match self { $(Self::$variant => ArgumentId::of::<$type>()),+ }
            }

            /// Returns the value whose Rust type has the [`ArgumentId`] `id`, or `None` if there is no such value.
            pub fn of(id: ArgumentId) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.id() == id)
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $enum {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(|| {
                    format!("there is no {} '{text}': use {}", $what, alternatives(&[$($name),+]))
                })
            }
        }
    };
}

names! {
    /// The name of an element type.
    pub enum NumberType: "type" {
        F32 = "f32" f32, F64 = "f64" f64, I32 = "i32" i32, U32 = "u32" u32, I64 = "i64" i64, U64 = "u64" u64,
        U8 = "u8" u8, U16 = "u16" u16, F16 = "f16" f16, Bf16 = "bf16" bf16, I8 = "i8" i8
    }
}

names! {
    /// The name of an operator.
    pub enum OperatorName: "operator" {
        Sum = "sum" Sum, Product = "product" Product, Min = "min" Min, Max = "max" Max,
        Minimum = "minimum" Minimum, Maximum = "maximum" Maximum
    }
}

impl NumberType {
    /// Returns the number of bytes per element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

/// An element type whose values are numbers.
pub trait Number: Element + PartialOrd + fmt::Display + fmt::Debug {
    /// The name of this type.
    const TYPE: NumberType;

    /// The distance from 1 to the next greater float; `None` for an integer type.
    const EPSILON: Option<f64>;

    /// Returns the `f64` that is nearest to this number.
    fn to_f64(self) -> f64;

    /// Converts `value` to the nearest number. A conversion to an integer rounds towards 0.
    fn from_f64(value: f64) -> Self;

    /// Converts 64 random bits to a number. A float is uniformly distributed in −1..1; an integer consists of the upper
    /// bits.
    fn from_random(bits: u64) -> Self;
}

macro_rules! integers {
    ($($type:ident $variant:ident)*) => {$(
        impl Number for $type {
            const TYPE: NumberType = NumberType::$variant;
            const EPSILON: Option<f64> = None;

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            fn from_random(bits: u64) -> Self {
                (bits >> (64 - Self::BITS)) as Self
            }
        }
    )*};
}

integers! { i32 I32 u32 U32 i64 I64 u64 U64 u8 U8 u16 U16 i8 I8 }

macro_rules! floats {
    ($($type:ident $variant:ident)*) => {$(
        impl Number for $type {
            const TYPE: NumberType = NumberType::$variant;
            const EPSILON: Option<f64> = Some($type::EPSILON as f64);

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            fn from_random(bits: u64) -> Self {
                // Keeps only as many bits as the significand has.
                let bits = bits >> (64 - Self::MANTISSA_DIGITS);
                bits as Self / (1_u64 << (Self::MANTISSA_DIGITS - 1)) as Self - 1.0
            }
        }
    )*};
}

floats! { f32 F32 f64 F64 }

macro_rules! halves {
    ($($type:ident $variant:ident $fraction_bits:literal)*) => {$(
        impl Number for $type {
            const TYPE: NumberType = NumberType::$variant;
            const EPSILON: Option<f64> = Some(1.0 / (1_u64 << $fraction_bits) as f64);

            fn to_f64(self) -> f64 {
                $type::to_f64(self)
            }

            fn from_f64(value: f64) -> Self {
                $type::from_f64(value)
            }

            fn from_random(bits: u64) -> Self {
                let bits = bits >> (63 - $fraction_bits);
                $type::from_f64(bits as f64 / (1_u64 << $fraction_bits) as f64 - 1.0)
            }
        }
    )*};
}

halves! { f16 F16 10 bf16 Bf16 7 }

/// An operator that has a name on the command line.
pub trait NamedOperator {
    /// The name of this operator.
    const NAME: OperatorName;
}

macro_rules! named {
    ($($operator:ident)*) => {
        $(impl NamedOperator for $operator {
            const NAME: OperatorName = OperatorName::$operator;
        })*
    };
}

named! { Sum Product Min Max Minimum Maximum }

/// `with_number!(number_type, [f32 i32], T => body, _ => other)` evaluates `body`, in which `T` is the type that
/// `number_type` names. If the list does not contain this type, the macro evaluates `other`.
#[macro_export]
macro_rules! with_number {
    ($which:expr, [$($type:ident)+], $T:ident => $body:expr, _ => $other:expr) => {{
        let which = $which;
        $(if which == <$type as $crate::numbers::Number>::TYPE {
            type $T = $type;
            $body
        } else)+ {
            $other
        }
    }};
}

/// `with_operator!(operator_name, [Sum Min], O => body, _ => other)` evaluates `body`, in which `O` is the operator
/// that `operator_name` names. If the list does not contain this operator, the macro evaluates `other`. Without a list,
/// `O` may be any operator.
#[macro_export]
macro_rules! with_operator {
    ($which:expr, $O:ident => $body:expr) => {
        $crate::with_operator!(@ $which, $O => $body, [Sum Product Min Max Minimum Maximum])
    };
    ($which:expr, [$($operator:ident)+], $O:ident => $body:expr, _ => $other:expr) => {
        $crate::with_operator!(@ $which, $O => $body, [$($operator)+] _ => $other)
    };
    (@ $which:expr, $O:ident => $body:expr, [$($operator:ident)+] $(_ => $other:expr)?) => {
        match $which {
            $($crate::numbers::OperatorName::$operator => {
                type $O = gpu::operator::$operator;
                $body
            })+
            $(_ => $other,)?
        }
    };
}

pub use {with_number, with_operator};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for &number in NumberType::ALL {
            assert_eq!((number.to_string().parse(), NumberType::of(number.id())), (Ok(number), Some(number)));
            assert_eq!(
                with_number!(number, [f32 f64 i32 u32 i64 u64 u8 u16 f16 bf16 i8], T => Some(T::TYPE), _ => None),
                Some(number)
            );
        }
        for &operator in OperatorName::ALL {
            assert_eq!((operator.to_string().parse(), OperatorName::of(operator.id())), (Ok(operator), Some(operator)));
            assert_eq!(with_operator!(operator, O => O::NAME), operator);
            let is_sum = with_operator!(operator, [Sum], O => O::NAME == operator, _ => false);
            assert_eq!(is_sum, operator == OperatorName::Sum);
        }
        let message = "f8".parse::<NumberType>().unwrap_err();
        assert_eq!(message, "there is no type 'f8': use f32, f64, i32, u32, i64, u64, u8, u16, f16, bf16 or i8");
    }

    fn epsilon<T: Number>() -> f64 {
        T::EPSILON.unwrap()
    }

    #[test]
    fn random_numbers_fill_their_range() {
        assert_eq!((f32::from_random(0), f64::from_random(0)), (-1.0, -1.0));
        assert!(f32::from_random(u64::MAX) < 1.0 && f32::from_random(u64::MAX) > 0.999);
        assert!(f64::from_random(u64::MAX) < 1.0 && f64::from_random(u64::MAX) > 0.999);
        assert_eq!((f16::from_random(0), bf16::from_random(0)), (-f16::ONE, -bf16::ONE));
        assert_eq!((f16::EPSILON.to_f64(), bf16::EPSILON.to_f64()), (epsilon::<f16>(), epsilon::<bf16>()));
        assert_eq!((i32::from_random(u64::MAX), u32::from_random(u64::MAX)), (-1, u32::MAX));
        assert_eq!((i64::from_random(1), u64::from_random(u64::MAX)), (1, u64::MAX));
    }
}
