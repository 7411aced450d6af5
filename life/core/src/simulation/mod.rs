//! Boards on a device, advanced by a rung.

pub use gpu::life::LifeRung;
use gpu::life::{
    self as kernels, CELLS_PER_VECTOR, CELLS_PER_WORD, GENERATIONS_PER_LAUNCH, ROWS_PER_THREAD, TEMPORAL_ROWS,
    TEMPORAL_THREADS, TEMPORAL_WORDS,
};
use launch::{Buffer, Device, Error, Held, LaunchConfig, Queue, Resources};

use super::board::words_needed;
use super::circuits::Circuit;
use super::{Board, Rule, Topology};
use crate::error::LifeError;

mod choice;
mod grids;
mod interleaved;
mod packed_rows;
mod queries;
mod resident;
mod two_bit_cells;

pub use choice::{check_on, check_rule, check_topology, default_rung, generations_per_launch, resident_kernels};
pub use queries::device_bytes;

use grids::{LARGEST_GRID, max_blocks, of_vectors, one_block, planar};
use interleaved::InterleavedCells;
use two_bit_cells::TwoBitCells;

/// The present board in the layout that the rung needs, and the buffer of the next board.
enum Cells {
    /// Cells with one byte each.
    Bytes { now: Buffer<u8>, next: Buffer<u8> },
    /// Words of 32 adjacent cells.
    Words { kernel: WordKernel, now: Buffer<u32>, next: Buffer<u32> },
    /// Words of 32 cells from distant columns.
    Interleaved(InterleavedCells),
    /// Cells with two bits each, in separate words.
    TwoBit(TwoBitCells),
}

/// Evaluates `$action` once for each bit plane, with the buffers of the present board and of the next board.
macro_rules! for_buffers {
    ($cells:expr, |$now:ident, $next:ident| $action:expr) => {
        match $cells {
            Cells::Bytes { now: $now, next: $next } => $action,
            Cells::Words { now: $now, next: $next, .. }
            | Cells::Interleaved(InterleavedCells { now: $now, next: $next, .. }) => $action,
            Cells::TwoBit(TwoBitCells { now, next, .. }) => {
                for ($now, $next) in now.iter_mut().zip(next) {
                    $action;
                }
            }
        }
    };
}
use for_buffers;

