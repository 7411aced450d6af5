//! What a block does with a tile before and after its scan: it loads the items, marks where segments begin, and stores
//! the results.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, Shared, Zeroable, opaque, thread, unroll, warp};

use super::bounds::Bounds;
use super::scan::heads_of;
use super::tuning::THREADS;
use super::work::{Order, Segmented};
use crate::collective::LANES;
use crate::collective::tile::left;
use crate::collective::vectors::is_aligned;
use crate::operator::Operator;

/// A tile of a block.
#[derive(Clone, Copy)]
pub struct Tile {
    /// The index of the first element.
    pub start: usize,
    /// The number of elements of a whole tile.
    pub elements: usize,
    /// The number of the segment that ends first after the beginning of the tile.
    pub from: usize,
    /// The number of the first segment that does not end in the tile.
    pub to: usize,
}

impl Tile {
    /// Returns the tile that begins at element `start`, with the segments that [`find_tile`] has stored in `ended`.
    #[inline(always)]
    #[track_caller]
    pub fn found(start: usize, elements: usize, ended: Shared<u64>) -> Self {
        Self { start, elements, from: ended.load(0) as usize, to: ended.load(1) as usize }
    }

    /// Returns the index of the element after a whole tile.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.start + self.elements
    }
}

/// Returns the position of the thread's first vector in the tile, of `chunks` that are 32 apart, so that neighbouring
/// lanes load and store neighbouring vectors.
#[inline(always)]
fn first_vector(chunks: u32) -> usize {
    (warp::warp_id() * chunks * warp::SIZE + warp::lane_id()) as usize
}

/// Loads the elements of the tile that begins at element `start`, and stores their values to `items`. Items beyond the
/// end of `x` are unspecified. Calls `meanwhile` once, if possible while it waits for the elements, and returns its
/// result.
///
/// # Safety
/// `items` must have the vectors of the tile.
#[inline(always)]
pub unsafe fn load_items<T: Element, O: Segmented<T>, const V: usize, const C: usize>(
    x: Global<T>,
    order: Order,
    start: usize,
    chunks: u32,
    items: Shared<[O::Value; V]>,
) {
    let (vector, elements) = (first_vector(chunks), (THREADS * chunks) as usize * V);
    let first = start / V + vector;
    let is_whole = is_aligned::<T, V>(x.as_ptr() as usize) && start + elements <= x.len();
    // Without a condition for each vector, the loads overlap.
    if is_whole && chunks as usize == C {
        let mut loaded = [[<T as Zeroable>::zeroed(); V]; C];
        unroll!(CHUNK in C => {
            // SAFETY: the whole tile lies in `x`, which is aligned for vectors.
            loaded[CHUNK] = unsafe { x.load_vec_unchecked(first + CHUNK * LANES) };
        });
        unroll!(CHUNK in C => {
            let row = values::<T, O, V>(order, loaded[CHUNK], (first + CHUNK * LANES) * V);
            // SAFETY: by this function's contract, the vector exists.
            unsafe { items.store_unchecked(vector + CHUNK * LANES, row) };
        });
        return;
    }
    let mut chunk = 0;
    while chunk < chunks as usize {
        let (mut elements, index) = ([<T as Zeroable>::zeroed(); V], (first + chunk * LANES) * V);
        if is_whole {
            // SAFETY: the whole tile lies in `x`, which is aligned for vectors.
            elements = unsafe { x.load_vec_unchecked(index / V) };
        }
        for j in 0..V {
            if !is_whole && index + j < x.len() {
                // SAFETY: the condition has compared the index with the length of `x`.
                elements[j] = unsafe { x.load_unchecked(index + j) };
            }
        }
        // SAFETY: by this function's contract, the vector exists.
        unsafe { items.store_unchecked(vector + chunk * LANES, values::<T, O, V>(order, elements, index)) };
        chunk = opaque(chunk + 1);
    }
}

