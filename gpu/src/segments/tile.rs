//! What a block does with a tile before and after its scan: it loads the items, marks where segments begin, and stores
//! the results.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, Shared, Zeroable, opaque, thread, unroll, warp};

use super::bounds::Bounds;
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
/// end of `x` are unspecified.
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
    if is_aligned::<T, V>(x.as_ptr() as usize) && start + elements <= x.len() {
        let mut loaded = [[<T as Zeroable>::zeroed(); V]; C];
        unroll!(CHUNK in C => {
            if (CHUNK as u32) < chunks {
                // SAFETY: the whole tile lies in `x`, which is aligned for vectors.
                loaded[CHUNK] = unsafe { x.load_vec_unchecked(first + CHUNK * LANES) };
            }
        });
        unroll!(CHUNK in C => {
            if (CHUNK as u32) < chunks {
                let mut row = [O::value(order, loaded[CHUNK][0], (first + CHUNK * LANES) * V); V];
                for j in 1..V {
                    row[j] = O::value(order, loaded[CHUNK][j], (first + CHUNK * LANES) * V + j);
                }
                // SAFETY: by this function's contract, the vector exists.
                unsafe { items.store_unchecked(vector + CHUNK * LANES, row) };
            }
        });
        return;
    }
    let mut chunk = 0;
    while chunk < chunks as usize {
        let mut row = [<O::Value as Zeroable>::zeroed(); V];
        for j in 0..V {
            let index = (first + chunk * LANES) * V + j;
            if index < x.len() {
                // SAFETY: the condition has compared the index with the length of `x`.
                row[j] = O::value(order, unsafe { x.load_unchecked(index) }, index);
            }
        }
        // SAFETY: by this function's contract, the vector exists.
        unsafe { items.store_unchecked(vector + chunk * LANES, row) };
        chunk = opaque(chunk + 1);
    }
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
        segment += THREADS as usize;
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

/// Stores the results of the segments that end in `tile` to `y`. `items` are scanned in the tile. `before` is combined
/// with the segment that begins before the tile.
///
/// # Safety
/// `items` must have the items of the tile. `tile.to` must be at most the number of segments and the length of `y`.
#[inline(always)]
pub unsafe fn store_reductions<T: Element, O: Segmented<T>>(
    items: Shared<O::Value>,
    bounds: Bounds,
    order: Order,
    tile: Tile,
    before: Option<O::Value>,
    y: GlobalMut<O::Output>,
) {
    let mut segment = tile.from + thread::thread_idx_x() as usize;
    while segment < tile.to {
        // SAFETY: by this function's contract, the segment exists.
        let (begin, end) = unsafe { (bounds.get(segment), bounds.get(segment + 1)) };
        let in_tile = end.wrapping_sub(tile.start + 1);
        let mut result = O::empty(order);
        if begin < end && in_tile < tile.elements {
            // SAFETY: the condition has checked that this is the position of an item of the tile.
            let mut value = unsafe { items.load_unchecked(in_tile) };
            if let Some(before) = before
                && begin < tile.start
            {
                value = O::Combine::combine(before, value);
            }
            result = O::output(order, value, begin);
        }
        // SAFETY: by this function's contract, `y` has an element for the segment.
        unsafe { y.store_unchecked(segment, result) };
        segment += THREADS as usize;
    }
}

/// Stores the scan of `tile` to `y`. `items` are scanned in the tile, and `heads` are its marks ([`mark_heads`]).
/// `before` is combined with the items of the segment that begins before the tile.
///
/// # Safety
/// `items` must have the vectors of the tile, and `heads` a bit for each item and one more word.
#[inline(always)]
pub unsafe fn store_scan<T: Element, O: Segmented<T>, const V: usize>(
    (items, heads): (Shared<[O::Value; V]>, Shared<u32>),
    bounds: Bounds,
    order: Order,
    tile: Tile,
    before: Option<O::Value>,
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
    let before_tile = before.unwrap_or(O::Combine::IDENTITY);
    let (is_inside, flat) = (low <= tile.start && tile.end() <= high, items.cast::<O::Value>());
    let is_whole = is_aligned::<T, V>(y.as_ptr() as usize) && tile.end() <= y.len();
    let (mut chunk, vector) = (0, first_vector(chunks));
    while chunk < chunks as usize {
        let at = (vector + chunk * LANES) * V;
        // SAFETY: by this function's contract, the vector exists, and its bits.
        let (mut row, begins) = unsafe { (items.load_unchecked(at / V), super::scan::heads_of(heads, at, V as u32)) };
        let mut before = before_tile;
        if is_exclusive && at > 0 {
            // SAFETY: this is the item before the vector.
            before = unsafe { flat.load_unchecked(at - 1) };
            if at <= open {
                before = O::Combine::combine(before_tile, before);
            }
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
        } else {
            for j in 0..V {
                if tile.start + at + j < y.len() {
                    // SAFETY: the condition has compared the index with the length of `y`.
                    unsafe { y.store_unchecked(tile.start + at + j, results[j]) };
                }
            }
        }
        chunk = opaque(chunk + 1);
    }
}
