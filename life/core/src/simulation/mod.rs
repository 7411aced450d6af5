//! A board on a device, and the rung that advances it.

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

mod ages;
mod choice;
mod grids;
mod interleaved;
mod queries;
mod resident;
mod rows;

pub use choice::{check_on, check_rule, check_topology, default_rung, generations_per_launch, resident_kernels};
pub use queries::device_bytes;

use ages::Ages;
use grids::{LARGEST_GRID, max_blocks, of_vectors, one_block, planar};
use interleaved::InterleavedCells;

/// The board on the device, in the layout of the rung, and room for the next generation.
enum Cells {
    /// A byte per cell.
    Bytes { rung: ByteRung, now: Buffer<u8>, next: Buffer<u8> },
    /// 32 cells per word.
    Words { rung: WordRung, now: Buffer<u32>, next: Buffer<u32> },
    /// 32 cells per word, of columns that are far apart.
    Interleaved(InterleavedCells),
    /// Two bits per cell, each in words.
    Ages(Ages),
}

/// The rungs that keep one byte per cell.
#[derive(Clone, Copy)]
enum ByteRung {
    Global,
    Block,
    Shared,
}

/// The rungs that keep 32 cells per word.
enum WordRung {
    Bitpacked,
    /// For boards whose rows are whole vectors.
    BitpackedVectors,
    /// By a rule that counts, and by any rule: the tables of even and of odd generations.
    Counts([&'static [u8]; 2]),
    Table([&'static [u8]; 2]),
    Temporal,
    /// And what its blocks publish for each other.
    Resident(resident::Plan, Buffer<u64>),
}

/// A board on a device, advanced by a rung.
pub struct Simulation {
    device: Device,
    width: usize,
    height: usize,
    generation: u64,
    /// The generation that the first board is in.
    from: u64,
    cells: Cells,
    total: Buffer<u64>,
    /// Packed rows on their way.
    staging: Option<Buffer<u32>>,
    /// Blocks that keep the device busy.
    max_blocks: u32,
}

impl Simulation {
    /// Puts `board` on `device`, to be advanced by `rung`.
    ///
    /// # Errors
    /// As for [`check_on`]; [`LifeError::Algorithm`] when the device has too little memory.
    pub fn new(device: &Device, rung: LifeRung, board: &Board) -> Result<Self, LifeError> {
        Self::with_rule(device, rung, board, &Rule::LIFE, 0)
    }

    /// As [`new`](Self::new), to be advanced by `rule`, beginning with the board of generation `from`: a rule with
    /// births from no neighbours differs in even and odd ones.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
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

    /// As [`with_rule`](Self::with_rule), where all of `width` × `height` cells are dead.
    ///
    /// # Errors
    /// As for [`with_rule`](Self::with_rule).
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
        let in_words =
            |rung| Ok::<_, LifeError>(Cells::Words { rung, now: device.zeroed(words)?, next: device.alloc(words)? });
        let in_bytes =
            |rung| Ok(Cells::Bytes { rung, now: device.zeroed(width * height)?, next: device.alloc(width * height)? });
        let cells = match rung {
            LifeRung::Bitpacked => match circuit {
                Circuit::Generations(tables, states) => Ok(Cells::Ages(Ages::dead(device, tables, states, words)?)),
                Circuit::Counts(tables) => in_words(WordRung::Counts(tables)),
                Circuit::Table(tables) => in_words(WordRung::Table(tables)),
                Circuit::Conway if width.is_multiple_of(CELLS_PER_VECTOR) => in_words(WordRung::BitpackedVectors),
                Circuit::Conway => in_words(WordRung::Bitpacked),
            },
            LifeRung::Global => in_bytes(ByteRung::Global),
            LifeRung::Block => in_bytes(ByteRung::Block),
            LifeRung::Shared => in_bytes(ByteRung::Shared),
            LifeRung::Temporal => in_words(WordRung::Temporal),
            LifeRung::Resident => {
                let plan = resident::Plan::new(device, width, height)?;
                in_words(WordRung::Resident(plan, plan.published(device, words)?))
            }
            LifeRung::Streaming => {
                let tables = if let Circuit::Counts(tables) = circuit { Some(tables) } else { None };
                Ok(Cells::Interleaved(InterleavedCells::dead(device, (width, height), rule, tables)?))
            }
        }?;
        let (total, max_blocks) = (device.zeroed(2)?, max_blocks(device));
        let device = device.clone();
        Ok(Self { device, width, height, generation: 0, from, cells, total, staging: None, max_blocks })
    }

    /// The same board, whose edges are joined by `topology`: at first it is a torus without a shift.
    ///
    /// # Errors
    /// As for [`check_topology`].
    pub fn on(mut self, topology: Topology) -> Result<Self, LifeError> {
        check_topology(self.rung(), topology)?;
        if let Cells::Interleaved(cells) = &mut self.cells {
            cells.join(topology, (self.width, self.height));
        }
        Ok(self)
    }

    /// Begins again with `board`, which is as large as the one that it was made for.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] when the board has another size or the device fails.
    pub fn restart(&mut self, board: &Board) -> Result<(), LifeError> {
        self.generation = 0;
        self.fill(board)
    }

    /// Runs `generations` generations. Does not wait for a GPU to finish them.
    ///
    /// # Errors
    /// [`LifeError::Algorithm`] when a launch fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        let device = self.device.clone();
        self.advance_in(device.queue(), generations)
    }

    /// As [`advance`](Self::advance), where `queue` is: the device, or a graph that is being recorded. Each launch of
    /// such a graph goes on from where the board is.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn advance_in(&mut self, queue: Queue<'_>, generations: u64) -> Result<(), LifeError> {
        let (mut left, mut swaps) = (generations, 0_u64);
        while left > 0 {
            let most = left.min(generations_per_launch(self.rung()));
            let (done, is_other) = self.launch(queue, most)?;
            swaps += u64::from(is_other);
            self.generation += done;
            left -= done;
        }
        if queue.is_recording() && !swaps.is_multiple_of(2) {
            // The graph's next launch begins where this one did.
            match &mut self.cells {
                Cells::Bytes { now, next, .. } => back_to_front(queue, now, next)?,
                Cells::Words { now, next, .. } | Cells::Interleaved(InterleavedCells { now, next, .. }) => {
                    back_to_front(queue, now, next)?;
                }
                Cells::Ages(Ages { now, next, .. }) => {
                    now.iter_mut().zip(next).try_for_each(|(now, next)| back_to_front(queue, now, next))?;
                }
            }
        }
        Ok(())
    }

    /// Calls the present board that of generation `generation`.
    pub(crate) fn set_generation(&mut self, generation: u64) {
        self.generation = generation;
    }

    /// One launch of the rung, of at most `generations`, after which `now` is the board. Gives how many it has run, and
    /// whether that is the other buffer.
    fn launch(&mut self, queue: Queue<'_>, generations: u64) -> Result<(u64, bool), Error> {
        let (width, height) = (self.width, self.height);
        let from = self.from.wrapping_add(self.generation);
        match &mut self.cells {
            Cells::Interleaved(cells) => Ok((cells.advance(queue, from, generations, self.max_blocks)?, true)),
            Cells::Ages(cells) => cells.advance(queue, width, height).map(|()| (1, true)),
            Cells::Words { rung, now, next } => {
                let words = || planar(width.div_ceil(CELLS_PER_WORD), height.div_ceil(ROWS_PER_THREAD));
                match rung {
                    WordRung::Counts(tables) => {
                        let call = kernels::life_counts(now.view(), next.view_mut(), width, height);
                        queue.launch(words().tables(tables[(from % 2) as usize]), call)?;
                    }
                    WordRung::Table(tables) => {
                        let call = kernels::life_table(now.view(), next.view_mut(), width, height);
                        queue.launch(words().tables(tables[(from % 2) as usize]), call)?;
                    }
                    WordRung::Resident(plan, published) => {
                        let generations = generations.min(u32::MAX.into()) as u32;
                        plan.advance(queue, (now, next), published, (width, height), generations)?;
                    }
                    WordRung::Temporal => {
                        let across = width.div_ceil(CELLS_PER_WORD * TEMPORAL_WORDS).min(u32::MAX as usize) as u32;
                        let down = height.div_ceil(TEMPORAL_ROWS).min(LARGEST_GRID.1) as u32;
                        let config = LaunchConfig::new((across, down), TEMPORAL_THREADS);
                        let generations = generations.min(GENERATIONS_PER_LAUNCH.into()) as u32;
                        let call = kernels::life_temporal(now.view(), next.view_mut(), width, height, generations);
                        queue.launch(config, call)?;
                    }
                    WordRung::BitpackedVectors => {
                        let call = kernels::life_bitpacked_vectors(now.view(), next.view_mut(), width, height);
                        queue.launch(of_vectors(width, height), call)?;
                    }
                    WordRung::Bitpacked => {
                        queue.launch(words(), kernels::life_bitpacked(now.view(), next.view_mut(), width, height))?;
                    }
                }
                std::mem::swap(now, next);
                Ok((generations, true))
            }
            Cells::Bytes { rung, now, next } => {
                match rung {
                    ByteRung::Block => {
                        let (even, odd) = (now.view_mut(), next.view_mut());
                        let call = kernels::life_block(even, odd, width, height, generations);
                        queue.launch(one_block(width * height), call)?;
                        if generations.is_multiple_of(2) {
                            return Ok((generations, false));
                        }
                    }
                    ByteRung::Shared => {
                        let config = one_block(width * height).shared_bytes(2 * (width * height) as u32);
                        let call = kernels::life_shared(now.view(), next.view_mut(), width, height, generations);
                        queue.launch(config, call)?;
                    }
                    ByteRung::Global => {
                        let call = kernels::life_global(now.view(), next.view_mut(), width, height);
                        queue.launch(planar(width, height), call)?;
                    }
                }
                std::mem::swap(now, next);
                Ok((generations, true))
            }
        }
    }

    /// Columns of the board.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of the board.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The device that the board is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The rung that advances the board.
    pub fn rung(&self) -> LifeRung {
        match &self.cells {
            Cells::Bytes { rung: ByteRung::Global, .. } => LifeRung::Global,
            Cells::Bytes { rung: ByteRung::Block, .. } => LifeRung::Block,
            Cells::Bytes { rung: ByteRung::Shared, .. } => LifeRung::Shared,
            Cells::Words { rung: WordRung::Temporal, .. } => LifeRung::Temporal,
            Cells::Words { rung: WordRung::Resident(..), .. } => LifeRung::Resident,
            Cells::Words { .. } | Cells::Ages(_) => LifeRung::Bitpacked,
            Cells::Interleaved(_) => LifeRung::Streaming,
        }
    }
}

impl Resources for Simulation {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.cells {
            Cells::Ages(Ages { now, next, .. }) => {
                now.iter_mut().chain(next).for_each(|cells| cells.hold(held));
            }
            Cells::Bytes { now, next, .. } => {
                now.hold(held);
                next.hold(held);
            }
            Cells::Words { rung, now, next } => {
                now.hold(held);
                next.hold(held);
                if let WordRung::Resident(_, published) = rung {
                    published.hold(held);
                }
            }
            Cells::Interleaved(InterleavedCells { now, next, .. }) => {
                now.hold(held);
                next.hold(held);
            }
        }
        self.total.hold(held);
    }
}

/// Copies the board that is in `now` to `next`, and makes that `now`.
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
            assert!(
                matches!(error, LifeError::Algorithm(gridstride::AlgorithmError::NotBuilt { rung: name, .. }) if name == rung.name()),
                "{error}"
            );
        }
    }
}
