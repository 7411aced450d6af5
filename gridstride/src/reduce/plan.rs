//! The plan of a reduction: its launches, with their grids and blocks.

use cuda_std::Ladder;
use gpu::collective::vectors::vector_len;
use gpu::reduce::tile_elements;
use gpu::reduce::tuning::{
    BLOCK, GRID_STRIDE_BLOCK, LOADS, ONE_TILE_BLOCK, TILES_PER_MULTIPROCESSOR, blocks_per_multiprocessor,
};
use launch::LaunchConfig;

use super::ReduceRung;

/// The largest number of blocks in a grid.
const MAX_BLOCKS: usize = i32::MAX as usize;

const LANES: usize = 32;

/// One launch of a reduction. Each block of the launch combines a segment of the elements into one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// The number of elements that the launch reads.
    pub len: usize,
    /// The number of elements per block; the last block may have fewer. In the grid-stride rung, this is the average
    /// number.
    pub segment: u32,
    /// The number of blocks. Each block computes one partial result.
    pub blocks: u32,
}

/// The plan of a reduction: the launches that reduce *n* elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    kind: Kind,
    element_bytes: usize,
    block: u32,
    passes: Vec<Pass>,
}

/// The kernel that a plan launches, and the way in which the launches divide the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Launches in which each block writes a partial result. The next launch reduces the partial results. Each thread
    /// combines `items` elements of a tile.
    Passes { rung: ReduceRung, items: usize },
    /// One launch of the grid-stride rung, whose threads loop over the elements in steps of the grid's size.
    GridStride,
    /// One launch of the grid-stride rung's kernel for small inputs, with one block per tile of fixed size.
    OneTile,
}

impl Plan {
    /// Returns the plan for `n` elements of `element_bytes` bytes on a device with `multiprocessors` multiprocessors.
    pub fn new(rung: ReduceRung, n: usize, element_bytes: usize, multiprocessors: u32) -> Self {
        if rung.rung().items_per_thread().is_some() {
            return Self::with_block(rung, n, element_bytes, BLOCK);
        }
        let limit = |blocks: u32| blocks.saturating_mul(multiprocessors).max(1);
        if let Some(plan) = Self::one_tile(n, element_bytes)
            && plan.passes[0].blocks <= limit(TILES_PER_MULTIPROCESSOR)
        {
            return plan;
        }
        let tiles = n.div_ceil(GRID_STRIDE_BLOCK as usize * LOADS * vector_len(element_bytes)).max(1);
        let held = blocks_per_multiprocessor(n.saturating_mul(element_bytes));
        // The cast is lossless, because the value does not exceed `limit`, which is a `u32`.
        let blocks = tiles.min(limit(held) as usize) as u32;
        Self::grid_stride(n, element_bytes, blocks, GRID_STRIDE_BLOCK)
    }

    /// Returns a plan of `rung` with `block` threads per block. The function clamps `block` to 1..=1024 and rounds it
    /// down to a power of two. The grid-stride rung gets one block per tile, but at most 1024 blocks.
    pub fn with_block(rung: ReduceRung, n: usize, element_bytes: usize, block: u32) -> Self {
        let block = 1 << block.clamp(1, 1024).ilog2();
        let Some(items) = rung.rung().items_per_thread() else {
            let tile = block as usize * LOADS * vector_len(element_bytes);
            return Self::grid_stride(n, element_bytes, n.div_ceil(tile).clamp(1, 1024) as u32, block);
        };
        let tile = items * block as usize;
        let mut passes = Vec::new();
        let mut len = n;
        loop {
            // A block has several tiles if there are more tiles than blocks in the largest grid, or if a tile is a
            // single element.
            let tiles = len.div_ceil(tile).div_ceil(MAX_BLOCKS).max(if tile == 1 { 2 } else { 1 });
            // The segment fits into 32 bits, because the length has at most 63 bits and is divided by a number of
            // blocks of up to 31 bits.
            let segment = u32::try_from(tiles.saturating_mul(tile)).unwrap_or(u32::MAX);
            // The number of blocks is at most `MAX_BLOCKS`, because of the choice of `tiles`.
            let blocks = len.div_ceil(segment as usize).max(1) as u32;
            passes.push(Pass { len, segment, blocks });
            len = blocks as usize;
            if len == 1 {
                return Self { kind: Kind::Passes { rung, items }, element_bytes, block, passes };
            }
        }
    }

    /// Returns a plan of the grid-stride rung: one launch of `blocks` blocks of `block` threads. `block` must be a
    /// power of two.
    pub fn grid_stride(n: usize, element_bytes: usize, blocks: u32, block: u32) -> Self {
        let segment = u32::try_from(n.div_ceil(blocks.max(1) as usize)).unwrap_or(u32::MAX);
        let passes = vec![Pass { len: n, segment, blocks }];
        Self { kind: Kind::GridStride, element_bytes, block, passes }
    }

