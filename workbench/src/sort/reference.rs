//! The reference of sort: the stable sort of the standard library.

use std::cmp::Ordering;

use cuda_std::{bf16, f16};

use gridstride::numbers::Number;
use gridstride::sort::{SortKey, SortOptions};

/// A type of keys with the order of the standard library.
pub trait ReferenceKey: Number + SortKey {
    /// Compares two keys: integers by `cmp`, and floats by `total_cmp`.
    fn compare(&self, other: &Self) -> Ordering;

    /// Returns true if the key is NaN.
    fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }
}

macro_rules! keys {
    ($method:ident: $($type:ident)*) => {$(
        impl ReferenceKey for $type {
            fn compare(&self, other: &Self) -> Ordering {
                self.$method(other)
            }
        }
    )*};
}

keys! { cmp: u8 u16 u32 u64 i8 i32 i64 }
keys! { total_cmp: f32 f64 }

macro_rules! halves {
    ($($type:ident)*) => {$(
        impl ReferenceKey for $type {
            fn compare(&self, other: &Self) -> Ordering {
                // As `f32::total_cmp`: a negative float is the greater, the smaller its other bits are.
                let order = |key: &Self| {
                    let bits = key.to_bits().cast_signed();
                    if bits < 0 { bits ^ i16::MAX } else { bits }
                };
                order(self).cmp(&order(other))
            }
        }
    )*};
}

halves! { f16 bf16 }

/// Returns the indices of `keys` in the order of `options`, whose `bits` are ignored. Equal keys keep their order.
pub fn argsort<K: ReferenceKey>(keys: &[K], options: &SortOptions) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..keys.len()).collect();
    indices.sort_by(|&a, &b| compare(&keys[a], &keys[b], options));
    indices
}

/// Compares two keys in the order of `options`, whose `bits` are ignored.
pub fn compare<K: ReferenceKey>(a: &K, b: &K, options: &SortOptions) -> Ordering {
    let order = if options.descending { b.compare(a) } else { a.compare(b) };
    if options.nan_last { a.is_nan().cmp(&b.is_nan()).then(order) } else { order }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_order_and_nan_is_where_it_belongs() {
        let options = SortOptions::default();
        assert_eq!(argsort(&[3_u8, 1, 3, 1], &options), [1, 3, 0, 2]);
        assert_eq!(argsort(&[3_i8, -1, 3, -1], &SortOptions::descending()), [0, 2, 1, 3]);
        let keys = [f32::NAN, 0.0, -0.0, -f32::NAN, f32::INFINITY];
        assert_eq!(argsort(&keys, &options), [3, 2, 1, 4, 0]);
        let nan_last = SortOptions { nan_last: true, ..options };
        assert_eq!(argsort(&keys, &nan_last), [2, 1, 4, 3, 0]);
        assert_eq!(argsort(&keys, &SortOptions { descending: true, ..nan_last }), [4, 1, 2, 0, 3]);
    }
}
