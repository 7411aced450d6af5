//! The types of keys and values.

use cuda_std::{Call, Element, Global, GlobalMut};

use crate::operator::Operator;
use crate::select::NumberFormat;

/// The arguments of a scan or reduction by key.
pub struct ByKey<'call, K, T> {
    /// The keys.
    pub keys: Global<'call, K>,
    /// The values, one per key.
    pub values: Global<'call, T>,
    /// [`INCLUSIVE`](super::INCLUSIVE), [`EXCLUSIVE`](super::EXCLUSIVE) or [`REDUCE`](super::REDUCE).
    pub work: u32,
    /// The keys of the runs, for a reduction.
    pub y_keys: GlobalMut<'call, K>,
    /// The results.
    pub y: GlobalMut<'call, T>,
    /// The number of runs, for a reduction.
    pub count: GlobalMut<'call, u64>,
}

/// The type of a key: a number of 4 or 8 bytes.
pub trait RunKey: NumberFormat {
    /// The unsigned integer of the same size.
    type Word: Element;
}

/// A type of values that can be scanned and reduced by key with the operator `O`: kernels are built for the pair.
///
/// `u32`, `i32`, `u64`, `i64`, `f32` and `f64` have the operator `Sum`. For another pair,
/// [`instances!`](crate::instances!) builds the kernels and implements this trait.
#[diagnostic::on_unimplemented(
    message = "no kernel scans or reduces values of type `{Self}` by key with this operator",
    label = "no such kernel is built",
    note = "Sum takes u32, i32, u64, i64, f32 and f64",
    note = "for a type or operator of your own, add `gpu::instances!(Type by Operator: by_key);` to the crate of your \
            kernels"
)]
pub trait ByKeyElement<O: Operator<Self>>: Element {
    /// Returns a call of [`by_key_look_back()`](super::by_key_look_back()), or `None` if it is not built.
    #[doc(hidden)]
    fn look_back<'call, K: RunKey>(
        arguments: ByKey<'call, K, Self>,
        rows: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;
}

macro_rules! keys {
    ($($type:ident $word:ident)*) => {$(
        impl RunKey for $type {
            type Word = $word;
        }
    )*};
}

keys! { u32 u32 i32 u32 f32 u32 u64 u64 i64 u64 f64 u64 }

/// Returns the views with keys of type `B`, or `None` unless `A` is `B`.
#[doc(hidden)]
pub fn as_key<'a, A: Element, B: Element>(
    keys: Global<'a, A>,
    y_keys: GlobalMut<'a, A>,
) -> Option<(Global<'a, B>, GlobalMut<'a, B>)> {
    if core::any::TypeId::of::<A>() != core::any::TypeId::of::<B>() {
        return None;
    }
    // SAFETY: `A` is `B`, and the views are of the same memory as before.
    unsafe {
        let keys = Global::from_raw_parts(keys.as_ptr().cast(), keys.len(), keys.device());
        Some((keys, GlobalMut::from_raw_parts(y_keys.as_ptr().cast(), y_keys.len(), y_keys.device())))
    }
}

#[cfg(feature = "by_key")]
mod built_in {
    use crate::by_key::by_key_look_back;
    use crate::operator::Sum;

    crate::__by_key_element! { u32 as u32, Sum, by_key_look_back, by_key_look_back }
    crate::__by_key_element! { i32 as u32, Sum, by_key_look_back, by_key_look_back }
    crate::__by_key_element! { f32 as f32, Sum, by_key_look_back, by_key_look_back }
    crate::__by_key_element! { u64 as u64, Sum, by_key_look_back, by_key_look_back }
    crate::__by_key_element! { i64 as u64, Sum, by_key_look_back, by_key_look_back }
    crate::__by_key_element! { f64 as f64, Sum, by_key_look_back, by_key_look_back }
}