/// The kernels that advance boards with one bit per cell and adjacent cells in a word.
enum WordKernel {
    Bitpacked,
    /// The kernel for boards whose rows consist of whole vectors.
    BitpackedVectors,
    /// The kernel for rules that count neighbours, with its tables for even and for odd generations.
    Counts([&'static [u8]; 2]),
    /// The kernel for all rules, with its tables for even and for odd generations.
    Table([&'static [u8]; 2]),
    Temporal,
    /// The kernel of the rung `resident`, with its plan and the buffer of the words that its blocks publish to each
    /// other.
    Resident(resident::ResidentPlan, Buffer<u64>),
}

/// A board on a device, advanced by a rung.
pub struct Simulation {
    device: Device,
    width: usize,
    height: usize,
    generation: u64,
    /// The number of the board's first generation.
    from: u64,
    rung: LifeRung,
    cells: Cells,
    total: Buffer<u64>,
    /// A buffer for packed rows, or `None` until it is first needed.
    staging: Option<Buffer<u32>>,
    /// The maximum number of blocks for one launch, which is enough to keep the device busy.
    max_blocks: u32,
}

impl Simulation {
    /// Copies `board` to `device`. The simulation will advance it by `rung`.
    ///
    /// # Errors
    /// Fails in the same cases as [`check_on`]. Also returns [`LifeError::Algorithm`] if the device has too little
    /// memory.
    pub fn new(device: &Device, rung: LifeRung, board: &Board) -> Result<Self, LifeError> {
        Self::with_rule(device, rung, board, &Rule::LIFE, 0)
    }

    /// Makes a simulation like [`new`](Self::new), for `rule` and a board that is generation `from`. A rule with births
    /// without neighbours differs in even and odd generations.
    ///
    /// # Errors
    /// Fails in the same cases as [`new`](Self::new).
    pub fn with_rule(
        device: &Device,
        rung: LifeRung,
        board: &Board,
        rule: &Rule,
        from: u64,
    ) -> Result<Self, LifeError> {
        let mut life = Self::dead(device, rung, (board.width(), board.height()), rule, from)?;
        life.load(false)?;
        life.fill(board)?;
        Ok(life)
    }

    /// Makes a simulation like [`with_rule`](Self::with_rule) that begins with `width` × `height` dead cells.
    ///
    /// # Errors
    /// Fails in the same cases as [`with_rule`](Self::with_rule).
    pub fn dead(
        device: &Device,
        rung: LifeRung,
        (width, height): (usize, usize),
        rule: &Rule,
        from: u64,
    ) -> Result<Self, LifeError> {
        check_on(rung, device, (width, height), rule)?;
        let words = words_needed(width, height)?;
        let circuit = choice::circuit(rung, rule)?;
        let in_words = |kernel| {
            Ok::<_, LifeError>(Cells::Words { kernel, now: device.zeroed(words)?, next: device.alloc(words)? })
        };
        let in_bytes = || Ok(Cells::Bytes { now: device.zeroed(width * height)?, next: device.alloc(width * height)? });
        let cells = match rung {
            LifeRung::Bitpacked => match circuit {
                Circuit::Generations(tables, states) => {
                    Ok(Cells::TwoBit(TwoBitCells::dead(device, tables, states, words)?))
                }
                Circuit::Counts(tables) => in_words(WordKernel::Counts(tables)),
                Circuit::Table(tables) => in_words(WordKernel::Table(tables)),
                Circuit::Conway if width.is_multiple_of(CELLS_PER_VECTOR) => in_words(WordKernel::BitpackedVectors),
                Circuit::Conway => in_words(WordKernel::Bitpacked),
            },
            LifeRung::Global | LifeRung::Block | LifeRung::Shared => in_bytes(),
            LifeRung::Temporal => in_words(WordKernel::Temporal),
            LifeRung::Resident => {
                let plan = resident::ResidentPlan::new(device, width, height)?;
                in_words(WordKernel::Resident(plan, plan.published(device, words)?))
            }
            LifeRung::Streaming => {
                let tables = if let Circuit::Counts(tables) = circuit { Some(tables) } else { None };
                Ok(Cells::Interleaved(InterleavedCells::dead(device, (width, height), rule, tables)?))
            }
        }?;
        let (total, max_blocks) = (device.zeroed(2)?, max_blocks(device));
        let device = device.clone();
        Ok(Self { device, width, height, generation: 0, from, rung, cells, total, staging: None, max_blocks })
    }

    /// Joins the edges of the board as `topology` says. Without this call the board is a torus without a shift.
    ///
    /// # Errors
    /// Fails in the same cases as [`check_topology`].
    pub fn on(mut self, topology: Topology) -> Result<Self, LifeError> {
        check_topology(self.rung(), topology)?;
        if let Cells::Interleaved(cells) = &mut self.cells {
            cells.join(topology, (self.width, self.height));
        }
        Ok(self)
    }

    /// Replaces the board by `board`, which must have the same size, and resets the generation to 0.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] if the board has another size or the device fails.
    pub fn restart(&mut self, board: &Board) -> Result<(), LifeError> {
        self.generation = 0;
        self.fill(board)
    }

    /// Runs `generations` generations. Does not wait for a GPU to finish them.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] if a launch fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        let device = self.device.clone();
        self.advance_in(device.queue(), generations)
    }

    /// Advances the board like [`advance`](Self::advance), but on `queue`: the device's queue, or a graph that is being
    /// recorded. Each launch of the graph continues from the present board.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn advance_in(&mut self, queue: Queue<'_>, generations: u64) -> Result<(), LifeError> {
        let (mut left, mut swaps) = (generations, 0_u64);
        while left > 0 {
            let wanted = left.min(generations_per_launch(self.rung()));
            let (done, is_other) = self.launch(queue, wanted)?;
            swaps += u64::from(is_other);
            self.generation += done;
            left -= done;
        }
        if queue.is_recording() && !swaps.is_multiple_of(2) {
            // When the graph is launched again, it reads the same buffer as this time.
            for_buffers!(&mut self.cells, |now, next| back_to_front(queue, now, next)?);
        }
        Ok(())
    }

    /// Sets the number of the present generation without changing the board.
    pub(crate) fn set_generation(&mut self, generation: u64) {
        self.generation = generation;
    }

    /// Enqueues one launch of at most `generations` generations. Afterwards `now` is the present board. Returns the
    /// number of generations that the launch runs, and true if it swapped `now` and `next`.
    fn launch(&mut self, queue: Queue<'_>, generations: u64) -> Result<(u64, bool), Error> {
        let (width, height) = (self.width, self.height);
        let from = self.from.wrapping_add(self.generation);
        match &mut self.cells {
            Cells::Interleaved(cells) => Ok((cells.advance(queue, from, generations)?, true)),
            Cells::TwoBit(cells) => cells.advance(queue, width, height).map(|()| (1, true)),
            Cells::Words { kernel, now, next } => {
                let words = || planar(width.div_ceil(CELLS_PER_WORD), height.div_ceil(ROWS_PER_THREAD));
                let with = |tables: &[&'static [u8]; 2]| words().tables(tables[(from % 2) as usize]);
                let (before, after) = (now.view(), next.view_mut());
                let (config, call) = match kernel {
                    WordKernel::Counts(tables) => (with(tables), kernels::life_counts(before, after, width, height)),
                    WordKernel::Table(tables) => (with(tables), kernels::life_table(before, after, width, height)),
                    WordKernel::Resident(plan, published) => {
                        let generations = generations.min(u32::MAX.into()) as u32;
                        plan.launch((before, after), published, (width, height), generations)
                    }
                    WordKernel::Temporal => {
                        let across = width.div_ceil(CELLS_PER_WORD * TEMPORAL_WORDS).min(u32::MAX as usize) as u32;
                        let down = height.div_ceil(TEMPORAL_ROWS).min(LARGEST_GRID.1) as u32;
                        let config = LaunchConfig::new((across, down), TEMPORAL_THREADS);
                        let generations = generations.min(GENERATIONS_PER_LAUNCH.into()) as u32;
                        (config, kernels::life_temporal(before, after, width, height, generations))
                    }
                    WordKernel::BitpackedVectors => {
                        let config = of_vectors(width, height);
                        (config, kernels::life_bitpacked_vectors(before, after, width, height))
                    }
                    WordKernel::Bitpacked => (words(), kernels::life_bitpacked(before, after, width, height)),
                };
                queue.launch(config, call)?;
                std::mem::swap(now, next);
                Ok((generations, true))
            }
            Cells::Bytes { now, next } => {
                let (block, is_block) = (one_block(width * height), self.rung == LifeRung::Block);
                let after = next.view_mut();
                let (config, call) = match self.rung {
                    LifeRung::Block => (block, kernels::life_block(now.view_mut(), after, width, height, generations)),
                    LifeRung::Shared => {
                        let config = block.shared_bytes(2 * (width * height) as u32);
                        (config, kernels::life_shared(now.view(), after, width, height, generations))
                    }
                    _ => (planar(width, height), kernels::life_global(now.view(), after, width, height)),
                };
                queue.launch(config, call)?;
                let is_swapped = !(is_block && generations.is_multiple_of(2));
                if is_swapped {
                    std::mem::swap(now, next);
                }
                Ok((generations, is_swapped))
            }
        }
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the device whose memory holds the board.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the rung that advances the board.
    pub fn rung(&self) -> LifeRung {
        self.rung
    }
}

impl Resources for Simulation {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.cells {
            Cells::Words { kernel: WordKernel::Resident(_, published), now, next } => {
                published.hold(held);
                now.hold(held);
                next.hold(held);
            }
            cells => for_buffers!(cells, |now, next| {
                now.hold(held);
                next.hold(held);
            }),
        }
        self.total.hold(held);
    }
}

/// Copies `now` to `next` in stream order, and swaps the two buffers.
fn back_to_front<T: launch::Element>(queue: Queue<'_>, now: &mut Buffer<T>, next: &mut Buffer<T>) -> Result<(), Error> {
    queue.copy(now, next)?;
    std::mem::swap(now, next);
    Ok(())
}

#[cfg(test)]
mod tests {
    use cuda_std::Ladder;
    use launch::DeviceChoice;

    use super::*;

    #[test]
    fn a_board_is_advanced_by_the_rung_that_was_asked_for_or_by_none() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for &rung in LifeRung::ALL {
            let life = Simulation::dead(&device, rung, (128, 9), &Rule::LIFE, 0).unwrap();
            assert_eq!(life.rung(), rung);
        }
        for (rung, size) in [(LifeRung::Streaming, (1 << 40, 1)), (LifeRung::Resident, (1 << 20, 1 << 20))] {
            let error = Simulation::dead(&device, rung, size, &Rule::LIFE, 0).err().unwrap();
            let LifeError::Algorithm(gridstride::AlgorithmError::NotBuilt { rung: refused, .. }) = &error else {
                panic!("{error}")
            };
            assert_eq!(*refused, rung.name());
        }
    }
}
