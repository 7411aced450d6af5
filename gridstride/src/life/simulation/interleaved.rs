//! A board of interleaved bits on a device, and the plan of the launches that advance it.

use gpu::life::{
    self as kernels, CELLS_PER_WORD, Conway, Given, Interleaved, MOST_CELLS_ALONG, STREAMING_ROWS, STREAMING_WARPS, TILE_WORDS,
};
use launch::{Buffer, Device, Error, LaunchConfig, Queue};

use super::grids::{LARGEST_GRID, linear};

/// The most generations that one launch runs.
pub(super) const MOST_GENERATIONS: u64 = 6;

/// Rows by which a strip costs more than those that it has: those that fill the pipeline.
const FILLING: usize = 2 * STREAMING_ROWS;

/// The most times that each of a device's warps takes another strip.
const MOST_WAVES: usize = 4;

/// What a round takes, in units of what the warps wait at the end.
const WAITING: usize = 16;

/// Whether a board of this size can be laid out so.
pub(super) fn fits(width: usize, height: usize) -> bool {
    width.max(height) <= MOST_CELLS_ALONG
}

/// Bytes of a board of this size, at most.
pub(super) fn bytes(width: usize, height: usize) -> u64 {
    let layouts = (0..=5).filter_map(|fold_bits| Interleaved::new(width, height, fold_bits));
    layouts.map(|layout| 4 * layout.words() as u64).max().unwrap_or(u64::MAX)
}

/// How a board is laid out and cut into strips, a warp each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Plan {
    layout: Interleaved,
    /// Rows of a strip.
    strip: usize,
}

impl Plan {
    /// The one that takes least time on a device that runs `warps` warps at once: as many rounds of all warps as there are, each
    /// as long as a strip is high, and at the end a part of a round in which some warps wait for others. Of equal ones the one with
    /// the fewest tiles.
    fn new(width: usize, height: usize, warps: usize) -> Option<Self> {
        let layouts = (0..=5).filter_map(|fold_bits| Interleaved::new(width, height, fold_bits));
        let plans = layouts.flat_map(|layout| {
            let (tiles, rows) = (layout.tiles() as usize, layout.rows() as usize);
            (1..=MOST_WAVES).map(move |waves| {
                let strips = (warps * waves / tiles).clamp(1, LARGEST_GRID.1);
                let strip = rows.div_ceil(strips).next_multiple_of(STREAMING_ROWS);
                let rounds = (tiles * rows.div_ceil(strip)).div_ceil(warps);
                ((WAITING * rounds + 1) * (strip + FILLING), Self { layout, strip })
            })
        });
        Some(plans.min_by_key(|&(cost, plan)| (cost, plan.layout.tiles()))?.1)
    }
}

