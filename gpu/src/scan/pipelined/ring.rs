//! The ring of tiles in shared memory: asynchronous copies fill one tile while the block works on others.
//!
//! A thread copies exactly the vectors that it will read. It therefore waits only for its own copies and needs no
//! barrier before it reads them.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{AsyncCopies, Element, Global, Shared, dynamic_shared};

use crate::collective::LANES;
use crate::collective::tile::{Items, scan_vectors, warp_aggregate};
use crate::operator::Operator;
use crate::scan::tuning::PIPELINED_WARPS as WARPS;

/// The ring as seen by one thread: `STAGES` tiles, of which each thread copies `CHUNKS` vectors of `V` elements.
pub struct Ring<'a, T, const V: usize, const CHUNKS: usize, const STAGES: usize> {
    x: Global<'a, T>,
    /// The index of the thread's first vector in a tile. The thread's vectors are one chunk apart.
    first: usize,
    /// The whole ring.
    slots: Shared<[T; V]>,
    /// The ring from the thread's first vector on.
    vectors: Shared<[T; V]>,
    copies: AsyncCopies,
    /// The number of tiles, from the first tile of `x` on, that can be copied in vectors.
    whole: u32,
    /// The number of all tiles of `x`.
    tiles: u32,
}

impl<'a, T: Element, const V: usize, const CHUNKS: usize, const STAGES: usize> Ring<'a, T, V, CHUNKS, STAGES> {
    /// The number of vectors in a tile.
    const VECTORS: usize = WARPS * LANES * CHUNKS;

    /// Returns an empty ring for the `tiles` tiles of `x`. The first `whole` of these tiles must be complete and
    /// aligned, so that they can be copied in vectors.
    #[inline(always)]
    pub fn new(x: Global<'a, T>, first: usize, whole: u32, tiles: u32) -> Self {
        let slots = dynamic_shared();
        assert!(slots.len() >= STAGES * Self::VECTORS);
        // `part` would check the bounds. ptxas would then assume that some threads of a warp may fail the check, and
        // would treat the warp as divergent from here on. SAFETY: the ring has `STAGES` tiles, and `first` is below the
        // number of vectors in a tile.
        let vectors = unsafe { slots.part_unchecked(first, STAGES * Self::VECTORS - first) };
        Self { x, first, slots, vectors, copies: AsyncCopies::new(), whole, tiles }
    }

    /// Starts the thread's copies of `tile`, if this tile exists, into slot `stage` of the ring, as one group. Elements
    /// beyond the end of the array become zeros. No result depends on these elements, so they need not be the
    /// operator's identity.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn fetch(&mut self, tile: u32, stage: usize) {
        let (from, to) = ((tile as usize).wrapping_mul(Self::VECTORS).wrapping_add(self.first), self.at(stage));
        if tile < self.whole {
            for chunk in 0..CHUNKS {
                // SAFETY: the tile is whole, so it lies in `x`, which starts at a multiple of 16 bytes, and `to` has
                // the thread's vectors.
                unsafe { self.copies.copy_unchecked(self.x, from + chunk * LANES, to, chunk * LANES) };
            }
        } else if tile < self.tiles {
            for chunk in 0..CHUNKS {
                // SAFETY: `to` has the thread's vectors.
                unsafe {
                    self.copies.copy_by_elements_unchecked(self.x, (from + chunk * LANES) * V, to, chunk * LANES)
                };
            }
        }
        self.copies.commit();
    }

    /// Waits for the thread's copies of all tiles except the `PENDING` tiles that [`fetch`](Self::fetch) started last.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        self.copies.wait::<PENDING>();
    }

    /// Returns all vectors of the tile in slot `stage`, of all threads.
    #[inline(always)]
    pub fn slot(&self, stage: usize) -> Shared<[T; V]> {
        // SAFETY: the ring has `STAGES` tiles, and `stage` is below that.
        unsafe { self.slots.part_unchecked(stage * Self::VECTORS, Self::VECTORS) }
    }

    /// Returns the thread's elements of the tile in slot `stage`.
    #[inline(always)]
    pub fn items<O: Operator<T>>(&self, stage: usize) -> Items<T, V, CHUNKS> {
        let (from, mut items) = (self.at(stage), [[O::IDENTITY; V]; CHUNKS]);
        for chunk in 0..CHUNKS {
            // SAFETY: `from` has the thread's vectors.
            items[chunk] = unsafe { from.load_unchecked(chunk * LANES) };
        }
        items
    }

    /// Returns, in lane 0, the combination of the warp's elements of the tile in slot `stage`, in order.
    #[inline(always)]
    pub fn warp_aggregate<O: Operator<T>>(&self, stage: usize) -> T {
        let mut items = self.items::<O>(stage);
        scan_vectors::<T, O, V, CHUNKS>(&mut items);
        warp_aggregate::<T, O, V, CHUNKS>(&items)
    }

    /// Returns the part of the ring from the thread's first to its last vector of the tile in slot `stage`.
    #[inline(always)]
    fn at(&self, stage: usize) -> Shared<[T; V]> {
        // SAFETY: the ring has `STAGES` tiles, `stage` is below that, and the thread's last vector lies in the tile.
        unsafe { self.vectors.part_unchecked(stage * Self::VECTORS, (CHUNKS - 1) * LANES + 1) }
    }
}
