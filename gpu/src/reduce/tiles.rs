//! How a block goes over its segment of the input: tile by tile, from the left.

use cuda_std::{Element, Global, thread};

use crate::operator::Operator;

/// A tile: the elements of `x` from `start` on, those below `end` being the block's.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, T> {
    x: Global<'a, T>,
    start: usize,
    /// At most the length of `x`.
    end: usize,
}

impl<T: Element> Tile<'_, T> {
    /// Element `offset` of the tile, or the identity where the block has none.
    #[inline(always)]
    pub(super) fn element<O: Operator<T>>(self, offset: usize) -> T {
        let Self { x, start, end } = self;
        // SAFETY: `end` is at most the length of `x`.
        if start + offset < end { unsafe { x.load_unchecked(start + offset) } } else { O::IDENTITY }
    }

    /// The elements `first`, `first + step`, … of the tile combined from the left: `N` of them, as far as the block has
    /// them.
    #[inline(always)]
    pub(super) fn combine<O: Operator<T>, const N: usize>(self, first: usize, step: usize) -> T {
        let Self { x, start, end } = self;
        let first = start + first;
        let mut all = O::IDENTITY;
        if first + (N - 1) * step < end {
            // Without tests between them the loads are all under way before the first is needed.
            for k in 0..N {
                // SAFETY: an index is at most that of the last element, which is below `end`.
                all = O::combine(all, unsafe { x.load_unchecked(first + k * step) });
            }
        } else {
            let mut i = first;
            while i < end {
                // SAFETY: `end` is at most the length of `x`.
                all = O::combine(all, unsafe { x.load_unchecked(i) });
                i += step;
            }
        }
        all
    }

    /// The thread's element of each of `N` blocks of elements combined: neighbouring threads read neighbouring elements.
    #[inline(always)]
    pub(super) fn combine_blocks<O: Operator<T>, const N: usize>(self) -> T {
        self.combine::<O, N>(thread::thread_idx_x() as usize, thread::block_dim_x() as usize)
    }
}

/// The *b*-th `segment` elements of `x` combined, for block *b*: in thread 0.
///
/// `combine_tile` gives thread 0 the aggregate of a tile, of `items` items per thread. All threads of the block call it
/// equally often; between two calls stands a barrier.
#[inline(always)]
pub(super) fn combine_segment<'a, T: Element, O: Operator<T>>(
    segment: u32,
    x: Global<'a, T>,
    items: usize,
    combine_tile: impl Fn(Tile<'a, T>) -> T,
) -> T {
    super::assert_block();
    // No index overflows: a block's number has 31 bits and `segment` 32.
    let mut start = thread::block_idx_x() as usize * segment as usize;
    let end = x.len().min(start + segment as usize);
    let mut all = O::IDENTITY;
    loop {
        all = O::combine(all, combine_tile(Tile { x, start, end }));
        start += items * thread::block_dim_x() as usize;
        if start >= end {
            return all;
        }
        // The next tile is written where others may still be reading this one.
        thread::sync_threads();
    }
}
