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
    /// True if the kernels of the rung `textbook` are built, for keys of 4 bytes.
    #[doc(hidden)]
    const HAS_TEXTBOOK: bool = false;

    /// Returns a call of [`by_key_step()`](super::by_key_step()), or `None` if it is not built.
    #[doc(hidden)]
    fn step<'call>(
        _runs: Global<'call, u64>,
        _distance: u64,
        _x: Global<'call, Self>,
        _y: GlobalMut<'call, Self>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Returns a call of [`by_key_store()`](super::by_key_store()), or `None` if it is not built. `scanned` is the
    /// inclusive scan of each run, and the values are not read.
    #[doc(hidden)]
    fn store<'call, K: RunKey>(
        _arguments: ByKey<'call, K, Self>,
        _runs: Global<'call, u64>,
        _scanned: Global<'call, Self>,
    ) -> Option<Call<'call>> {
        None
    }

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

/// Returns a call of [`select_mark()`](crate::select::select_mark()) that marks where runs of `keys` begin, or `None`
/// if it is not built.
#[cfg(all(feature = "by_key", feature = "select"))]
#[doc(hidden)]
pub fn mark_runs<'call, K: RunKey>(keys: Global<'call, K>, marks: GlobalMut<'call, u64>) -> Option<Call<'call>> {
    use crate::select::{RunStart, select_mark};

    if core::any::TypeId::of::<K::Word>() != core::any::TypeId::of::<u32>() {
        return None;
    }
    // SAFETY: the keys have the size and alignment of their word, and any bits are a `u32`. The second view has no
    // elements.
    let (keys, none) = unsafe {
        let none = core::ptr::NonNull::dangling().as_ptr();
        let keys = (keys.as_ptr().cast(), keys.len(), keys.device());
        (Global::from_raw_parts(keys.0, keys.1, keys.2), Global::from_raw_parts(none, 0, keys.2))
    };
    select_mark::if_built::<u32, RunStart>(keys, none, RunStart::new(K::FORMAT), marks)
}

#[cfg(feature = "by_key")]
mod built_in {
    use super::*;
    use crate::by_key::{by_key_look_back, by_key_step, by_key_store};
    use crate::operator::Sum;

    /// The methods of [`ByKeyElement`] for the textbook's kernels.
    macro_rules! textbook {
        ($word:ident) => {
            const HAS_TEXTBOOK: bool = true;

            fn step<'call>(
                runs: Global<'call, u64>,
                distance: u64,
                x: Global<'call, Self>,
                y: GlobalMut<'call, Self>,
            ) -> Option<Call<'call>> {
                by_key_step::if_built::<$word, Sum>(runs, distance, x.cast(), y.cast())
            }

            fn store<'call, K: RunKey>(
                arguments: ByKey<'call, K, Self>,
                runs: Global<'call, u64>,
                scanned: Global<'call, Self>,
            ) -> Option<Call<'call>> {
                let ByKey { keys, work, y_keys, y, count, .. } = arguments;
                let (keys, y_keys) = as_key::<K::Word, u32>(keys.cast(), y_keys.cast())?;
                by_key_store::if_built::<u32, $word, Sum>(keys, runs, scanned.cast(), work, y_keys, y.cast(), count)
            }
        };
    }

    macro_rules! built {
        ($($type:ident $word:ident $textbook:tt)*) => {$(
            crate::__by_key_element! { $type as $word, Sum, by_key_look_back, by_key_look_back, $textbook }
        )*};
    }

    built! { u32 u32 { textbook! { u32 } } i32 u32 { textbook! { u32 } } f32 f32 {} u64 u64 {} i64 u64 {} f64 f64 {} }
}
