//! How a block goes over its part of the input: tile by tile, from the left.

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
    /// The elements `first`, `first + step`, … of the tile, `N` of them, and the identity in place of those that are not
    /// the block's.
    #[inline(always)]
    pub(super) fn elements<O: Operator<T>, const N: usize>(self, first: usize, step: usize) -> [T; N] {
        let Self { x, start, end } = self;
        let first = start + first;
        let mut elements = [O::IDENTITY; N];
        if first + (N - 1) * step < end {
            // Without tests between them the loads are all under way before the first is needed.
            for k in 0..N {
                // SAFETY: an index is at most that of the last element, which is below `end`.
                elements[k] = unsafe { x.load_unchecked(first + k * step) };
            }
        } else {
            for k in 0..N {
                if first + k * step < end {
                    // SAFETY: `end` is at most the length of `x`.
                    elements[k] = unsafe { x.load_unchecked(first + k * step) };
                }
            }
        }
        elements
    }

    /// The thread's element of each of `N` blocks of elements, combined: neighbouring threads read neighbouring elements.
    #[inline(always)]
    pub(super) fn combine_blocks<O: Operator<T>, const N: usize>(self) -> T {
        let block = thread::block_dim_x() as usize;
        combine_all::<T, O, N>(self.elements::<O, N>(thread::thread_idx_x() as usize, block))
    }
}

/// The elements combined from the left.
#[inline(always)]
pub(super) fn combine_all<T: Element, O: Operator<T>, const N: usize>(elements: [T; N]) -> T {
    let mut all = O::IDENTITY;
    for k in 0..N {
        all = O::combine(all, elements[k]);
    }
    all
}

/// The elements `part·b..part·(b + 1)` of `x` combined, for block *b*: in thread 0.
///
/// `combine_tile` gives thread 0 the combination of a tile, which is `items` elements a thread. All threads of the block
/// call it as often; between two calls stands a barrier.
#[inline(always)]
pub(super) fn combine_part<'a, T: Element, O: Operator<T>>(
    part: usize,
    x: Global<'a, T>,
    items: usize,
    combine_tile: impl Fn(Tile<'a, T>) -> T,
) -> T {
    let mut start = thread::block_idx_x() as usize * part;
    let end = x.len().min(start + part);
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
