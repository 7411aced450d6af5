//! The loop of a block over its segment of the input: tile by tile, from the left.

use cuda_std::{Element, Global, thread};

use crate::operator::Operator;

/// A tile: elements of `x` from `start` on. The block's segment ends at `end`.
#[derive(Clone, Copy)]
pub struct Tile<'a, T> {
    x: Global<'a, T>,
    start: usize,
    /// The end of the block's segment, at most the length of `x`.
    end: usize,
}

impl<T: Element> Tile<'_, T> {
    /// Returns element `offset` of the tile, or the identity if it is beyond the end of the segment.
    #[inline(always)]
    pub fn element<O: Operator<T>>(self, offset: usize) -> T {
        let Self { x, start, end } = self;
        // SAFETY: the index is below `end`, which is at most the length of `x`.
        if start + offset < end { unsafe { x.load_unchecked(start + offset) } } else { O::IDENTITY }
    }

    /// Combines the elements `first`, `first + step`, … of the tile from the left: `N` of them, or fewer at the end of
    /// the segment.
    #[inline(always)]
    pub fn combine<O: Operator<T>, const N: usize>(self, first: usize, step: usize) -> T {
        let Self { x, start, end } = self;
        let first = start + first;
        let mut all = O::IDENTITY;
        if first + (N - 1) * step < end {
            // Without tests in between, all loads are in flight before the first result is needed.
            for k in 0..N {
                // SAFETY: no index exceeds that of the last element, which is below `end`.
                all = O::combine(all, unsafe { x.load_unchecked(first + k * step) });
            }
        } else {
            let mut i = first;
            while i < end {
                // SAFETY: `i` is below `end`, which is at most the length of `x`.
                all = O::combine(all, unsafe { x.load_unchecked(i) });
                i += step;
            }
        }
        all
    }

    /// Combines up to `N` elements of the thread, one block width apart. Neighbouring threads read neighbouring
    /// elements.
    #[inline(always)]
    pub fn combine_blocks<O: Operator<T>, const N: usize>(self) -> T {
        self.combine::<O, N>(thread::thread_idx_x() as usize, thread::block_dim_x() as usize)
    }
}

/// Combines the segment of the calling block: elements `segment·b..segment·(b + 1)` of `x` for block *b*. Returns the
/// result in thread 0.
///
/// `combine_tile` must return the aggregate of a tile in thread 0. A tile has `items` items per thread. All threads of
/// the block call it equally often, with a barrier between two calls.
#[inline(always)]
pub fn combine_segment<'a, T: Element, O: Operator<T>>(
    segment: u32,
    x: Global<'a, T>,
    items: usize,
    combine_tile: impl Fn(Tile<'a, T>) -> T,
) -> T {
    super::assert_block();
    // No index overflows: a block's number has 31 bits and `segment` has 32.
    let mut start = thread::block_idx_x() as usize * segment as usize;
    let end = x.len().min(start + segment as usize);
    let mut all = O::IDENTITY;
    loop {
        all = O::combine(all, combine_tile(Tile { x, start, end }));
        start += items * thread::block_dim_x() as usize;
        if start >= end {
            return all;
        }
        // The next tile is written to memory that other threads may still read.
        thread::sync_threads();
    }
}
