//! The element types and operators that the command line knows by name.

use std::fmt;
use std::str::FromStr;

use gpu::operator::{Max, Min, Product, Sum};
use launch::Element;
use units::alternatives;

macro_rules! names {
    ($(#[$attribute:meta])* pub enum $enum:ident: $what:literal { $($variant:ident = $name:literal),+ }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
        #[allow(missing_docs)]
        pub enum $enum { $($variant),+ }

        impl $enum {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
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
    /// An element type.
    pub enum NumberType: "type" {
        F32 = "f32", F64 = "f64", I32 = "i32", U32 = "u32", I64 = "i64", U64 = "u64", U8 = "u8", U16 = "u16"
    }
}

names! {
    /// An operator.
    pub enum OperatorName: "operator" { Sum = "sum", Product = "product", Min = "min", Max = "max" }
}

impl NumberType {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

/// A number that the kernels work on.
pub trait Number: Element + PartialOrd + fmt::Display + fmt::Debug {
    /// Which one.
    const TYPE: NumberType;

    /// The distance from 1 to the next greater number of a float; `None` of an integer.
    const EPSILON: Option<f64>;

    /// The nearest `f64`.
    fn to_f64(self) -> f64;

    /// The number nearest to `value`; of an integer, the nearest towards 0.
    fn from_f64(value: f64) -> Self;

    /// A number made of 64 random bits: a float in −1..1, every value of a fine grid as likely as any other; an
    /// integer of as many of the bits as it has.
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

integers! { i32 I32 u32 U32 i64 I64 u64 U64 u8 U8 u16 U16 }

impl Number for f32 {
    const TYPE: NumberType = NumberType::F32;
    const EPSILON: Option<f64> = Some(f32::EPSILON as f64);

    fn to_f64(self) -> f64 {
        self.into()
    }

    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn from_random(bits: u64) -> Self {
        // 24 bits fill the significand.
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

impl Number for f64 {
    const TYPE: NumberType = NumberType::F64;
    const EPSILON: Option<f64> = Some(f64::EPSILON);

    fn to_f64(self) -> f64 {
        self
    }

    fn from_f64(value: f64) -> Self {
        value
    }

    fn from_random(bits: u64) -> Self {
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// An operator with a name.
pub trait NamedOperator {
    /// Which one.
    const NAME: OperatorName;
}

impl NamedOperator for Sum {
    const NAME: OperatorName = OperatorName::Sum;
}

impl NamedOperator for Product {
    const NAME: OperatorName = OperatorName::Product;
}

impl NamedOperator for Min {
    const NAME: OperatorName = OperatorName::Min;
}

impl NamedOperator for Max {
    const NAME: OperatorName = OperatorName::Max;
}

/// `with_number!(number_type, [f32 i32], T => body, _ => other)`: the body with `T` the type of that name, if it is listed.
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

/// `with_operator!(operator_name, O => body)`: the body with `O` the operator of that name.
#[macro_export]
macro_rules! with_operator {
    ($which:expr, $O:ident => $body:expr) => {{
        use $crate::numbers::OperatorName;
        match $which {
            OperatorName::Sum => {
                type $O = gpu::operator::Sum;
                $body
            }
            OperatorName::Product => {
                type $O = gpu::operator::Product;
                $body
            }
            OperatorName::Min => {
                type $O = gpu::operator::Min;
                $body
            }
            OperatorName::Max => {
                type $O = gpu::operator::Max;
                $body
            }
        }
    }};
}

pub use {with_number, with_operator};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for &number in NumberType::ALL {
            assert_eq!(number.to_string().parse(), Ok(number));
            assert_eq!(
                with_number!(number, [f32 f64 i32 u32 i64 u64 u8 u16], T => Some(T::TYPE), _ => None),
                Some(number)
            );
        }
        for &operator in OperatorName::ALL {
            assert_eq!(operator.to_string().parse(), Ok(operator));
            assert_eq!(with_operator!(operator, O => O::NAME), operator);
        }
        let message = "f16".parse::<NumberType>().unwrap_err();
        assert_eq!(message, "there is no type 'f16': use f32, f64, i32, u32, i64, u64, u8 or u16");
    }

    #[test]
    fn random_numbers_fill_their_range() {
        assert_eq!((f32::from_random(0), f64::from_random(0)), (-1.0, -1.0));
        assert!(f32::from_random(u64::MAX) < 1.0 && f32::from_random(u64::MAX) > 0.999);
        assert!(f64::from_random(u64::MAX) < 1.0 && f64::from_random(u64::MAX) > 0.999);
        assert_eq!((i32::from_random(u64::MAX), u32::from_random(u64::MAX)), (-1, u32::MAX));
        assert_eq!((i64::from_random(1), u64::from_random(u64::MAX)), (1, u64::MAX));
    }
}