/// A board of interleaved bits, and room for another.
pub(super) struct InterleavedCells {
    plan: Plan,
    /// For rules other than Life's, the tables of launches that begin in an even and in an odd generation.
    tables: Option<[&'static [u8]; 2]>,
    pub(super) now: Buffer<u32>,
    pub(super) next: Buffer<u32>,
}

impl InterleavedCells {
    /// The packed board `words` on `device`, if it is not too large.
    pub(super) fn new(
        device: &Device,
        (width, height): (usize, usize),
        words: &Buffer<u32>,
        tables: Option<[&'static [u8]; 2]>,
        most_blocks: u32,
    ) -> Result<Option<Self>, Error> {
        let warps = (device.multiprocessors() * STREAMING_WARPS) as usize;
        let Some(plan) = Plan::new(width, height, warps) else { return Ok(None) };
        let len = plan.layout.words();
        let mut cells = Self { plan, tables, now: device.alloc(len)?, next: device.zeroed(len)? };
        cells.fill(device, words, most_blocks)?;
        Ok(Some(cells))
    }

    /// Makes the packed board `words` the present one.
    pub(super) fn fill(&mut self, device: &Device, words: &Buffer<u32>, most_blocks: u32) -> Result<(), Error> {
        let config = linear(self.now.len(), most_blocks);
        device.launch(config, kernels::life_interleave(words.view(), self.now.view_mut(), self.plan.layout))
    }

    /// The present board, packed.
    pub(super) fn packed(
        &self,
        device: &Device,
        (width, height): (usize, usize),
        most_blocks: u32,
    ) -> Result<Buffer<u32>, Error> {
        let mut words = device.alloc(width.div_ceil(CELLS_PER_WORD) * height)?;
        let config = linear(words.len(), most_blocks);
        let call = kernels::life_deinterleave(self.now.view(), words.view_mut(), self.plan.layout);
        device.launch(config, call)?;
        Ok(words)
    }

    /// Adds the number of living cells to `total`.
    pub(super) fn count(&self, device: &Device, total: &mut Buffer<u64>, most_blocks: u32) -> Result<(), Error> {
        let config = linear(self.now.len(), most_blocks);
        let call = kernels::life_population_interleaved(self.now.view(), total.view_mut(), self.plan.layout);
        device.launch(config, call)
    }

    /// One launch, of at most `generations`, from generation `from` on. Gives how many it has run: there are kernels for some
    /// numbers of generations.
    pub(super) fn advance(
        &mut self,
        queue: Queue<'_>,
        from: u64,
        generations: u64,
        most_blocks: u32,
    ) -> Result<u64, Error> {
        let Plan { layout, strip } = self.plan;
        // A word a thread, in blocks of a row of a tile.
        let blocks = layout.edge_words().div_ceil(TILE_WORDS as usize).min(most_blocks as usize);
        let config = LaunchConfig::new(blocks as u32, TILE_WORDS);
        queue.launch(config, kernels::life_edges(self.now.view_mut(), layout))?;

        let strips = (layout.rows() as usize).div_ceil(strip);
        let config = LaunchConfig::new((layout.tiles(), strips as u32), 32);
        let (now, next, strip) = (self.now.view(), self.next.view_mut(), strip as u32);
        let config = match self.tables {
            None => config,
            Some(tables) => config.tables(tables[(from % 2) as usize]),
        };
        let (depth, call) = match (self.tables, generations) {
            (None, 6..) => (6, kernels::life_streaming::<6, Conway>(now, next, layout, strip)),
            (None, 3..) => (3, kernels::life_streaming::<3, Conway>(now, next, layout, strip)),
            (None, _) => (1, kernels::life_streaming::<1, Conway>(now, next, layout, strip)),
            (Some(_), 6..) => (6, kernels::life_streaming::<6, Given>(now, next, layout, strip)),
            (Some(_), _) => (1, kernels::life_streaming::<1, Given>(now, next, layout, strip)),
        };
        queue.launch(config, call)?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strips cover the rows, in no more than CUDA's largest grid.
    #[test]
    fn a_plan_covers_the_board() {
        for (width, height) in [(1, 1), (7, 5), (4080, 33), (65_536, 65_536), (3, 1 << 30), (1 << 30, 1), (500, 100_000)] {
            for warps in [8, 1056] {
                let Plan { layout, strip } = Plan::new(width, height, warps).unwrap();
                let (rows, folds, tiles) = (layout.rows() as usize, layout.folds() as usize, layout.tiles() as usize);
                assert!(strip.is_multiple_of(STREAMING_ROWS) && rows.div_ceil(strip) <= LARGEST_GRID.1);
                assert!(rows * folds >= height && (rows - 1) * folds < height);
                assert!(tiles * layout.inner() as usize >= width && (tiles - 1) * (layout.inner() as usize) < width);
            }
        }
    }

    /// An H200 has 132 multiprocessors. Of the time that a plan takes, the part that is for cells alone.
    #[test]
    fn large_boards_are_cut_into_whole_waves() {
        let efficiency = |side: usize| {
            let warps = 132 * STREAMING_WARPS as usize;
            let Plan { layout, strip } = Plan::new(side, side, warps).unwrap();
            let strips = (layout.rows() as usize).div_ceil(strip) * layout.tiles() as usize;
            let rows = strips.div_ceil(warps) * (strip + FILLING);
            (side * side) as f64 / (warps * rows * CELLS_PER_WORD * TILE_WORDS as usize) as f64
        };
        assert!(efficiency(65_536) > 0.93, "{}", efficiency(65_536));
        assert!(efficiency(16_384) > 0.73, "{}", efficiency(16_384));
    }
}
