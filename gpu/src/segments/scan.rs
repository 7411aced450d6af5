//! The scan of the segments of a tile. A thread has consecutive vectors, so it scans most of its items alone, and the
//! lanes of a warp join their last segments by five shuffles.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Shared, unroll, warp};

use crate::collective::LANES;
use crate::collective::words::shuffle_up;
use crate::operator::Operator;

/// A part of a tile: whether a segment begins in it, and what follows the last such beginning.
#[derive(Clone, Copy)]
pub struct Part<T> {
    /// True if a segment begins in the part.
    pub is_closed: bool,
    /// The combination of the values from the last beginning on, or of all values if no segment begins in the part.
    pub value: T,
}

/// Returns which of the `len` items from item `at` of the tile on begin a segment, one bit for each. Bit *i* of `heads`
/// belongs to item *i*. `len` must be 1 to 32.
///
/// # Safety
/// `heads` must have a bit for each of the items, and one more word.
#[inline(always)]
pub unsafe fn heads_of(heads: Shared<u32>, at: usize, len: u32) -> u32 {
    // SAFETY: by this function's contract, `heads` has the word of item `at` and the next one.
    let (low, high) = unsafe { (heads.load_unchecked(at / LANES), heads.load_unchecked(at / LANES + 1)) };
    let bits = (u64::from(high) << 32 | u64::from(low)) >> (at % LANES);
    bits as u32 & (u32::MAX >> (32 - len))
}

/// Returns the combination of the last items of a thread: from the last item that begins a segment on, or of all items.
///
/// The thread has `chunks` vectors from `slot` on. Bit *i* of `heads` says whether its item *i* begins a segment.
/// Without `heads`, none does.
///
/// # Safety
/// `items` must have the thread's vectors.
#[inline(always)]
pub unsafe fn last_value<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    items: Shared<[T; V]>,
    slot: usize,
    chunks: u32,
    heads: Option<u32>,
) -> T {
    let mut value = T::zeroed();
    let mut append = |at: usize, row: [T; V]| {
        // The two cases have code of their own, because the second needs no tests.
        if let Some(heads) = heads {
            for j in 0..V {
                let begins = at + j == 0 || heads >> (at + j) & 1 == 1;
                value = if begins { row[j] } else { O::combine(value, row[j]) };
            }
        } else {
            for j in 0..V {
                value = if at + j == 0 { row[j] } else { O::combine(value, row[j]) };
            }
        }
    };
    unroll!(CHUNK in C => {
        if (CHUNK as u32) < chunks {
            // SAFETY: by this function's contract, the vector exists.
            append(CHUNK * V, unsafe { items.load_unchecked(slot + CHUNK) });
        }
    });
    value
}

/// Scans the items of a thread in place. `before` is combined with the items before the first that begins a segment.
/// The other arguments are those of [`last_value`].
///
/// # Safety
/// `items` must have the thread's vectors.
#[inline(always)]
pub unsafe fn scan_own<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    items: Shared<[T; V]>,
    slot: usize,
    chunks: u32,
    heads: u32,
    before: T,
) {
    let mut value = before;
    unroll!(CHUNK in C => {
        if (CHUNK as u32) < chunks {
            // SAFETY: by this function's contract, the vector exists.
            let mut row = unsafe { items.load_unchecked(slot + CHUNK) };
            for j in 0..V {
                value = if heads >> (CHUNK * V + j) & 1 == 1 { row[j] } else { O::combine(value, row[j]) };
                row[j] = value;
            }
            // SAFETY: this is the vector that was loaded above.
            unsafe { items.store_unchecked(slot + CHUNK, row) };
        }
    });
}

/// Joins the items of the lanes of a warp. `votes` has a bit for each lane in whose items a segment begins, and `value`
/// is the lane's [`last_value`]. All lanes of a full warp must call this function.
///
/// Returns two parts: the items of all earlier lanes, and those with the lane's own. There is no earlier lane for lane
/// 0, whose first part has an unspecified value.
#[inline(always)]
pub fn join_lanes<T: Element, O: Operator<T>>(votes: u32, value: T) -> (Part<T>, Part<T>) {
    let lane = warp::lane_id();
    let begun = votes & (u32::MAX >> (warp::SIZE - 1 - lane));
    // The number of lanes before this one whose last items belong to the same segment.
    let reach = if begun == 0 { lane } else { lane + begun.leading_zeros() + 1 - warp::SIZE };
    let mut value = value;
    let mut distance = 1;
    while distance < warp::SIZE {
        let before = shuffle_up(value, distance);
        if distance <= reach {
            value = O::combine(before, value);
        }
        distance *= 2;
    }
    let below = Part { is_closed: votes & ((1 << lane) - 1) != 0, value: shuffle_up(value, 1) };
    (below, Part { is_closed: begun != 0, value })
}

/// Returns the parts before `warp` and the whole tile, joined from the parts of all `WARPS` warps. The part before warp
/// 0 has no items.
#[inline(always)]
pub fn join_warps<T: Element, O: Operator<T>, const WARPS: usize>(
    values: Shared<T>,
    closed: Shared<u32>,
    warp: usize,
) -> (Part<T>, Part<T>) {
    let mut all = Part { is_closed: closed.load(0) != 0, value: values.load(0) };
    let mut before = all;
    for other in 1..WARPS {
        if other == warp {
            before = all;
        }
        let (is_closed, value) = (closed.load(other) != 0, values.load(other));
        all.value = if is_closed { value } else { O::combine(all.value, value) };
        all.is_closed |= is_closed;
    }
    (before, all)
}
