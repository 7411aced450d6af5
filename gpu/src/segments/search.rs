//! The first segment of each tile. All tiles search at the same time, so that no tile waits for its own search.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::bounds::{Bounds, Layout};

/// Writes for each tile of `elements` elements the number of segments that end at or before its first element to
/// `firsts`. The first element of `firsts` is 0, and the last, after those of all tiles, is the number of segments.
///
/// `layout` and `offsets` are the segments ([`Bounds`]). `firsts` must have an element. Launch a one-dimensional grid
/// with at least one thread per element of `firsts`.
#[kernel(max_threads = 256)]
pub fn segments_search(offsets: Global<u32>, layout: Layout, elements: u64, firsts: GlobalMut<u64>) {
    let bounds = Bounds::new(offsets, layout);
    let tile = thread::index_1d();
    if tile >= firsts.len() {
        return;
    }
    let mut low = 0;
    if tile + 1 == firsts.len() {
        low = bounds.segments();
    } else if tile > 0 {
        let (position, mut high) = (tile * elements as usize, bounds.segments());
        while low < high {
            let middle = low + (high - low) / 2;
            // SAFETY: `middle` is below the number of segments.
            let has_ended = unsafe { bounds.get(middle + 1) } <= position;
            (low, high) = if has_ended { (middle + 1, high) } else { (low, middle) };
        }
    }
    firsts.store(tile, low as u64);
}
