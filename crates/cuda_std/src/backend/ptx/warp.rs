//! Warp operations by LLVM's intrinsics, which LLVM knows to be convergent.

use super::{intrinsics, lane_id};
use crate::atomic::{AtomicInteger, AtomicType, Update};
use crate::unroll;
use crate::warp::FULL_MASK;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.activemask"]
    fn llvm_activemask() -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_sync_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_sync_64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_xor(value: u32, mask: u32) -> u32;
}

intrinsics! {
    sync_warp(mask: u32) -> () = bar_warp_sync(mask);
    shuffle_idx(mask: u32, value: u32, source: u32) -> u32 = shfl_sync_idx(mask, value, source, 31);
    shuffle_up(mask: u32, value: u32, delta: u32) -> u32 = shfl_sync_up(mask, value, delta, 0);
    shuffle_down(mask: u32, value: u32, delta: u32) -> u32 = shfl_sync_down(mask, value, delta, 31);
    shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32 = shfl_sync_bfly(mask, value, lanes, 31);
    ballot(mask: u32, predicate: bool) -> u32 = vote_ballot_sync(mask, predicate);
    any(mask: u32, predicate: bool) -> bool = vote_any_sync(mask, predicate);
    all(mask: u32, predicate: bool) -> bool = vote_all_sync(mask, predicate);
    activemask() -> u32 = llvm_activemask();
    match_any_32(mask: u32, value: u32) -> u32 = match_any_sync_32(mask, value);
    match_any_64(mask: u32, value: u64) -> u32 = match_any_sync_64(mask, value);
}

/// Shuffles within segments of a warp. `clamp` describes the segments.
pub mod shuffle_within {
    macro_rules! shuffles {
        ($($name:ident $intrinsic:ident)*) => {$(
            #[inline(always)]
            pub fn $name(mask: u32, value: u32, operand: u32, clamp: u32, _from: u32) -> u32 {
                // SAFETY: the intrinsic accesses no memory. A mask without the caller returns an unspecified value.
                unsafe { super::$intrinsic(mask, value, operand, clamp) }
            }
        )*};
    }

    shuffles! {
        shuffle_idx shfl_sync_idx
        shuffle_up shfl_sync_up
        shuffle_down shfl_sync_down
        shuffle_xor shfl_sync_bfly
    }
}

// `match.all` returns a pair, which no intrinsic in Rust can return. If each lane matches all lanes of the mask, all
// values are equal.

#[inline(always)]
pub fn match_all_32(mask: u32, value: u32) -> bool {
    match_any_32(mask, value) == ballot(mask, true)
}

#[inline(always)]
pub fn match_all_64(mask: u32, value: u64) -> bool {
    match_any_64(mask, value) == ballot(mask, true)
}

#[inline(always)]
pub fn reduce<T: AtomicInteger>(update: Update, mask: u32, value: T) -> T {
    if size_of::<T>() == 4 && cfg!(target_feature = "sm_80") {
        let word: u32 = bytemuck::cast(value);
        let is_signed = T::TYPE == AtomicType::I32;
        // SAFETY: the intrinsic accesses no memory. A mask without the caller returns an unspecified value.
        let result = unsafe {
            match update {
                Update::Min if is_signed => redux_min(word, mask),
                Update::Max if is_signed => redux_max(word, mask),
                Update::Min => redux_umin(word, mask),
                Update::Max => redux_umax(word, mask),
                Update::And => redux_and(word, mask),
                Update::Or => redux_or(word, mask),
                Update::Xor => redux_xor(word, mask),
                _ => redux_add(word, mask),
            }
        };
        return bytemuck::cast(result);
    }
    let mut result = value;
    if mask == FULL_MASK {
        // In a large kernel, the compiler would not unroll a loop over an array, and would keep the array in memory.
        unroll!(I in 5 => {
            result = result.updated(update, crate::warp::shuffle_xor(mask, result, 16 >> I));
        });
        return result;
    }
    let mut others = mask & !(1 << lane_id());
    for lane in 0..32 {
        // Every lane of the mask takes part in each shuffle.
        if mask >> lane & 1 != 0 {
            let other = crate::warp::shuffle_idx(mask, value, lane);
            if others & 1 << lane != 0 {
                result = result.updated(update, other);
                others &= !(1 << lane);
            }
        }
    }
    result
}
