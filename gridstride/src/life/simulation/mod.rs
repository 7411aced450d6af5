//! A board on a device, and the rung that advances it.

use cuda_std::Ladder;
pub use gpu::life::LifeRung;
use gpu::life::{
    self as kernels, CELLS_PER_VECTOR, CELLS_PER_WORD, GENERATIONS_PER_LAUNCH, MOST_CELLS_ALONG, ROWS_PER_THREAD,
    TEMPORAL_ROWS, TEMPORAL_THREADS, TEMPORAL_WORDS,
};
use launch::{Buffer, Device, Error, Held, LaunchConfig, Queue, Resources};

use super::circuits::alternating_tables;
use super::{Board, Rule};
use crate::error::AlgorithmError;
use crate::offers;

mod grids;
mod interleaved;
mod resident;

use grids::{BLOCKS_PER_MULTIPROCESSOR, LARGEST_GRID, linear, of_vectors, one_block, planar};
use interleaved::InterleavedCells;

/// The most generations that one launch of the rung runs.
pub fn generations_per_launch(rung: LifeRung) -> u64 {
    match rung {
        LifeRung::Global | LifeRung::Bitpacked => 1,
        LifeRung::Block | LifeRung::Shared => u64::MAX,
        LifeRung::Temporal => GENERATIONS_PER_LAUNCH.into(),
        LifeRung::Resident => u32::MAX.into(),
        LifeRung::Streaming => interleaved::MOST_GENERATIONS,
    }
}

/// Whether the rung can work on a board of this size on this device.
///
/// # Errors
/// [`AlgorithmError::NotOffered`] for [`LifeRung::Shared`] when two boards do not fit a block's shared memory, for
/// [`LifeRung::Resident`] when one does not fit the device's registers, and for [`LifeRung::Streaming`] beyond [`MOST_CELLS_ALONG`](gpu::life::MOST_CELLS_ALONG) columns or rows.
pub fn check_size(rung: LifeRung, width: usize, height: usize, device: &Device) -> Result<(), AlgorithmError> {
    if rung == LifeRung::Streaming && !interleaved::fits(width, height) {
        let offered =
            format!("at most {MOST_CELLS_ALONG} columns and rows; global, block, bitpacked and temporal take more");
        return Err(offers::refused(rung.rung(), format!("a board of {width}x{height}"), offered));
    }
    if rung == LifeRung::Resident && resident::Plan::new(device, width, height)?.is_none() {
        let offered = "boards that fit the registers of all multiprocessors; all others but shared take larger ones";
        return Err(offers::refused(rung.rung(), format!("a board of {width}x{height}"), offered.to_owned()));
    }
    let limit = device.max_dynamic_shared();
    let needed = width.saturating_mul(height).saturating_mul(2);
    if rung != LifeRung::Shared || needed <= limit as usize {
        return Ok(());
    }
    let asked = format!("a board of {width}x{height}, for which it needs {needed} bytes of shared memory");
    let offered = format!("boards that fit twice into the {limit} bytes of a block; all others take larger ones");
    Err(offers::refused(rung.rung(), asked, offered))
}

/// The fastest rung for `generations` generations of a board of this size at a time.
///
/// On a GPU a single generation is fastest by `bitpacked`, which is as fast as memory. Several are by `resident` where that can
/// hold the board, then by `temporal`, and from some 8192² cells on by `streaming`, as measured on an H200. In the simulator, where a launch costs little, it is `bitpacked`, which does least.
pub fn fastest(device: &Device, width: usize, height: usize, generations: u64) -> LifeRung {
    let cells = width.saturating_mul(height);
    let is_offered = |rung| check_size(rung, width, height, device).is_ok();
    if device.is_simulated() || generations <= 1 {
        LifeRung::Bitpacked
    } else if is_offered(LifeRung::Resident) {
        LifeRung::Resident
    } else if cells >= STREAMED && is_offered(LifeRung::Streaming) {
        LifeRung::Streaming
    } else {
        LifeRung::Temporal
    }
}

/// The fewest cells for which [`fastest`] takes `streaming`.
const STREAMED: usize = 1 << 26;

