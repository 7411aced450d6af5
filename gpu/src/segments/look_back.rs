//! Reduction and scan of segments in one pass with look-back: the kernel reads every element once.
//!
//! A tile is a part of the elements, whatever segments it has: short, long and skewed segments take the same time per
//! element. While a block loads its tile, two of its warps search the offsets for the segments that end in the tile
//! ([`Bounds::ended`]). The block marks where segments begin in a bitmap. Each lane then scans its vectors, and the
//! votes of a warp on the bitmap tell each lane how far its segment reaches back: five shuffles scan 32 vectors.
//!
//! The tiles and their tickets are those of [`scan_look_back()`](crate::scan::look_back). A tile in which a segment
//! begins knows its state without looking back. In a reduction, a tile looks back only if a segment ends there that
//! begins in an earlier tile; the first tile of a group also looks back ([`open`](super::open)).
//!
//! Forward progress: a block publishes the state of its tile without waiting. It then waits only for states of tiles
//! with lower tickets, and for the values of groups, which such tiles publish after waits of the same kind.
//!
//! The kernel is limited by its instructions (`docs/notes/segments.md`). Sources: D. Merrill, M. Garland, "Single-pass
//! Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; S. Sengupta, M. Harris, Y. Zhang, J. Owens, "Scan
//! Primitives for GPU Computing", 2007.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, Zeroable, kernel, opaque, shared_array, thread, unroll, warp};

use super::bounds::{Bounds, Layout};
use super::open::open_value;
use super::scan::{heads_of, join_warps, scan_in_warp};
use super::tuning::{GROUP, THREADS, WARPS, states as state_count, tile_elements};
use super::work::{First, Least, Order, Segmented};
use crate::collective::LANES;
use crate::collective::tile::left;
use crate::collective::vectors::is_aligned;
use crate::operator::{Operator, Sum};
use crate::scan::one_pass::draw_tile;
use crate::scan::{AGGREGATE, PREFIX};

/// The value of `work` for an inclusive scan of each segment.
pub const INCLUSIVE: u32 = 0;

/// The value of `work` for an exclusive scan of each segment.
pub const EXCLUSIVE: u32 = 1;

/// The value of `work` for a reduction of each segment.
pub const REDUCE: u32 = 2;

