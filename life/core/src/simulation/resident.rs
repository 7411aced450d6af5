//! The distribution of a board over resident blocks, for the rung `resident`. Resident blocks all run at the same time.

use cuda_std::{Call, Global, GlobalMut, Kernel, KernelInfo};
use gpu::life::tuning::{RESIDENT_EXCHANGE, RESIDENT_GENERATION, RESIDENT_MARGINS, RESIDENT_ROW};
use gpu::life::{
    CELLS_PER_WORD, LifeRung, MAX_MARGIN, RESIDENT_THREADS, RESIDENT_WARPS, TEMPORAL_WORDS, life_resident,
    resident_published,
};
use launch::{Buffer, Device, Error, LaunchConfig};

use crate::error::LifeError;

/// The numbers of rows per thread for which there is a kernel.
const ROWS: [usize; 2] = [2, 4];

/// The maximum number of blocks per multiprocessor, because a multiprocessor has at most 2048 threads.
const MAX_BLOCKS: usize = (2048 / RESIDENT_THREADS) as usize;

/// A plan of the rung `resident`: the number of rows per thread, the margin of the tiles, and the grid of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ResidentPlan {
    rows: usize,
    margin: u32,
    grid: (u32, u32),
}

impl ResidentPlan {
    /// Returns the fastest plan for which all blocks can be resident on `device` at once.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] if there is no such plan or the device fails.
    pub(super) fn new(device: &Device, width: usize, height: usize) -> Result<Self, LifeError> {
        let multiprocessors = device.multiprocessors() as usize;
        for plan in Self::by_cost(width, height, multiprocessors) {
            let kernel = plan.kernel();
            // To query the number of resident blocks, the driver must compile the kernel. The kernel's launch bounds
            // often make the query unnecessary.
            let per_multiprocessor = if device.is_simulated() { 0 } else { kernel.min_blocks.unwrap_or(0) };
            let (certain, blocks) = (per_multiprocessor as usize * multiprocessors, plan.blocks());
            if blocks <= certain || blocks <= device.max_cooperative_blocks(kernel, RESIDENT_THREADS, 0)? as usize {
                return Ok(plan);
            }
        }
        let offered =
            "boards that fit the registers of all multiprocessors; use a rung other than shared for larger ones";
        Err(LifeError::refused(LifeRung::Resident, format!("a board of {width}x{height}"), offered))
    }

    /// Returns the kernel of the fastest plan, or `None` if the board is too large.
    pub(super) fn kernel_for(width: usize, height: usize, multiprocessors: usize) -> Option<&'static KernelInfo> {
        Self::by_cost(width, height, multiprocessors).first().map(|plan| plan.kernel())
    }

    /// Returns the plans in order of cost, the fastest first. Plans with more threads than the multiprocessors can run
    /// at once are left out. Registers are not checked.
    fn by_cost(width: usize, height: usize, multiprocessors: usize) -> Vec<Self> {
        let across = width.div_ceil(CELLS_PER_WORD).div_ceil(TEMPORAL_WORDS);
        let plans = ROWS.into_iter().flat_map(|rows| {
            RESIDENT_MARGINS.into_iter().filter_map(move |margin| {
                debug_assert!(margin <= MAX_MARGIN);
                let inner = (RESIDENT_WARPS * rows).checked_sub(2 * margin as usize).filter(|&inner| inner > 0)?;
                let down = height.div_ceil(inner);
                let each = across.checked_mul(down)?.div_ceil(multiprocessors);
                let plan = Self { rows, margin, grid: (u32::try_from(across).ok()?, u32::try_from(down).ok()?) };
                let cost = each * rows * RESIDENT_ROW + RESIDENT_GENERATION + RESIDENT_EXCHANGE / margin as usize;
                (each <= MAX_BLOCKS).then_some((cost, plan))
            })
        });
        let mut plans: Vec<_> = plans.collect();
        plans.sort_by_key(|&(cost, _)| cost);
        plans.into_iter().map(|(_, plan)| plan).collect()
    }

    fn blocks(self) -> usize {
        self.grid.0 as usize * self.grid.1 as usize
    }

    fn kernel(self) -> &'static KernelInfo {
        match self.rows {
            2 => <life_resident<2> as Kernel>::INFO,
            _ => <life_resident<4> as Kernel>::INFO,
        }
    }

    /// Allocates the buffer of the words that blocks publish to each other, for a board of `words` words.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub(super) fn published(self, device: &Device, words: usize) -> Result<Buffer<u64>, Error> {
        device.zeroed(resident_published(words, self.blocks()).unwrap_or(usize::MAX))
    }

    /// Returns the launch that advances `before` by `generations` generations and writes the result to `after`.
    pub(super) fn launch<'v>(
        self,
        (before, after): (Global<'v, u32>, GlobalMut<'v, u32>),
        published: &'v mut Buffer<u64>,
        (width, height): (usize, usize),
        generations: u32,
    ) -> (LaunchConfig, Call<'v>) {
        let published = published.view_mut();
        let call = match self.rows {
            2 => life_resident::<2>(before, after, published, width, height, generations, self.margin),
            _ => life_resident::<4>(before, after, published, width, height, generations, self.margin),
        };
        (LaunchConfig::new(self.grid, RESIDENT_THREADS).cooperative(), call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the tiles cover the board, and that the device can run all their blocks at once.
    #[test]
    fn a_plan_covers_the_board_with_blocks_that_run_at_once() {
        let plan =
            |width, height| ResidentPlan::by_cost(width, height, 132).into_iter().find(|plan| plan.blocks() <= 264);
        for (width, height) in [(1, 1), (256, 256), (1000, 700), (2048, 2048), (3072, 3072), (1, 12_000)] {
            let ResidentPlan { rows, margin, grid: (across, down) } = plan(width, height).unwrap();
            let inner = RESIDENT_WARPS * rows - 2 * margin as usize;
            assert!(across as usize * TEMPORAL_WORDS * CELLS_PER_WORD >= width && down as usize * inner >= height);
        }
        assert_eq!(plan(4096, 4096), None);
        assert_eq!(plan(usize::MAX, usize::MAX), None);
    }
}
