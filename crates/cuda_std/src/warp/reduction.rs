//! Integers of a warp's lanes become one.

use crate::atomic::{AtomicInteger, Update};
use crate::backend;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $update:ident $cuda:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// Every lane of `mask` gets it. Of 32 bits one instruction from sm_80 on; else by shuffles.
        #[doc(alias = $cuda)]
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: AtomicInteger>(mask: u32, value: T) -> T {
            backend::reduce(Update::$update, mask, value)
        }
    )*};
}

reductions! {
    /// The sum of the values of the lanes of `mask`, which wraps.
    reduce_add Add "__reduce_add_sync";
    /// The least of the values of the lanes of `mask`.
    reduce_min Min "__reduce_min_sync";
    /// The greatest of the values of the lanes of `mask`.
    reduce_max Max "__reduce_max_sync";
    /// Bitwise and of the values of the lanes of `mask`.
    reduce_and And "__reduce_and_sync";
    /// Bitwise or of the values of the lanes of `mask`.
    reduce_or Or "__reduce_or_sync";
    /// Bitwise exclusive or of the values of the lanes of `mask`.
    reduce_xor Xor "__reduce_xor_sync";
}

/// How [`warp_reduce`] makes one value of a warp's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// As [`reduce_add`].
    Add,
    /// As [`reduce_min`].
    Min,
    /// As [`reduce_max`].
    Max,
    /// As [`reduce_and`].
    And,
    /// As [`reduce_or`].
    Or,
    /// As [`reduce_xor`].
    Xor,
}

/// The reduction that `operation` names.
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
