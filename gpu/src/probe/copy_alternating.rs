//! Load, store, load, store: `UNROLL` elements per thread and pass, one after the other.
//!
//! What it changes against globalCopy: each store stands before the next load. The compiler cannot know that the arrays do
//! not overlap and keeps that order, so that a thread has one load under way at a time. Limited by the latency of memory,
//! unless there are warps enough to hide it.

use cuda_std::{Global, GlobalMut, kernel};

use super::groups::{Groups, load, store};
use super::operand::{Operand, U32x4};

/// `y[i] = x[i]` for every `i` that both have, each stored before the next is loaded. A one-dimensional grid of blocks of
/// up to 512 threads.
#[kernel(max_threads = 512, instances(T = [u8, u16, u32, u64, U32x4], UNROLL = [1, 2, 4, 8, 16]))]
pub fn global_copy_alternating<T: Operand, const UNROLL: usize>(x: Global<T>, y: GlobalMut<T>) {
    let mut groups = Groups::<UNROLL>::new(x.len().min(y.len()));
    while let Some(first) = groups.next_whole() {
        for j in 0..UNROLL {
            let i = first + j * groups.step;
            // SAFETY: the group is whole, so that this index is below both lengths.
            unsafe { store(y, i, load(x, i)) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, x.load(i));
        }
    }
}
