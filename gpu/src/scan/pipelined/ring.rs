//! The ring of tiles in shared memory: asynchronous copies fill it while the block works on others.
//!
//! A thread copies the vectors that it will read, and no others. So it need not wait for the other threads' copies, and no
//! barrier stands between a copy and its use.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{AsyncCopies, Element, Global, Shared, dynamic_shared};

use crate::collective::LANES;
use crate::collective::tile::{Items, scan_vectors, warp_aggregate};
use crate::operator::Operator;
use crate::scan::tuning::{PIPELINED_CHUNKS as CHUNKS, STAGES, pipelined_tile_elements};

/// A thread's view of the ring.
pub(super) struct Ring<'a, T, const V: usize> {
    x: Global<'a, T>,
    /// The thread's first vector in a tile; its others follow a chunk apart.
    first: usize,
    /// The ring from that vector on.
    vectors: Shared<[T; V]>,
    copies: AsyncCopies,
    /// Tiles that are whole and can be copied, which are the first ones.
    whole: u32,
    /// All tiles.
    tiles: u32,
}

impl<'a, T: Element, const V: usize> Ring<'a, T, V> {
    /// Vectors of a tile.
    const VECTORS: usize = pipelined_tile_elements(V) / V;

    /// For the tiles of `x`, of which the first `whole` can be copied.
    #[inline(always)]
    pub(super) fn new(x: Global<'a, T>, first: usize, whole: u32, tiles: u32) -> Self {
        let vectors = dynamic_shared();
        assert!(vectors.len() >= STAGES * Self::VECTORS);
        // Not `part`: with a check that single threads could fail, ptxas takes the threads of a warp to diverge from here on.
        // SAFETY: the ring has so many vectors, and `first` is below the number of a tile's.
        let vectors = unsafe { vectors.part_unchecked(first, STAGES * Self::VECTORS - first) };
        Self { x, first, vectors, copies: AsyncCopies::new(), whole, tiles }
    }

    /// Begins to bring `tile`, if there is such a tile, to the place `stage` of the ring: a group of copies. What
    /// is past the array's end becomes zeros, whatever the operator: no result comes after it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn fetch(&mut self, tile: u32, stage: usize) {
        let (from, to) = ((tile as usize).wrapping_mul(Self::VECTORS).wrapping_add(self.first), self.at(stage));
        if tile < self.whole {
            for chunk in 0..CHUNKS {
                // SAFETY: the tile lies inside of `x`, which starts at a multiple of 16 bytes, and in the ring.
                unsafe { self.copies.copy_unchecked(self.x, from + chunk * LANES, to, chunk * LANES) };
            }
        } else if tile < self.tiles {
            for chunk in 0..CHUNKS {
                // SAFETY: `to` has the vectors of the thread.
                unsafe {
                    self.copies.copy_by_elements_unchecked(self.x, (from + chunk * LANES) * V, to, chunk * LANES)
                };
            }
        }
        self.copies.commit();
    }

    /// Waits for the thread's part of the tile that was fetched last but one, and of all before.
    #[inline(always)]
    #[track_caller]
    pub(super) fn wait(&mut self) {
        self.copies.wait::<1>();
    }

    /// The thread's elements of the tile at `stage`.
    #[inline(always)]
    pub(super) fn items<O: Operator<T>>(&self, stage: usize) -> Items<T, V, CHUNKS> {
        let (from, mut items) = (self.at(stage), [[O::IDENTITY; V]; CHUNKS]);
        for chunk in 0..CHUNKS {
            // SAFETY: `from` has the vectors of the thread.
            items[chunk] = unsafe { from.load_unchecked(chunk * LANES) };
        }
        items
    }

    /// All of the warp's elements of the tile at `stage` combined in order, in lane 0.
    #[inline(always)]
    pub(super) fn warp_aggregate<O: Operator<T>>(&self, stage: usize) -> T {
        let mut items = self.items::<O>(stage);
        scan_vectors::<T, O, V, CHUNKS>(&mut items);
        warp_aggregate::<T, O, V, CHUNKS>(&items)
    }

    /// The ring from the thread's first vector of the tile at `stage` on, to its last.
    #[inline(always)]
    fn at(&self, stage: usize) -> Shared<[T; V]> {
        // SAFETY: the ring has `STAGES` tiles, and `stage` is below that; the thread's last vector is one of the tile's.
        unsafe { self.vectors.part_unchecked(stage * Self::VECTORS, (CHUNKS - 1) * LANES + 1) }
    }
}
