//! The loop in which a block combines its segment of the input, one tile per pass, from left to right.

use cuda_std::{Element, Global, thread};

use crate::operator::Operator;

/// A tile: the elements of `x` from index `start` on, up to the tile's length or the end of the block's segment.
#[derive(Clone, Copy)]
pub struct Tile<'a, T> {
    x: Global<'a, T>,
    start: usize,
    /// The end of the block's segment, at most the length of `x`.
    end: usize,
}

impl<T: Element> Tile<'_, T> {
    /// Returns element `offset` of the tile, or the identity if this element is beyond the end of the segment.
    #[inline(always)]
    pub fn element<O: Operator<T>>(self, offset: usize) -> T {
        let Self { x, start, end } = self;
        // SAFETY: the index is below `end`, which is at most the length of `x`.
        if start + offset < end { unsafe { x.load_unchecked(start + offset) } } else { O::IDENTITY }
    }

    /// Returns the combination of `N` elements of the tile, at offsets `first`, `first + step` and so on, from left to
    /// right. At the end of the segment there may be fewer elements.
    #[inline(always)]
    pub fn combine<O: Operator<T>, const N: usize>(self, first: usize, step: usize) -> T {
        let Self { x, start, end } = self;
        let first = start + first;
        let mut all = O::IDENTITY;
        if first + (N - 1) * step < end {
            // Without tests in between, all loads are in flight before the first result is needed.
            for k in 0..N {
                // SAFETY: no index exceeds the index of the last element, which is below `end`.
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

    /// Returns the combination of up to `N` elements of the tile for the calling thread. These elements are one block
    /// width apart, so neighbouring threads read neighbouring elements.
    #[inline(always)]
    pub fn combine_blocks<O: Operator<T>, const N: usize>(self) -> T {
        self.combine::<O, N>(thread::thread_idx_x() as usize, thread::block_dim_x() as usize)
    }
}

/// Combines the segment of the calling block: elements `segment·b..segment·(b + 1)` of `x` for block *b*. Returns the
/// result in thread 0.
///
/// `combine_tile` must return the aggregate of a tile in thread 0. A tile has `items` items per thread. All threads of
/// the block call `combine_tile` the same number of times, with a barrier between two calls.
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
        // `combine_tile` stores the next tile to shared memory that other threads may still be reading.
        thread::sync_threads();
    }
}