/// Returns the values of the elements from `index` on.
#[inline(always)]
fn values<T: Element, O: Segmented<T>, const V: usize>(order: Order, elements: [T; V], index: usize) -> [O::Value; V] {
    let mut values = [O::value(order, elements[0], index); V];
    for j in 1..V {
        values[j] = O::value(order, elements[j], index + j);
    }
    values
}

/// Finds the segments of tile `number`: those whose last element is in the tile. An empty segment is in the tile of the
/// element before it, or in the first tile. The segments are in `firsts`, or are searched if `firsts` is empty.
///
/// `ended` must have two elements. All threads of the block must call this function, which has a barrier.
#[inline(always)]
#[track_caller]
pub fn find_tile(bounds: Bounds, firsts: Global<u64>, number: u32, elements: usize, ended: Shared<u64>) -> Tile {
    let (start, warp) = (number as usize * elements, warp::warp_id());
    if firsts.is_empty() {
        if warp < 2 {
            let mut count = if warp == 0 { 0 } else { bounds.segments() };
            if number + warp > 0 && number + warp < thread::grid_dim_x() {
                count = bounds.ended(start + warp as usize * elements);
            }
            if warp::lane_id() == 0 {
                ended.store(warp as usize % 2, count as u64);
            }
        }
    } else if thread::thread_idx_x() < 2 {
        let thread = thread::thread_idx_x();
        ended.store(thread as usize % 2, firsts.load((number + thread) as usize));
    }
    thread::sync_threads();
    Tile::found(start, elements, ended)
}

/// Marks in `heads` where segments begin in `tile`: bit *i* belongs to item *i*. A segment counts as beginning at the
/// first element of `x`, and at each position beyond its `len` elements.
#[inline(always)]
pub fn mark_heads(heads: Shared<u32>, bounds: Bounds, tile: Tile, len: usize) {
    let thread = thread::thread_idx_x() as usize;
    let mut segment = tile.from + thread;
    while segment <= tile.to {
        // SAFETY: `to` is at most the number of segments.
        let begin = unsafe { bounds.get(segment) };
        if begin >= tile.start && begin < tile.end() {
            heads.atomic_or((begin - tile.start) / LANES, 1 << ((begin - tile.start) % LANES));
        }
        segment = opaque(segment + THREADS as usize);
    }
    if tile.start == 0 && thread == 0 {
        heads.atomic_or(0, 1);
    }
    if tile.end() > len {
        let (mut word, exist) = (thread, left(len, tile.start));
        while word < tile.elements.div_ceil(LANES) {
            let exist = exist.saturating_sub((word * LANES) as u32);
            if exist < warp::SIZE {
                heads.atomic_or(word, u32::MAX << exist);
            }
            word += THREADS as usize;
        }
    }
}

/// Stores the results of the segments that end in `tile` to `y`. `items` are scanned in the tile. Only the first of the
/// segments can begin before the tile. If it does, thread 0 may have stored to `before` what precedes its items there.
/// Thread 0 stores the result of this segment, and the warps after its own store the other results.
///
/// # Safety
/// `items` must have the items of the tile. `tile.to` must be at most the number of segments and the length of `y`.
#[inline(always)]
pub unsafe fn store_reductions<T: Element, O: Segmented<T>>(
    items: Shared<O::Value>,
    bounds: Bounds,
    order: Order,
    tile: Tile,
    before: Option<Shared<O::Value>>,
    y: GlobalMut<O::Output>,
) {
    let (others, thread) = (THREADS as usize - LANES, thread::thread_idx_x() as usize);
    let (mut segment, mut preceding) = (tile.to, None);
    if thread >= LANES {
        segment = tile.from + 1 + thread - LANES;
    } else if thread == 0 {
        segment = tile.from;
        preceding = before.map(|before| before.load(0));
    }
    while segment < tile.to {
        // SAFETY: by this function's contract, the segment exists.
        let (begin, end) = unsafe { (bounds.get(segment), bounds.get(segment + 1)) };
        let in_tile = end.wrapping_sub(tile.start + 1);
        let mut result = O::empty(order);
        if begin < end && in_tile < tile.elements {
            // SAFETY: the condition has checked that this is the position of an item of the tile.
            let mut value = unsafe { items.load_unchecked(in_tile) };
            if let Some(before) = preceding
                && begin < tile.start
            {
                value = O::Combine::combine(before, value);
            }
            result = O::output(order, value, begin);
        }
        // SAFETY: by this function's contract, `y` has an element for the segment.
        unsafe { y.store_unchecked(segment, result) };
        segment = opaque(segment + if thread == 0 { tile.to } else { others });
    }
}