/// The board on the device, in the layout of the rung, and room for the next generation.
enum Cells {
    /// A byte per cell.
    Bytes { rung: ByteRung, now: Buffer<u8>, next: Buffer<u8> },
    /// 32 cells per word.
    Words { rung: WordRung, now: Buffer<u32>, next: Buffer<u32> },
    /// 32 cells per word, of columns that are far apart.
    Interleaved(InterleavedCells),
}

/// The rungs that keep one byte per cell.
#[derive(Clone, Copy)]
enum ByteRung {
    Global,
    Block,
    Shared,
}

/// The rungs that keep 32 cells per word.
#[derive(Clone, Copy)]
enum WordRung {
    Bitpacked,
    /// For boards whose rows are whole vectors.
    BitpackedVectors,
    Temporal,
    Resident(resident::Plan),
}

/// A board on a device, advanced by a rung.
pub struct Simulation {
    device: Device,
    rung: LifeRung,
    width: usize,
    height: usize,
    generation: u64,
    cells: Cells,
    total: Buffer<u64>,
    /// Blocks that keep the device busy.
    most_blocks: u32,
}

impl Simulation {
    /// Puts `board` on `device`, to be advanced by `rung`.
    ///
    /// # Errors
    /// [`AlgorithmError`] when the rung cannot work on a board of that size or the device has too little memory.
    pub fn new(device: &Device, rung: LifeRung, board: &Board) -> Result<Self, AlgorithmError> {
        Self::with_rule(device, rung, board, &Rule::LIFE)
    }

    /// As [`new`](Self::new), to be advanced by any rule of two states that counts all eight neighbours (B/S): for others than
    /// Life by [`LifeRung::Streaming`] alone.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and [`AlgorithmError::NotOffered`] for a rule that the rung does not have.
    pub fn with_rule(device: &Device, rung: LifeRung, board: &Board, rule: &Rule) -> Result<Self, AlgorithmError> {
        let (width, height) = (board.width(), board.height());
        let tables = if *rule == Rule::LIFE { None } else { alternating_tables(rule) };
        if *rule != Rule::LIFE && (rung != LifeRung::Streaming || tables.is_none()) {
            let offered = "B3/S23; streaming also has other B/S rules of two states that count all eight neighbours";
            return Err(offers::refused(rung.rung(), format!("the rule {rule}"), offered.to_owned()));
        }
        check_size(rung, width, height, device)?;
        let most_blocks = device.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
        let upload = || device.upload(board.words());
        let in_words = |rung| {
            let now = upload()?;
            Ok::<_, Error>(Cells::Words { rung, next: device.alloc(now.len())?, now })
        };
        let in_bytes = |rung| {
            let words = upload()?;
            let mut now = device.alloc(width * height)?;
            let unpack = kernels::life_unpack(words.view(), now.view_mut(), width, height);
            device.launch(linear(words.len(), most_blocks), unpack)?;
            Ok(Cells::Bytes { rung, now, next: device.alloc(width * height)? })
        };
        let cells = match rung {
            LifeRung::Global => in_bytes(ByteRung::Global),
            LifeRung::Block => in_bytes(ByteRung::Block),
            LifeRung::Shared => in_bytes(ByteRung::Shared),
            LifeRung::Bitpacked if width.is_multiple_of(CELLS_PER_VECTOR) => in_words(WordRung::BitpackedVectors),
            LifeRung::Bitpacked => in_words(WordRung::Bitpacked),
            LifeRung::Temporal => in_words(WordRung::Temporal),
            LifeRung::Resident => match resident::Plan::new(device, width, height)? {
                Some(plan) => in_words(WordRung::Resident(plan)),
                // `check_size` has said so.
                None => in_words(WordRung::Temporal),
            },
            LifeRung::Streaming => InterleavedCells::new(device, (width, height), board.words(), tables, most_blocks)
                .map(Cells::Interleaved),
        }?;
        let total = device.zeroed(1)?;
        Ok(Self { device: device.clone(), rung, width, height, generation: 0, cells, total, most_blocks })
    }

