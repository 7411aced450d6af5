//! The scan of the segments in a warp's part of a tile.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Shared, opaque, warp};

use crate::collective::LANES;
use crate::collective::words::{shuffle_idx, shuffle_up};
use crate::operator::Operator;

/// The number of bits of [`Open`] per chunk.
const BITS: usize = 4;

/// A part of a tile: whether a segment begins in it, and what follows the last such beginning.
#[derive(Clone, Copy)]
pub struct Part<T> {
    /// True if a segment begins in the part.
    pub is_closed: bool,
    /// The combination of the values from the last beginning on, or of all values if no segment begins in the part.
    pub value: T,
}

/// The number of a lane's items, at the beginning of each vector, whose segment begins before the warp's part.
#[derive(Clone, Copy)]
pub struct Open(u32);

impl Open {
    /// Returns true if item `item` of the vector in chunk `chunk` belongs to a segment that begins earlier.
    #[inline(always)]
    pub fn has(self, chunk: usize, item: usize) -> bool {
        item < (self.0 >> (BITS * chunk)) as usize % (1 << BITS)
    }
}

/// Returns which of the `V` items from item `at` of the tile on begin a segment, one bit for each. Bit *i* of `heads`
/// belongs to item *i*.
///
/// # Safety
/// `heads` must have a bit for each of the items.
#[inline(always)]
pub unsafe fn heads_of<const V: usize>(heads: Shared<u32>, at: usize) -> u32 {
    // SAFETY: by this function's contract, `heads` has the word of item `at`.
    unsafe { heads.load_unchecked(at / LANES) >> (at % LANES) & ((1 << V) - 1) }
}

/// Scans the segments in a warp's part of a tile, in place. Returns which items belong to a segment that begins
/// earlier; these are combined only with those in the part. Also returns the part's last segment.
///
/// The part has `chunks` rows of 32 vectors, and `vector` is the number of the lane's first vector in the tile. The
/// operator is only called with items of one segment. The loop is not unrolled, so that the lane has the registers of
/// one vector at a time.
///
/// # Safety
/// `items` must have the lane's vector of each row, and `heads` a bit for each item.
#[inline(always)]
pub unsafe fn scan_in_warp<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    items: Shared<[T; V]>,
    heads: Shared<u32>,
    vector: u32,
    chunks: u32,
) -> (Open, Part<T>) {
    const { assert!(V < 1 << BITS && C * BITS <= 32 && LANES.is_multiple_of(V)) };
    let lane = warp::lane_id();
    let (through, earlier) = (u32::MAX >> (warp::SIZE - 1 - lane), (1 << lane) - 1);
    let (mut open, mut last) = (0, Part { is_closed: false, value: T::zeroed() });
    let mut chunk = 0;
    while chunk < chunks {
        let slot = (vector + chunk * warp::SIZE) as usize;
        // SAFETY: by this function's contract, these are the lane's vector of the row and its bits.
        let (mut row, bits) = unsafe { (items.load_unchecked(slot), heads_of::<V>(heads, slot * V)) };
        for j in 1..V {
            if bits >> j & 1 == 0 {
                row[j] = O::combine(row[j - 1], row[j]);
            }
        }
        let votes = warp::ballot(warp::FULL_MASK, bits != 0);
        // The number of lanes before this one whose last items belong to the same segment.
        let begun = votes & through;
        let reach = if begun == 0 { lane } else { lane + begun.leading_zeros() + 1 - warp::SIZE };
        let mut value = row[V - 1];
        let mut distance = 1;
        while distance < warp::SIZE {
            let before = shuffle_up(value, distance);
            if distance <= reach {
                value = O::combine(before, value);
            }
            distance *= 2;
        }
        if chunk > 0 && begun == 0 {
            value = O::combine(last.value, value);
        }
        let below = shuffle_up(value, 1);
        let before = if lane == 0 { last.value } else { below };
        let leading = (bits | 1 << V).trailing_zeros();
        let has_before = chunk > 0 || lane > 0;
        for j in 0..V {
            if has_before && (j as u32) < leading {
                row[j] = O::combine(before, row[j]);
            }
        }
        // SAFETY: this is the vector that was loaded above.
        unsafe { items.store_unchecked(slot, row) };
        if !last.is_closed && votes & earlier == 0 {
            open |= leading << (BITS as u32 * chunk);
        }
        last = Part { is_closed: last.is_closed || votes != 0, value: shuffle_idx(value, warp::SIZE - 1) };
        chunk = opaque(chunk + 1);
    }
    (Open(open), last)
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