/// Stores the scan of `tile` to `y`. `items` are scanned in the tile, and `heads` are its marks ([`mark_heads`]).
///
/// If a segment begins before the tile, `before` is what precedes its items there, which one warp may store at the time
/// of the call. The vectors with items of this segment are stored last, after a barrier.
///
/// # Safety
/// `items` must have the vectors of the tile, and `heads` a bit for each item and one more word. `before` must have an
/// element. All threads of the block must call this function, after a barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn store_scan<T: Element, O: Segmented<T>, const V: usize>(
    (items, heads): (Shared<[O::Value; V]>, Shared<u32>),
    bounds: Bounds,
    order: Order,
    tile: Tile,
    before: Option<Shared<O::Value>>,
    is_exclusive: bool,
    y: GlobalMut<T>,
) {
    let chunks = (tile.elements / (V * THREADS as usize)) as u32;
    // SAFETY: there is one more bound than segments, and `from` is at most their number.
    let (low, high, first) = unsafe { (bounds.get(0), bounds.get(bounds.segments()), bounds.get(tile.from)) };
    let mut open_end = first;
    if first < tile.start {
        // SAFETY: as above.
        open_end = if tile.from < bounds.segments() { unsafe { bounds.get(tile.from + 1) } } else { tile.end() };
    }
    // The number of items at the beginning of the tile whose segment begins before it.
    let open = if before.is_some() { open_end.min(tile.end()).min(y.len()) - tile.start } else { 0 };
    let (is_inside, flat) = (low <= tile.start && tile.end() <= high, items.cast::<O::Value>());
    let is_whole = is_aligned::<T, V>(y.as_ptr() as usize) && tile.end() <= y.len();
    let (vector, mut stores_open) = (first_vector(chunks), false);
    loop {
        let before_tile = match before {
            Some(before) if stores_open => before.load(0),
            _ => O::Combine::IDENTITY,
        };
        let mut chunk = 0;
        while chunk < chunks as usize {
            let at = (vector + chunk * LANES) * V;
            chunk = opaque(chunk + 1);
            if (at < open) != stores_open {
                continue;
            }
            // SAFETY: by this function's contract, the vector exists, and its bits.
            let (mut row, begins) = unsafe { (items.load_unchecked(at / V), heads_of(heads, at, V as u32)) };
            let mut before = before_tile;
            if is_exclusive && at > 0 {
                // SAFETY: this is the item before the vector.
                let item = unsafe { flat.load_unchecked(at - 1) };
                before = if at < open { O::Combine::combine(before_tile, item) } else { item };
            }
            let mut results = [<T as Zeroable>::zeroed(); V];
            for j in 0..V {
                if at + j < open {
                    row[j] = O::Combine::combine(before_tile, row[j]);
                }
                let is_outside = !is_inside && (tile.start + at + j < low || tile.start + at + j >= high);
                results[j] = O::element(order, if is_exclusive { before } else { row[j] });
                if is_exclusive && begins >> j & 1 == 1 || is_outside {
                    results[j] = O::identity(order);
                }
                before = row[j];
            }
            if is_whole {
                // SAFETY: the whole tile lies in `y`, which is aligned for vectors.
                unsafe { y.store_vec_unchecked((tile.start + at) / V, results) };
                continue;
            }
            for j in 0..V {
                if tile.start + at + j < y.len() {
                    // SAFETY: the condition has compared the index with the length of `y`.
                    unsafe { y.store_unchecked(tile.start + at + j, results[j]) };
                }
            }
        }
        if stores_open || before.is_none() {
            break;
        }
        thread::sync_threads();
        stores_open = true;
    }
}
