//! Operations that find the lanes with equal values.

use crate::{Element, backend};

/// A number of 32 or 64 bits, compared by its bits.
pub trait MatchValue: Element {
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! values {
    ($($type:ident $word:ident)*) => {$(
        impl MatchValue for $type {
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(bytemuck::cast::<_, $word>(self))
            }
        }
    )*};
}

values! { u32 u32 i32 u32 f32 u32 u64 u64 i64 u64 f64 u64 }

/// Returns the lanes of `mask` whose `value` has the same bits as the caller's, including the caller.
#[doc(alias = "__match_any_sync")]
#[inline(always)]
#[track_caller]
pub fn match_any<T: MatchValue>(mask: u32, value: T) -> u32 {
    if size_of::<T>() == 4 {
        backend::match_any_32(mask, value.bits() as u32)
    } else {
        backend::match_any_64(mask, value.bits())
    }
}

/// Returns `mask` if the values of all its lanes have the same bits, and `None` otherwise.
#[doc(alias = "__match_all_sync")]
#[inline(always)]
#[track_caller]
pub fn match_all<T: MatchValue>(mask: u32, value: T) -> Option<u32> {
    let same = if size_of::<T>() == 4 {
        backend::match_all_32(mask, value.bits() as u32)
    } else {
        backend::match_all_64(mask, value.bits())
    };
    same.then_some(mask)
}

// Rust-CUDA's names for the same functions.
pub use self::{match_all as warp_match_all, match_any as warp_match_any};
