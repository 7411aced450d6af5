//! Warp operations in the simulator.

use simt::thread;
use simt::warp::{self, Reduction};

use crate::atomic::{AtomicInteger, AtomicType, Update};

pub use simt::warp::{active_mask as activemask, ballot, sync as sync_warp};

#[inline(always)]
#[track_caller]
pub fn shuffle_idx(mask: u32, value: u32, source: u32) -> u32 {
    // A lane that does not take part has no value.
    (match warp::exchange(mask, value.into(), source) {
        Some(value) => value,
        None => warp::unspecified(mask, value.into(), source),
    }) as u32
}

#[inline(always)]
#[track_caller]
pub fn elect_one() -> bool {
    ballot(crate::warp::FULL_MASK, true).trailing_zeros() == thread::lane_id()
}

#[inline(always)]
#[track_caller]
fn shuffle_from(mask: u32, value: u32, source: Option<u32>) -> u32 {
    shuffle_idx(mask, value, source.filter(|&lane| lane < crate::warp::SIZE).unwrap_or(thread::lane_id()))
}

/// Checks `delta`, because a GPU uses only its lower five bits.
#[inline(always)]
#[track_caller]
fn check_delta(delta: u32) {
    assert!(delta < crate::warp::SIZE, "the delta of a shuffle must be below 32, but is {delta}");
}

#[inline(always)]
#[track_caller]
pub fn shuffle_up(mask: u32, value: u32, delta: u32) -> u32 {
    check_delta(delta);
    shuffle_from(mask, value, thread::lane_id().checked_sub(delta))
}

#[inline(always)]
#[track_caller]
pub fn shuffle_down(mask: u32, value: u32, delta: u32) -> u32 {
    check_delta(delta);
    shuffle_from(mask, value, thread::lane_id().checked_add(delta))
}

#[inline(always)]
#[track_caller]
pub fn shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32 {
    shuffle_from(mask, value, Some(thread::lane_id() ^ lanes))
}

#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    ballot(mask, predicate) != 0
}

#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    ballot(mask, !predicate) == 0
}

/// Shuffles within segments of a warp. The caller has already computed the source lane.
pub mod shuffle_within {
    macro_rules! shuffles {
        ($($name:ident)*) => {$(
            #[inline(always)]
            #[track_caller]
            pub fn $name(mask: u32, value: u32, _operand: u32, _clamp: u32, from: u32) -> u32 {
                super::shuffle_idx(mask, value, from)
            }
        )*};
    }

    shuffles! { shuffle_idx shuffle_up shuffle_down shuffle_xor }
}

#[inline(always)]
#[track_caller]
pub fn match_any_32(mask: u32, value: u32) -> u32 {
    match_any_64(mask, value.into())
}

#[inline(always)]
#[track_caller]
pub fn match_any_64(mask: u32, value: u64) -> u32 {
    warp::match_any(mask, value).0
}

#[inline(always)]
#[track_caller]
pub fn match_all_32(mask: u32, value: u32) -> bool {
    match_all_64(mask, value.into())
}

#[inline(always)]
#[track_caller]
pub fn match_all_64(mask: u32, value: u64) -> bool {
    let (same, all) = warp::match_any(mask, value);
    same == all
}

#[inline(always)]
#[track_caller]
pub fn reduce<T: AtomicInteger>(update: Update, mask: u32, value: T) -> T {
    let reduction = match update {
        Update::Min => Reduction::Min,
        Update::Max => Reduction::Max,
        Update::And => Reduction::And,
        Update::Or => Reduction::Or,
        Update::Xor => Reduction::Xor,
        _ => Reduction::Add,
    };
    // The simulator compares unsigned numbers. With the sign bits flipped, signed numbers have the same order as
    // unsigned ones.
    let is_compared = matches!(update, Update::Min | Update::Max);
    match T::TYPE {
        AtomicType::I32 if is_compared => {
            let turned = bytemuck::cast::<_, u32>(value) ^ 1 << 31;
            bytemuck::cast(warp::reduce(mask, turned.into(), reduction) as u32 ^ 1 << 31)
        }
        AtomicType::I64 if is_compared => {
            bytemuck::cast(warp::reduce(mask, bytemuck::cast::<_, u64>(value) ^ 1 << 63, reduction) ^ 1 << 63)
        }
        AtomicType::U32 | AtomicType::I32 => {
            bytemuck::cast(warp::reduce(mask, bytemuck::cast::<_, u32>(value).into(), reduction) as u32)
        }
        _ => bytemuck::cast(warp::reduce(mask, bytemuck::cast(value), reduction)),
    }
}
