//! Reductions of integers over the lanes of a warp.

use crate::atomic::{AtomicInteger, Update};
use crate::backend;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $update:ident $cuda:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// Every lane of `mask` receives the result. A reduction of 32-bit integers is one instruction from sm_80 on;
        /// all other reductions use shuffles.
        #[doc(alias = $cuda)]
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: AtomicInteger>(mask: u32, value: T) -> T {
            backend::reduce(Update::$update, mask, value)
        }
    )*};
}

reductions! {
    /// Returns the sum of the values of the lanes of `mask`. The sum wraps on overflow.
    reduce_add Add "__reduce_add_sync";
    /// Returns the minimum of the values of the lanes of `mask`.
    reduce_min Min "__reduce_min_sync";
    /// Returns the maximum of the values of the lanes of `mask`.
    reduce_max Max "__reduce_max_sync";
    /// Returns the bitwise AND of the values of the lanes of `mask`.
    reduce_and And "__reduce_and_sync";
    /// Returns the bitwise OR of the values of the lanes of `mask`.
    reduce_or Or "__reduce_or_sync";
    /// Returns the bitwise XOR of the values of the lanes of `mask`.
    reduce_xor Xor "__reduce_xor_sync";
}

/// An operation for [`warp_reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, [`reduce_add`].
    Add,
    /// The minimum, [`reduce_min`].
    Min,
    /// The maximum, [`reduce_max`].
    Max,
    /// The bitwise AND, [`reduce_and`].
    And,
    /// The bitwise OR, [`reduce_or`].
    Or,
    /// The bitwise XOR, [`reduce_xor`].
    Xor,
}

/// Reduces the values of the lanes of `mask` by `operation`.
#[inline(always)]
#[track_caller]
pub fn warp_reduce<T: AtomicInteger>(mask: u32, value: T, operation: WarpReductionOp) -> T {
    match operation {
        WarpReductionOp::Add => reduce_add(mask, value),
        WarpReductionOp::Min => reduce_min(mask, value),
        WarpReductionOp::Max => reduce_max(mask, value),
        WarpReductionOp::And => reduce_and(mask, value),
        WarpReductionOp::Or => reduce_or(mask, value),
        WarpReductionOp::Xor => reduce_xor(mask, value),
    }
}