    /// Returns a plan of the grid-stride rung's kernel for small inputs, with one block per tile of [`tile_elements`].
    /// Returns `None` if the largest grid has fewer blocks than needed.
    pub fn one_tile(n: usize, element_bytes: usize) -> Option<Self> {
        let tiles = n.div_ceil(tile_elements(vector_len(element_bytes))).max(1);
        let blocks = u32::try_from(tiles).ok().filter(|_| tiles <= MAX_BLOCKS)?;
        Some(Self { kind: Kind::OneTile, ..Self::grid_stride(n, element_bytes, blocks, ONE_TILE_BLOCK) })
    }

    /// Returns true if the plan launches the grid-stride rung's kernel for small inputs.
    pub fn is_one_tile(&self) -> bool {
        self.kind == Kind::OneTile
    }

    /// Returns the kernel that the plan launches, and how its launches divide the elements.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the rung that the plan launches.
    pub fn rung(&self) -> ReduceRung {
        match self.kind {
            Kind::Passes { rung, .. } => rung,
            Kind::GridStride | Kind::OneTile => ReduceRung::GridStride,
        }
    }

    /// Returns the number of elements that the plan reduces.
    pub fn n(&self) -> usize {
        self.passes[0].len
    }

    /// Returns the number of threads per block.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Returns the launches in order; there is at least one launch.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Returns the grid and block of the launch `pass`.
    pub fn config(&self, pass: Pass) -> LaunchConfig {
        LaunchConfig::new(pass.blocks, self.block)
    }

    /// Returns the number of bytes of device memory for the partial results and the result.
    pub fn workspace_bytes(&self) -> u64 {
        let element = self.element_bytes as u64;
        let partials: u64 = self.passes.iter().map(|pass| u64::from(pass.blocks)).sum();
        // The grid-stride rung publishes each 4 bytes of a partial result with a flag of 4 bytes.
        let partial = match self.kind {
            Kind::Passes { .. } => element,
            Kind::GridStride | Kind::OneTile => element.next_multiple_of(4) * 2,
        };
        partials * partial + element
    }

    /// Returns the largest number of rounded additions on the path from an element to the result of a float sum. A test
    /// can derive an error bound from this number.
    ///
    /// Each launch contributes *m* − 1 roundings if a thread combines *m* elements one after the other, and
    /// log₂(threads) roundings for the tree in which the block combines the results of its threads. The value of *m*
    /// depends on the rung:
    ///
    /// - neighboured, interleaved: *m* = 1; unrolled by *N*: *m* = *N*; unrolled last warp, completely unrolled,
    ///   shuffle: *m* = 8. If a block has several tiles, each tile after the first adds one rounding. A block has
    ///   several tiles only if there are more than 2³¹ − 1 tiles in all.
    /// - grid-stride: a thread combines the elements at each position of its vectors, then the results of all
    ///   positions, then the elements outside whole vectors. After the block's tree, the last block combines the
    ///   partial results in the same way.
    /// - one tile per block: as in grid-stride, but a thread has at most one element outside whole vectors.
    ///
    /// The result is at most *n* − 1, because combining with the identity does not round.
    pub fn roundings(&self) -> usize {
        self.roundings_from(0)
    }

