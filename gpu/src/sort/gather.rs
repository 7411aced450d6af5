//! Gather: copies one field of structures, or whole structures, in the order of indices.
//!
//! A sort by several fields sorts the indices of the structures by one field after the other, from the last to the
//! first. The sort is stable, so the result is in the order of all fields. Each sort reads a vector of keys, which this
//! kernel copies from the structures. The kernel also copies the structures to their places in the end.
//!
//! A structure is a number of words. One instance for words of 4 bytes and one for bytes serve all structures.
//!
//! The speed is limited by memory: the loads of a field are a structure apart, and after the first field the indices
//! are in any order.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

/// Copies words `first..first + words` of the structure at each index to consecutive words of `y`.
///
/// Structure *i* begins at word `stride` · *i* of `x`. `y` must have `words` words per index. If `sets_indices` is not
/// 0, the kernel first sets each index to its own position. Launch a one-dimensional grid with up to 256 threads per
/// block.
#[kernel(max_threads = 256, instances(W = [u8, u32]))]
pub fn sort_gather<W: Element>(
    x: Global<W>,
    stride: usize,
    first: usize,
    words: usize,
    indices: GlobalMut<u32>,
    sets_indices: u32,
    y: GlobalMut<W>,
) {
    for place in thread::grid_stride(indices.len()) {
        let index = if sets_indices != 0 {
            indices.store(place, place as u32);
            place
        } else {
            indices.load(place) as usize
        };
        for word in 0..words {
            y.store(place * words + word, x.load(index * stride + first + word));
        }
    }
}