    /// Begins again with `board`, which is as large as the one that it was made for.
    ///
    /// # Errors
    /// [`AlgorithmError::Launch`] when the board has another size or the device fails.
    pub fn restart(&mut self, board: &Board) -> Result<(), AlgorithmError> {
        self.generation = 0;
        match &mut self.cells {
            Cells::Words { now, .. } => now.upload(board.words())?,
            Cells::Interleaved(cells) => cells.upload(&self.device, board.words(), self.most_blocks)?,
            Cells::Bytes { now, .. } => {
                let words = self.device.upload(board.words())?;
                let unpack = kernels::life_unpack(words.view(), now.view_mut(), self.width, self.height);
                self.device.launch(linear(words.len(), self.most_blocks), unpack)?;
            }
        }
        Ok(())
    }

    /// Runs `generations` generations. Does not wait for a GPU to finish them.
    ///
    /// # Errors
    /// [`AlgorithmError::Launch`] when a launch fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), AlgorithmError> {
        let device = self.device.clone();
        self.advance_in(device.queue(), generations)
    }

    /// As [`advance`](Self::advance), where `queue` is: the device, or a graph that is being recorded. Each launch of such a
    /// graph goes on from where the board is.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn advance_in(&mut self, queue: Queue<'_>, generations: u64) -> Result<(), AlgorithmError> {
        let (mut left, mut swaps) = (generations, 0_u64);
        while left > 0 {
            let most = left.min(generations_per_launch(self.rung));
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
            }
        }
        Ok(())
    }

    /// One launch of the rung, of at most `generations`, after which `now` is the board. Gives how many it has run, and whether
    /// that is the other buffer.
    fn launch(&mut self, queue: Queue<'_>, generations: u64) -> Result<(u64, bool), Error> {
        let (width, height) = (self.width, self.height);
        match &mut self.cells {
            Cells::Interleaved(cells) => {
                Ok((cells.advance(queue, self.generation, generations, self.most_blocks)?, true))
            }
            Cells::Words { rung, now, next } => {
                match rung {
                    WordRung::Resident(plan) => {
                        let generations = generations.min(u32::MAX.into()) as u32;
                        if !plan.advance(queue, (now, next), (width, height), generations)? {
                            return Ok((generations.into(), false));
                        }
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
                        let config = planar(width.div_ceil(CELLS_PER_WORD), height.div_ceil(ROWS_PER_THREAD));
                        queue.launch(config, kernels::life_bitpacked(now.view(), next.view_mut(), width, height))?;
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

    /// How many cells are alive, counted on the device.
    ///
    /// # Errors
    /// [`AlgorithmError::Launch`] when the device fails, now or in a generation that it had not finished.
    pub fn population(&mut self) -> Result<u64, AlgorithmError> {
        self.total.fill_zero()?;
        let (device, most_blocks) = (&self.device, self.most_blocks);
        match &self.cells {
            Cells::Interleaved(cells) => cells.count(device, &mut self.total, most_blocks)?,
            Cells::Words { now, .. } => {
                let call = kernels::life_population_words(now.view(), self.total.view_mut());
                device.launch(linear(now.len(), most_blocks), call)?;
            }
            Cells::Bytes { now, .. } => {
                let call = kernels::life_population_cells(now.view(), self.total.view_mut());
                device.launch(linear(now.len(), most_blocks), call)?;
            }
        }
        let mut count = [0];
        self.total.download_into(&mut count)?;
        Ok(count[0])
    }

    /// The board as it is now.
    ///
    /// # Errors
    /// [`AlgorithmError`] when the device fails or the host has too little memory.
    pub fn board(&self) -> Result<Board, AlgorithmError> {
        let (width, height) = (self.width, self.height);
        let words = match &self.cells {
            Cells::Words { now, .. } => now.download()?,
            Cells::Interleaved(cells) => cells.download(&self.device, (width, height), self.most_blocks)?,
            Cells::Bytes { now, .. } => {
                let mut words = self.device.alloc(width.div_ceil(CELLS_PER_WORD) * height)?;
                let config = linear(words.len(), self.most_blocks);
                self.device.launch(config, kernels::life_pack(now.view(), words.view_mut(), width, height))?;
                words.download()?
            }
        };
        Ok(Board::from_words(width, height, words)?)
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
        self.rung
    }
}

impl Resources for Simulation {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.cells {
            Cells::Bytes { now, next, .. } => {
                now.hold(held);
                next.hold(held);
            }
            Cells::Words { now, next, .. } | Cells::Interleaved(InterleavedCells { now, next, .. }) => {
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