    /// Returns the same number as [`roundings`](Self::roundings), for a view whose first aligned vector of 16 bytes
    /// begins with element `lead`. The kernel combines the elements before element `lead` one by one. With one tile per
    /// block and a nonzero `lead`, the kernel combines all elements one by one.
    pub fn roundings_from(&self, lead: usize) -> usize {
        let depth = self.block.ilog2() as usize;
        let (block, blocks) = (self.block as usize, self.passes[0].blocks as usize);
        let vector = vector_len(self.element_bytes);
        let of_partials = if blocks > 1 { blocks.div_ceil(block) + depth } else { 0 };
        let roundings = match self.kind {
            Kind::Passes { items, .. } => {
                let tile = items * block;
                self.passes.iter().map(|pass| (items - 1) + depth + ((pass.segment as usize).div_ceil(tile) - 1)).sum()
            }
            Kind::OneTile if lead == 0 => LOADS + vector + depth + of_partials,
            Kind::OneTile => LOADS * vector + depth + of_partials,
            Kind::GridStride => {
                let chunk = vector * LOADS * LANES;
                let (lead, threads) = (lead.min(self.n()), block * blocks);
                let aligned = self.n() - lead;
                let chunks = if block >= LANES { aligned / chunk } else { 0 };
                let in_vectors = chunks.div_ceil((threads / LANES).max(1)) * LOADS;
                let rest = (aligned - chunks * chunk).div_ceil(threads) + lead.div_ceil(threads);
                in_vectors + vector + rest + depth + of_partials
            }
        };
        roundings.min(self.n().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pair `(len, blocks)` of each launch.
    fn passes(plan: &Plan) -> Vec<(usize, u32)> {
        plan.passes().iter().map(|pass| (pass.len, pass.blocks)).collect()
    }

    #[test]
    fn launches_follow_until_one_element_is_left() {
        let plan = |rung, n| Plan::new(rung, n, 4, 132);
        assert_eq!(passes(&plan(ReduceRung::Neighboured, 0)), [(0, 1)]);
        assert_eq!(passes(&plan(ReduceRung::Neighboured, 256)), [(256, 1)]);
        assert_eq!(passes(&plan(ReduceRung::Interleaved, 257)), [(257, 2), (2, 1)]);
        assert_eq!(passes(&plan(ReduceRung::Interleaved, 1 << 24)), [(1 << 24, 1 << 16), (1 << 16, 256), (256, 1)]);
        assert_eq!(passes(&plan(ReduceRung::Unrolled8, 1 << 24)), [(1 << 24, 1 << 13), (1 << 13, 4), (4, 1)]);
        assert_eq!(passes(&plan(ReduceRung::GridStride, 1 << 28)), [(1 << 28, 4 * 132)]);
        assert_eq!(passes(&plan(ReduceRung::GridStride, 1 << 16)), [(1 << 16, 16)]);
        assert_eq!(passes(&plan(ReduceRung::GridStride, 0)), [(0, 1)]);
    }

    #[test]
    fn a_small_input_takes_one_tile_a_block() {
        let plan = |n, bytes| Plan::new(ReduceRung::GridStride, n, bytes, 132);
        assert!(plan(0, 4).is_one_tile() && plan(264 * 4096, 4).is_one_tile() && plan(264 * 2048, 8).is_one_tile());
        assert!(!plan(264 * 4096 + 1, 4).is_one_tile() && !plan(264 * 2048 + 1, 8).is_one_tile());
        assert!(!plan(usize::MAX, 4).is_one_tile());
        assert_eq!(Plan::one_tile(usize::MAX, 8), None);
        for n in [0, 1, 4095, 4096, 4097, 1 << 42] {
            let plan = Plan::one_tile(n, 4).unwrap();
            let (blocks, tile) = (u64::from(plan.passes()[0].blocks), 4096);
            assert_eq!(plan.block(), 256);
            assert!(blocks * tile >= n as u64 && (blocks == 1 || (blocks - 1) * tile < n as u64), "{plan:?}");
        }
        // A thread adds 4 vectors of 4 elements and one more element, and then 256 threads add in a tree. The last
        // block does the same with the results of 16 blocks.
        assert_eq!(plan(1 << 16, 4).roundings(), (4 + 4) + 8 + (1 + 8));
        assert_eq!(plan(4096, 4).roundings(), (4 + 4) + 8);
        assert_eq!(plan(5, 4).roundings(), 4);
    }

    #[test]
    fn every_plan_covers_its_elements_with_grids_that_can_be_launched() {
        for &rung in ReduceRung::ALL {
            for block in [1, 2, 32, 256, 1024] {
                for n in [0, 1, 2, 3, 1000, 1 << 31, (1 << 40) + 12345, 1 << 62] {
                    let plan = Plan::with_block(rung, n, 4, block);
                    let mut len = n;
                    for pass in plan.passes() {
                        assert_eq!(pass.len, len, "{plan:?}");
                        assert!((1..=i32::MAX as u32).contains(&pass.blocks), "{plan:?}");
                        len = pass.blocks as usize;
                        if rung == ReduceRung::GridStride {
                            continue;
                        }
                        let covered = u128::from(pass.segment) * u128::from(pass.blocks);
                        assert!(
                            covered >= pass.len as u128 && covered < 2 * (pass.len as u128).max(1 << 24),
                            "{plan:?}"
                        );
                    }
                    assert!(len == 1 || rung == ReduceRung::GridStride, "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn roundings_are_those_of_the_longest_way() {
        let roundings = |rung, n| Plan::new(rung, n, 4, 2).roundings();
        assert_eq!(roundings(ReduceRung::Neighboured, 0), 0);
        assert_eq!(roundings(ReduceRung::Neighboured, 1), 0);
        assert_eq!(roundings(ReduceRung::Neighboured, 256), 8);
        assert_eq!(roundings(ReduceRung::Neighboured, 1 << 16), 16);
        assert_eq!(roundings(ReduceRung::Unrolled8, 2048), 7 + 8);
        assert_eq!(roundings(ReduceRung::Shuffle, 4096), 2 * (7 + 8));
        // The grid has 2 · 4 blocks of 16 warps. It processes 128 chunks of 512 elements in one pass, and 129 chunks in
        // two.
        assert_eq!(roundings(ReduceRung::GridStride, 128 * 512), 4 + 4 + 9 + (1 + 9));
        assert_eq!(roundings(ReduceRung::GridStride, 129 * 512 + 1), 8 + 4 + 1 + 9 + (1 + 9));
        let one_thread = Plan::grid_stride(1000, 8, 1, 1);
        assert_eq!(one_thread.roundings(), 999);
    }
}