/// Scans or reduces the elements of each segment, in one pass.
///
/// If `work` is [`INCLUSIVE`] or [`EXCLUSIVE`], the scans are written to `y`, which must be as long as `x`. Elements
/// that are in no segment get the identity. If it is [`REDUCE`], the results of the segments are written to `y`, which
/// must have an element per segment. `layout` and `offsets` are the segments ([`Bounds`]); the offsets must ascend and
/// be at most the length of `x`, otherwise the results are unspecified. The operator is only called with values.
///
/// `V` must be the number of elements in a vector ([`vector_len`](crate::collective::vectors::vector_len)). Launch one
/// block of [`THREADS`] threads per tile of [`tile_elements`], or one block if there are no elements. Each thread loads
/// `chunks` vectors, 1 to `C`. `states` must have [`state_words`](crate::scan::state_words) elements for
/// [`states`](super::tuning::states) values, zero before the first launch. Between launches the host must not change
/// them. Launches with the same `states` must have the same number of tiles and run one after the other.
#[kernel(
    max_threads = 256,
    min_blocks = 3,
    instances(T = [u32, f32], O = [Sum], V = [4], C = [4], wide(stores)),
    instances(T = [u64, f64], O = [Sum], V = [2], C = [4], wide(stores)),
    instances(T = [u32], O = [Least], V = [4], C = [4], wide(stores)),
    instances(T = [u64], O = [Least], V = [2], C = [4], wide(stores)),
    instances(T = [u32], O = [First], V = [4], C = [2]),
    instances(T = [u64], O = [First], V = [2], C = [2], wide(stores)),
    wide(loads),
    exported = "segments"
)]
pub fn segments_look_back<T: Element, O: Segmented<T>, const V: usize, const C: usize>(
    x: Global<T>,
    offsets: Global<u32>,
    layout: Layout,
    order: Order,
    work: u32,
    chunks: u32,
    y: GlobalMut<<O as Segmented<T>>::Output>,
    states: GlobalMut<u64>,
) {
    let bounds = Bounds::new(offsets, layout);
    let reduces = work == REDUCE || !<O as Segmented<T>>::SCANS;
    assert!(thread::block_dim_x() == THREADS && (1..=C as u32).contains(&chunks) && work <= REDUCE);
    assert!(y.len() == if reduces { bounds.segments() } else { x.len() });
    let drawn = shared_array![u32; 2];
    let heads = shared_array![u32; THREADS as usize * V * C / 32];
    let ended = shared_array![u64; 2];
    let values = shared_array![<O as Segmented<T>>::Value; WARPS];
    let closed = shared_array![u32; WARPS];
    let before_tile = shared_array![<O as Segmented<T>>::Value; 1];
    let scanned = shared_array![[<O as Segmented<T>>::Value; V]; THREADS as usize * C];
    let elements = tile_elements(chunks as usize, V);
    let (thread, lane, warp) = (thread::thread_idx_x() as usize, warp::lane_id(), warp::warp_id() as usize);
    let mut word = thread;
    while word < elements / LANES {
        // SAFETY: `heads` has a bit for each of the tile's elements.
        unsafe { heads.store_unchecked(word, 0) };
        word += THREADS as usize;
    }
    let (tile, states) = draw_tile::<T, <O as Segmented<T>>::Value>(x, elements, states, drawn);
    let tiles = thread::grid_dim_x();
    assert!(states.has(state_count(tiles as usize)));

    let (start, end) = (tile as usize * elements, (tile as usize + 1) * elements);
    // The position of the lane's first vector in the tile. Positions in a tile have 32 bits.
    let vector = warp as u32 * chunks * warp::SIZE + lane;
    let first = start / V + vector as usize;
    let is_whole = is_aligned::<T, V>(x.as_ptr() as usize) && end <= x.len();
    let mut loaded = [[<T as Zeroable>::zeroed(); V]; C];
    unroll!(CHUNK in C => {
        if is_whole && (CHUNK as u32) < chunks {
            // SAFETY: the whole tile lies in `x`, which is aligned for vectors.
            loaded[CHUNK] = unsafe { x.load_vec_unchecked(first + CHUNK * LANES) };
        }
    });
    // The segments that end in the tile: those that end after its first element. The first tile has also those that end
    // before its first element, and the last tile has all others.
    if warp < 2 {
        let mut count = if warp == 0 { 0 } else { bounds.segments() };
        if tile + warp as u32 > 0 && tile + (warp as u32) < tiles {
            count = bounds.ended(start + warp * elements);
        }
        if lane == 0 {
            ended.store(warp % 2, count as u64);
        }
    }
    thread::sync_threads();

    let (from, to) = (ended.load(0) as usize, ended.load(1) as usize);
    let mut segment = from + thread;
    while segment <= to {
        // SAFETY: `to` is at most the number of segments.
        let begin = unsafe { bounds.get(segment) };
        if begin >= start && begin < end {
            heads.atomic_or((begin - start) / LANES, 1 << ((begin - start) % LANES));
        }
        segment += THREADS as usize;
    }
    if tile == 0 && thread == 0 {
        heads.atomic_or(0, 1);
    }
    // A position beyond the end of `x` counts as the beginning of a segment.
    let (mut word, exist) = (thread, left(x.len(), start));
    while word < elements / LANES && end > x.len() {
        let exist = exist.saturating_sub((word * LANES) as u32);
        if exist < warp::SIZE {
            heads.atomic_or(word, u32::MAX << exist);
        }
        word += THREADS as usize;
    }
    let items = scanned.cast::<<O as Segmented<T>>::Value>();
    let mut chunk = 0;
    while chunk < chunks && !is_whole {
        for j in 0..V {
            let (at, index) =
                ((vector + chunk * warp::SIZE) as usize * V + j, (first + chunk as usize * LANES) * V + j);
            let mut element = <T as Zeroable>::zeroed();
            if index < x.len() {
                // SAFETY: the condition has compared the index with the length of `x`.
                element = unsafe { x.load_unchecked(index) };
            }
            // SAFETY: `at` is the position of an item of the tile.
            unsafe { items.store_unchecked(at, <O as Segmented<T>>::value(order, element, index)) };
        }
        chunk = opaque(chunk + 1);
    }
    unroll!(CHUNK in C => {
        if is_whole && (CHUNK as u32) < chunks {
            let mut row = [<O as Segmented<T>>::value(order, loaded[CHUNK][0], (first + CHUNK * LANES) * V); V];
            for j in 1..V {
                row[j] = <O as Segmented<T>>::value(order, loaded[CHUNK][j], (first + CHUNK * LANES) * V + j);
            }
            // SAFETY: this is the lane's vector of a chunk of the tile, for which `scanned` has room.
            unsafe { scanned.store_unchecked(vector as usize + CHUNK * LANES, row) };
        }
    });
    thread::sync_threads();

    // SAFETY: the arrays have the vectors and bits of all items of the tile.
    let (open, last) = unsafe { scan_in_warp::<_, <O as Segmented<T>>::Combine, V, C>(scanned, heads, vector, chunks) };
    if lane == 0 {
        values.store(warp % WARPS, last.value);
        closed.store(warp % WARPS, u32::from(last.is_closed));
    }
    thread::sync_threads();

    let (before_warp, all) = join_warps::<_, <O as Segmented<T>>::Combine, WARPS>(values, closed, warp);
    if thread == 0 {
        states.publish(tile as usize, if all.is_closed { PREFIX } else { AGGREGATE }, all.value);
    }
    let mut chunk = 0;
    while chunk < chunks && warp > 0 {
        if open.has(chunk as usize, 0) {
            // SAFETY: this is the lane's vector of a chunk of the tile.
            let mut row = unsafe { scanned.load_unchecked((vector + chunk * warp::SIZE) as usize) };
            for j in 0..V {
                if open.has(chunk as usize, j) {
                    row[j] = <O as Segmented<T>>::Combine::combine(before_warp.value, row[j]);
                }
            }
            // SAFETY: this is the vector that was loaded above.
            unsafe { scanned.store_unchecked((vector + chunk * warp::SIZE) as usize, row) };
        }
        chunk = opaque(chunk + 1);
    }
    // A segment is open at the beginning of the tile unless one begins there.
    let is_open = heads.load(0) & 1 == 0;
    let leads = tile.is_multiple_of(GROUP);
    let waits = is_open && (!reduces || to > from || leads);
    if waits && warp == 0 {
        // SAFETY: the assertion has checked that all tiles and groups have words.
        let before = unsafe { open_value::<_, <O as Segmented<T>>::Combine>(states, tiles, tile) };
        if lane == 0 {
            before_tile.store(0, before);
            if leads {
                states.publish((tiles + tile / GROUP) as usize, PREFIX, before);
            }
        }
    }
    thread::sync_threads();

    if reduces {
        let mut segment = from + thread;
        while segment < to {
            // SAFETY: `to` is at most the number of segments.
            let (begin, end) = unsafe { (bounds.get(segment), bounds.get(segment + 1)) };
            let in_tile = end.wrapping_sub(start + 1);
            let mut result = <O as Segmented<T>>::empty(order);
            if begin < end && in_tile < elements {
                // SAFETY: the condition has checked that this is the position of an item of the tile.
                let mut value = unsafe { items.load_unchecked(in_tile) };
                if waits && begin < start {
                    value = <O as Segmented<T>>::Combine::combine(before_tile.load(0), value);
                }
                result = <O as Segmented<T>>::output(order, value, begin);
            }
            // SAFETY: `to` is at most the number of segments, which the assertion has compared with the length of `y`.
            unsafe { y.store_unchecked(segment, result) };
            segment += THREADS as usize;
        }
        return;
    }
    // SAFETY: the results of a scan are elements: `reduces` is true for a computation whose results are not.
    let y: GlobalMut<T> = unsafe { GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len(), y.device()) };
    // SAFETY: there is one more bound than segments.
    let (low, high) = unsafe { (bounds.get(0), bounds.get(bounds.segments())) };
    let (is_inside, is_exclusive) = (low <= start && end <= high, work == EXCLUSIVE);
    let is_whole = is_aligned::<T, V>(y.as_ptr() as usize) && end <= y.len();
    // The items whose segment begins before the tile lack the values before the tile.
    let lacks = waits && (warp == 0 || !before_warp.is_closed);
    let mut chunk = 0;
    while chunk < chunks {
        let at = (vector + chunk * warp::SIZE) as usize * V;
        // SAFETY: these are the lane's vector of a chunk of the tile, and its bits.
        let (mut row, heads) = unsafe { (scanned.load_unchecked(at / V), heads_of::<V>(heads, at)) };
        let mut before = <O as Segmented<T>>::Combine::IDENTITY;
        if is_exclusive && at > 0 {
            // SAFETY: this is the item before the vector.
            before = unsafe { items.load_unchecked(at - 1) };
        }
        if is_exclusive && lacks && open.has(chunk as usize, 0) {
            let value = before_tile.load(0);
            before = if at > 0 { <O as Segmented<T>>::Combine::combine(value, before) } else { value };
        }
        let mut results = [<T as Zeroable>::zeroed(); V];
        for j in 0..V {
            if lacks && open.has(chunk as usize, j) {
                row[j] = <O as Segmented<T>>::Combine::combine(before_tile.load(0), row[j]);
            }
            let is_outside = !is_inside && (start + at + j < low || start + at + j >= high);
            results[j] = <O as Segmented<T>>::element(order, if is_exclusive { before } else { row[j] });
            if is_exclusive && heads >> j & 1 == 1 || is_outside {
                results[j] = <O as Segmented<T>>::identity(order);
            }
            before = row[j];
        }
        if is_whole {
            // SAFETY: the whole tile lies in `y`, which is aligned for vectors.
            unsafe { y.store_vec_unchecked((start + at) / V, results) };
        } else {
            for j in 0..V {
                if start + at + j < y.len() {
                    // SAFETY: the condition has compared the index with the length of `y`.
                    unsafe { y.store_unchecked(start + at + j, results[j]) };
                }
            }
        }
        chunk = opaque(chunk + 1);
    }
}
