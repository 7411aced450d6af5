//! Atomic operations on elements of 16 bits.

use super::Scope;
use crate::half::{bf16, f16};
use crate::{GlobalMut, Shared, backend};

macro_rules! additions {
    ($($type:ident $backend:ident $since:literal)*) => {$(
        additions!(@ GlobalMut<'_, $type>, $type $backend $since);
        additions!(@ Shared<$type>, $type $backend $since);
    )*};
    (@ $view:ty, $type:ident $backend:ident $since:literal) => {
        impl $view {
            #[doc = concat!("Adds `value` to element `index` and returns the previous value. ", $since)]
            #[doc(alias = "atomicAdd")]
            #[inline(always)]
            #[track_caller]
            pub fn atomic_add(&self, index: usize, value: $type) -> $type {
                // SAFETY: `place` has checked the index.
                unsafe { backend::$backend(self.place(index), value, Scope::Device) }
            }
        }
    };
}

additions! {
    f16 atomic_add_f16 "It is one instruction on every GPU."
    bf16 atomic_add_bf16 "It is one instruction from sm_90 on, and a loop of compare-and-swap operations before."
}

macro_rules! comparisons {
    ($($view:ty;)*) => {$(
        impl $view {
            /// Sets element `index` to `new` if it equals `expected`. Returns the previous value.
            #[doc(alias = "atomicCAS")]
            #[inline(always)]
            #[track_caller]
            pub fn atomic_compare_exchange(&self, index: usize, expected: u16, new: u16) -> u16 {
                // SAFETY: `place` has checked the index.
                unsafe { backend::atomic_compare_exchange_16(self.place(index), expected, new, Scope::Device) }
            }
        }
    )*};
}

comparisons! { GlobalMut<'_, u16>; Shared<u16>; }
