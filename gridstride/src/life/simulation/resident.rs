//! How the rung `resident` shares a board out among the blocks that a device runs at once.

use cuda_std::{Kernel, Ladder};
use gpu::life::tuning::{RESIDENT_EXCHANGE, RESIDENT_GENERATION, RESIDENT_MARGINS, RESIDENT_ROW};
use gpu::life::{
    CELLS_PER_WORD, LifeRung, MOST_MARGIN, RESIDENT_THREADS, RESIDENT_WARPS, TEMPORAL_WORDS, life_resident,
    resident_published,
};
use launch::{Buffer, Device, Error, LaunchConfig, Queue};

use crate::error::AlgorithmError;
use crate::offers;

/// Rows that a thread may keep: there is a kernel for each.
const ROWS: [usize; 2] = [2, 4];

/// A kernel, the margins of its tiles, and the grid of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    rows: usize,
    margin: u32,
    grid: (u32, u32),
}

impl Plan {
    /// The one that takes least time.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] if there is none whose blocks `device` runs at once; when the device fails.
    pub(super) fn new(device: &Device, width: usize, height: usize) -> Result<Self, AlgorithmError> {
        let kernels = [<life_resident<2> as Kernel>::INFO, <life_resident<4> as Kernel>::INFO];
        let mut most = [0; ROWS.len()];
        for (most, kernel) in most.iter_mut().zip(kernels) {
            *most = device.most_cooperative_blocks(kernel, RESIDENT_THREADS, 0)? as usize;
        }
        Self::fastest(width, height, device.multiprocessors() as usize, most).ok_or_else(|| {
            let offered =
                "boards that fit the registers of all multiprocessors; all others but shared take larger ones";
            offers::refused(LifeRung::Resident.rung(), format!("a board of {width}x{height}"), offered.to_owned())
        })
    }

    /// As [`new`](Self::new), if there is one, where `most` blocks of each kernel run at once.
    fn fastest(width: usize, height: usize, multiprocessors: usize, most: [usize; ROWS.len()]) -> Option<Self> {
        let across = width.div_ceil(CELLS_PER_WORD).div_ceil(TEMPORAL_WORDS);
        let plans = ROWS.into_iter().zip(most).flat_map(|(rows, most)| {
            RESIDENT_MARGINS.into_iter().filter_map(move |margin| {
                debug_assert!(margin <= MOST_MARGIN);
                let inner = (RESIDENT_WARPS * rows).checked_sub(2 * margin as usize).filter(|&inner| inner > 0)?;
                let down = height.div_ceil(inner);
                let blocks = across.checked_mul(down).filter(|&blocks| blocks <= most)?;
                let a_generation = blocks.div_ceil(multiprocessors) * rows * RESIDENT_ROW + RESIDENT_GENERATION;
                let plan = Self { rows, margin, grid: (across as u32, down as u32) };
                Some((a_generation + RESIDENT_EXCHANGE / margin as usize, plan))
            })
        });
        Some(plans.min_by_key(|&(cost, _)| cost)?.1)
    }

    /// Where its blocks publish words of a board of `words` words.
    ///
    /// # Errors
    /// When the device has too little memory.
    pub(super) fn published(self, device: &Device, words: usize) -> Result<Buffer<u64>, Error> {
        let blocks = self.grid.0 as usize * self.grid.1 as usize;
        device.zeroed(resident_published(words, blocks).unwrap_or(usize::MAX))
    }

    /// Launches it, after which the board is in `next`.
    pub(super) fn advance(
        self,
        queue: Queue<'_>,
        (now, next): (&Buffer<u32>, &mut Buffer<u32>),
        published: &mut Buffer<u64>,
        (width, height): (usize, usize),
        generations: u32,
    ) -> Result<(), Error> {
        let config = LaunchConfig::new(self.grid, RESIDENT_THREADS).cooperative();
        let (now, next, published) = (now.view(), next.view_mut(), published.view_mut());
        let call = match self.rows {
            2 => life_resident::<2>(now, next, published, width, height, generations, self.margin),
            _ => life_resident::<4>(now, next, published, width, height, generations, self.margin),
        };
        queue.launch(config, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiles cover the board, and are no more than run at once.
    #[test]
    fn a_plan_covers_the_board_with_blocks_that_run_at_once() {
        let plan = |width, height| Plan::fastest(width, height, 132, [264; 2]);
        for (width, height) in [(1, 1), (256, 256), (1000, 700), (2048, 2048), (3072, 3072), (1, 12_000)] {
            let Plan { rows, margin, grid: (across, down) } = plan(width, height).unwrap();
            let inner = RESIDENT_WARPS * rows - 2 * margin as usize;
            assert!(across as usize * TEMPORAL_WORDS * CELLS_PER_WORD >= width && down as usize * inner >= height);
            assert!(across * down <= 264);
        }
        assert_eq!(plan(4096, 4096), None);
        assert_eq!(plan(usize::MAX, usize::MAX), None);
    }
}
