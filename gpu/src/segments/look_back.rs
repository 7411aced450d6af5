//! Reduction and scan of segments in one pass with look-back: the kernel reads every element once.
//!
//! A tile is a part of the elements, whatever segments it has: short, long and skewed segments take the same time per
//! element. While a block loads its tile, two of its warps search the offsets for the segments that end in the tile
//! ([`Bounds::ended`]), unless [`segments_search()`](super::segments_search()) has found them. The block marks where
//! segments begin in a bitmap. Each thread then scans consecutive vectors, and the votes of a warp on the bitmap tell
//! each lane how far its segment reaches back.
//!
//! The tiles and their tickets are those of [`scan_look_back()`](crate::scan::look_back). A tile in which a segment
//! begins knows its state without looking back. In a reduction, a tile looks back only if a segment ends there that
//! begins in an earlier tile; the first tile of a group also looks back ([`open`](super::open)).
//!
//! Forward progress: a block publishes the state of its tile without waiting. It then waits only for states of tiles
//! with lower tickets, and for the values of groups, which such tiles publish after waits of the same kind.
//!
//! The kernel is limited by the latency of memory (`docs/notes/segments.md`). Sources: D. Merrill, M. Garland,
//! "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; S. Sengupta, M. Harris, Y. Zhang, J.
//! Owens, "Scan Primitives for GPU Computing", 2007.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::bounds::{Bounds, Layout};
use super::open::open_value;
use super::scan::{heads_of, join_lanes, join_warps, last_value, scan_own};
use super::tile::{Tile, find_tile, load_items, mark_heads, store_reductions, store_scan};
use super::tuning::{GROUP, THREADS, WARPS, states as state_count, tile_elements};
use super::work::{First, Least, Order, Segmented};
use crate::operator::{Operator, Sum};
use crate::scan::one_pass::{draw_tile, drawn_tile};
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
/// `chunks` vectors, 1 to `C`. `firsts` must be empty or have the results of
/// [`segments_search`](super::segments_search()) for these tiles. `states` must have
/// [`state_words`](crate::scan::state_words) elements for [`states`](super::tuning::states) values, zero before the
/// first launch. Between launches the host must not change them. Launches with the same `states` must have the same
/// number of tiles and run one after the other.
#[kernel(
    max_threads = 256,
    min_blocks = 4,
    instances(T = [u32, f32], O = [Sum], V = [4], C = [7], wide(stores)),
    instances(T = [u64, f64], O = [Sum], V = [2], C = [7], wide(stores)),
    instances(T = [u32], O = [Least], V = [4], C = [7], wide(stores)),
    instances(T = [u64], O = [Least], V = [2], C = [7], wide(stores)),
    instances(T = [u32], O = [First], V = [4], C = [3]),
    instances(T = [u64], O = [First], V = [2], C = [3], wide(stores)),
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
    firsts: Global<u64>,
    y: GlobalMut<<O as Segmented<T>>::Output>,
    states: GlobalMut<u64>,
) {
    let bounds = Bounds::new(offsets, layout);
    let reduces = work == REDUCE || !<O as Segmented<T>>::SCANS;
    assert!(thread::block_dim_x() == THREADS && (1..=C as u32).contains(&chunks) && work <= REDUCE);
    assert!(y.len() == if reduces { bounds.segments() } else { x.len() });
    let drawn = shared_array![u32; 2];
    let heads = shared_array![u32; THREADS as usize * V * C / 32 + 1];
    let ended = shared_array![u64; 2];
    let values = shared_array![<O as Segmented<T>>::Value; WARPS];
    let closed = shared_array![u32; WARPS];
    let before_tile = shared_array![<O as Segmented<T>>::Value; 1];
    let items = shared_array![[<O as Segmented<T>>::Value; V]; THREADS as usize * C];
    let elements = tile_elements(chunks as usize, V);
    let (thread, lane, warp) = (thread::thread_idx_x(), warp::lane_id(), warp::warp_id() as usize);
    const { assert!(V * C < 32) };
    if (thread as usize) < heads.len() {
        heads.store(thread as usize, 0);
    }
    let (number, tile_states) = draw_tile::<T, <O as Segmented<T>>::Value>(x, elements, states, drawn);
    let tiles = thread::grid_dim_x();
    assert!(tile_states.has(state_count(tiles as usize)) && (firsts.is_empty() || firsts.len() == tiles as usize + 1));
    let start = number as usize * elements;
    // SAFETY: `items` has room for the vectors of a tile.
    unsafe { load_items::<T, O, V, C>(x, order, start, chunks, items) };
    let tile = find_tile(bounds, firsts, number, elements, ended);
    mark_heads(heads, bounds, tile, x.len());
    thread::sync_threads();

    let (slot, count) = ((thread * chunks) as usize, chunks * V as u32);
    // SAFETY: the arrays have the thread's vectors and the bits of all items of the tile.
    let (mut begins, votes, value) = unsafe {
        let begins = heads_of(heads, slot * V, count);
        let votes = warp::ballot(warp::FULL_MASK, begins != 0);
        // Where no segment begins, no item needs a test.
        let tested = if votes == 0 { None } else { Some(begins) };
        (begins, votes, last_value::<_, <O as Segmented<T>>::Combine, V, C>(items, slot, chunks, tested))
    };
    let (below, through) = join_lanes::<_, <O as Segmented<T>>::Combine>(votes, value);
    if lane == warp::SIZE - 1 {
        values.store(warp % WARPS, through.value);
        closed.store(warp % WARPS, u32::from(through.is_closed));
    }
    thread::sync_threads();

    let (before_warp, all) = join_warps::<_, <O as Segmented<T>>::Combine, WARPS>(values, closed, warp);
    if thread == 0 {
        tile_states.publish(number as usize, if all.is_closed { PREFIX } else { AGGREGATE }, all.value);
        // Nothing in the tile is before the first item.
        begins |= 1;
    }
    let mut before = below.value;
    if lane == 0 {
        before = before_warp.value;
    } else if !below.is_closed && warp > 0 {
        before = <O as Segmented<T>>::Combine::combine(before_warp.value, before);
    }
    // A reduction needs only the results that a beginning of a segment follows. If no segment begins in the items of a
    // warp, these are not scanned, and the next warp stores what it knows of the last of them.
    let is_skipped = |warp: usize| reduces && warp + 1 < WARPS && closed.load(warp) == 0;
    if lane == 0 && warp > 0 && begins & 1 == 1 && is_skipped(warp - 1) {
        // SAFETY: warp 0 has items before this one.
        unsafe { items.cast::<<O as Segmented<T>>::Value>().store_unchecked(slot * V - 1, before) };
    }
    if !is_skipped(warp) {
        // SAFETY: the array has the thread's vectors.
        unsafe { scan_own::<_, <O as Segmented<T>>::Combine, V, C>(items, slot, chunks, begins, before) };
    }
    thread::sync_threads();

    // Loaded again, because they would take registers until here.
    let (number, states) = drawn_tile::<<O as Segmented<T>>::Value>(states, drawn);
    let tile = Tile::found(number as usize * elements, elements, ended);
    // A segment is open at the beginning of the tile unless one begins there.
    let is_open = heads.load(0) & 1 == 0;
    let leads = number.is_multiple_of(GROUP);
    let waits = is_open && (!reduces || tile.to > tile.from || leads);
    if waits && warp == 0 {
        // SAFETY: the assertion has checked that all tiles and groups have words.
        let before = unsafe { open_value::<_, <O as Segmented<T>>::Combine>(states, tiles, number) };
        if lane == 0 {
            before_tile.store(0, before);
            if leads {
                states.publish((tiles + number / GROUP) as usize, PREFIX, before);
            }
        }
    }
    let before = if waits { Some(before_tile) } else { None };
    if reduces {
        // SAFETY: the arrays have the items of the tile. `to` is at most the number of segments, which the assertion
        // has compared with the length of `y`.
        unsafe { store_reductions::<T, O>(items.cast(), bounds, order, tile, before, y) };
        return;
    }
    // SAFETY: the results of a scan are elements: `reduces` is true for a computation whose results are not.
    let y: GlobalMut<T> = unsafe { GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len(), y.device()) };
    // SAFETY: the arrays have the vectors and bits of all items of the tile.
    unsafe { store_scan::<T, O, V>((items, heads), bounds, order, tile, before, work == EXCLUSIVE, y) };
}
