//! A board on a device, and the kernel that advances it.

use std::fmt;
use std::str::FromStr;

use gpu::life::{
    self as kernels, CELLS_PER_VECTOR, CELLS_PER_WORD, GENERATIONS_PER_LAUNCH, ROWS_PER_THREAD, TEMPORAL_ROWS,
    TEMPORAL_THREADS, TEMPORAL_WORDS, VECTOR_ROWS, VECTOR_WARPS, VECTORS_PER_WARP,
};
use launch::{Buffer, Device, LaunchConfig};
use thiserror::Error;

use super::Board;
use super::board::{SizeError, WordsError};

/// The kernels of Life, in the order of the ladder: see [`gpu::life`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LifeKernel {
    /// Global memory, a thread a cell, one generation a launch.
    Global,
    /// One block, many generations in one launch, in global memory.
    Block,
    /// One block, many generations in one launch, in shared memory. The board must fit twice.
    Shared,
    /// 32 cells a word, one generation a launch; four words at a time where the width is a multiple of 128.
    Bitpacked,
    /// 32 cells a word, several generations a launch on tiles with a margin.
    Temporal,
}

impl LifeKernel {
    /// Every kernel, slowest idea first.
    pub const ALL: [Self; 5] = [Self::Global, Self::Block, Self::Shared, Self::Bitpacked, Self::Temporal];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Block => "block",
            Self::Shared => "shared",
            Self::Bitpacked => "bitpacked",
            Self::Temporal => "temporal",
        }
    }

    /// The most generations that one launch runs.
    pub fn generations_per_launch(self) -> u64 {
        match self {
            Self::Global | Self::Bitpacked => 1,
            Self::Block | Self::Shared => u64::MAX,
            Self::Temporal => GENERATIONS_PER_LAUNCH.into(),
        }
    }

    /// Whether it keeps 32 cells in a word.
    fn is_packed(self) -> bool {
        matches!(self, Self::Bitpacked | Self::Temporal)
    }

    /// Whether the kernel can work on a board of this size on this device.
    ///
    /// # Errors
    /// [`LifeError::TooLargeForShared`] for [`LifeKernel::Shared`] when two boards do not fit a block's shared memory.
    pub fn check_size(self, width: usize, height: usize, device: &Device) -> Result<(), LifeError> {
        if self != Self::Shared {
            return Ok(());
        }
        let limit = device.max_dynamic_shared();
        let needed = width.saturating_mul(height).saturating_mul(2);
        if needed <= limit as usize {
            Ok(())
        } else {
            Err(LifeError::TooLargeForShared { width, height, needed, limit })
        }
    }
}

impl fmt::Display for LifeKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no kernel has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "there is no kernel `{name}`: did you mean `{nearest}`? The kernels are global, block, shared, bitpacked and temporal"
)]
pub struct UnknownKernel {
    /// The name asked for.
    pub name: String,
    /// The kernel whose name is most like it.
    pub nearest: LifeKernel,
}

impl FromStr for LifeKernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        let similarity = |kernel: &Self| strsim::jaro_winkler(&name.to_lowercase(), kernel.name());
        let nearest = Self::ALL.into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        match nearest {
            Some(kernel) if kernel.name() == name => Ok(kernel),
            nearest => Err(UnknownKernel { name: name.into(), nearest: nearest.unwrap_or(Self::Bitpacked) }),
        }
    }
}

/// Why a simulation cannot be or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LifeError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] launch::Error),
    /// Two boards of bytes do not fit a block's shared memory.
    #[error(
        "the kernel `shared` cannot work on a board of {width}x{height}: it needs {needed} bytes of shared memory and a \
         block has {limit}; `global`, `block`, `bitpacked` and `temporal` can work on any size"
    )]
    TooLargeForShared {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes that two boards take.
        needed: usize,
        /// Bytes that a block of this device may have.
        limit: u32,
    },
    /// The board cannot be.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// What came back from the device is no board.
    #[error(transparent)]
    Words(#[from] WordsError),
}

/// The board on the device, in the layout of the kernel, and room for the next generation.
enum Cells {
    Bytes { now: Buffer<u8>, next: Buffer<u8> },
    Words { now: Buffer<u32>, next: Buffer<u32> },
}

/// A board on a device, advanced by a kernel.
pub struct Simulation {
    device: Device,
    kernel: LifeKernel,
    width: usize,
    height: usize,
    generation: u64,
    cells: Cells,
    total: Buffer<u64>,
    /// Blocks that keep the device busy.
    most_blocks: u32,
}

/// Threads of a block in a launch that has no other wish.
const THREADS: u32 = 256;

/// Blocks of [`THREADS`] that an SM has room for, a few times over so that the last ones end together.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;

/// A thread for each of `items`, but no more blocks than keep the device busy: the kernels go on by grid-stride.
fn linear(items: usize, most_blocks: u32) -> LaunchConfig {
    let blocks = items.div_ceil(THREADS as usize).clamp(1, most_blocks as usize);
    LaunchConfig::new(blocks as u32, THREADS)
}

/// CUDA's largest grid of blocks.
const LARGEST_GRID: (usize, usize) = (i32::MAX as usize, 65_535);

/// A thread for each of `columns × rows` items, as far as CUDA's largest grid goes: the kernels go on by grid-stride.
fn planar(columns: usize, rows: usize) -> LaunchConfig {
    // A block is as wide as a warp, unless the board is narrower: lanes beside it would idle.
    let block_x = columns.next_power_of_two().min(32);
    let block_y = THREADS as usize / block_x;
    let grid_x = columns.div_ceil(block_x).min(LARGEST_GRID.0);
    let grid_y = rows.div_ceil(block_y).min(LARGEST_GRID.1);
    LaunchConfig::new((grid_x as u32, grid_y as u32), (block_x as u32, block_y as u32))
}

/// A warp for each 32 vectors along x and strip of rows of a board of whole vectors. The kernel has no loop over either: what
/// CUDA's largest grid does not hold along y goes along z.
fn of_vectors(width: usize, height: usize) -> LaunchConfig {
    let across = width.div_ceil(CELLS_PER_VECTOR * VECTORS_PER_WARP).min(LARGEST_GRID.0);
    let down = height.div_ceil(VECTOR_ROWS * VECTOR_WARPS as usize);
    let planes = down.div_ceil(LARGEST_GRID.1).clamp(1, LARGEST_GRID.1);
    let down = down.div_ceil(planes).min(LARGEST_GRID.1);
    LaunchConfig::new((across as u32, down as u32, planes as u32), (VECTORS_PER_WARP as u32, VECTOR_WARPS))
}

/// One block, of as many threads as there are cells, in whole warps, up to the most that a block may have.
fn one_block(cells: usize) -> LaunchConfig {
    LaunchConfig::new(1, cells.next_multiple_of(32).min(1024) as u32)
}

impl Simulation {
    /// Puts `board` on `device`, to be advanced by `kernel`.
    ///
    /// # Errors
    /// [`LifeError`] when the kernel cannot work on a board of that size or the device has too little memory.
    pub fn new(device: &Device, kernel: LifeKernel, board: &Board) -> Result<Self, LifeError> {
        let (width, height) = (board.width(), board.height());
        kernel.check_size(width, height, device)?;
        let most_blocks = device.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
        let words = device.upload(board.words())?;
        let cells = if kernel.is_packed() {
            Cells::Words { next: device.alloc(words.len())?, now: words }
        } else {
            let mut now = device.alloc(width * height)?;
            let unpack = kernels::life_unpack(words.view(), now.view_mut(), width, height);
            device.launch(linear(words.len(), most_blocks), unpack)?;
            Cells::Bytes { now, next: device.alloc(width * height)? }
        };
        let total = device.zeroed(1)?;
        Ok(Self { device: device.clone(), kernel, width, height, generation: 0, cells, total, most_blocks })
    }

    /// Runs `generations` generations. Does not wait for a GPU to finish them.
    ///
    /// # Errors
    /// [`LifeError::Device`] when a launch fails.
    pub fn advance(&mut self, generations: u64) -> Result<(), LifeError> {
        let mut left = generations;
        while left > 0 {
            let now = left.min(self.kernel.generations_per_launch());
            self.launch(now)?;
            self.generation += now;
            left -= now;
        }
        Ok(())
    }

    /// One launch of the kernel, after which `now` is the board.
    fn launch(&mut self, generations: u64) -> Result<(), launch::Error> {
        let (device, width, height) = (&self.device, self.width, self.height);
        match &mut self.cells {
            Cells::Words { now, next } if self.kernel == LifeKernel::Temporal => {
                let across = width.div_ceil(CELLS_PER_WORD * TEMPORAL_WORDS).min(u32::MAX as usize) as u32;
                let down = height.div_ceil(TEMPORAL_ROWS).min(LARGEST_GRID.1) as u32;
                let config = LaunchConfig::new((across, down), TEMPORAL_THREADS);
                let generations = generations.min(GENERATIONS_PER_LAUNCH.into()) as u32;
                let call = kernels::life_temporal(now.view(), next.view_mut(), width, height, generations);
                device.launch(config, call)?;
                std::mem::swap(now, next);
            }
            Cells::Words { now, next } if width.is_multiple_of(CELLS_PER_VECTOR) => {
                let call = kernels::life_bitpacked_vectors(now.view(), next.view_mut(), width, height);
                device.launch(of_vectors(width, height), call)?;
                std::mem::swap(now, next);
            }
            Cells::Words { now, next } => {
                let config = planar(width.div_ceil(CELLS_PER_WORD), height.div_ceil(ROWS_PER_THREAD));
                device.launch(config, kernels::life_bitpacked(now.view(), next.view_mut(), width, height))?;
                std::mem::swap(now, next);
            }
            Cells::Bytes { now, next } => match self.kernel {
                LifeKernel::Block => {
                    let (even, odd) = (now.view_mut(), next.view_mut());
                    let call = kernels::life_block(even, odd, width, height, generations);
                    device.launch(one_block(width * height), call)?;
                    if generations % 2 == 1 {
                        std::mem::swap(now, next);
                    }
                }
                LifeKernel::Shared => {
                    let config = one_block(width * height).shared_bytes(2 * (width * height) as u32);
                    let call = kernels::life_shared(now.view(), next.view_mut(), width, height, generations);
                    device.launch(config, call)?;
                    std::mem::swap(now, next);
                }
                LifeKernel::Global | LifeKernel::Bitpacked | LifeKernel::Temporal => {
                    let call = kernels::life_global(now.view(), next.view_mut(), width, height);
                    device.launch(planar(width, height), call)?;
                    std::mem::swap(now, next);
                }
            },
        }
        Ok(())
    }

    /// How many cells are alive, counted on the device.
    ///
    /// # Errors
    /// [`LifeError::Device`] when the device fails, now or in a generation that it had not finished.
    pub fn population(&mut self) -> Result<u64, LifeError> {
        self.total.fill_zero()?;
        let total = self.total.view_mut();
        match &self.cells {
            Cells::Words { now, .. } => {
                self.device
                    .launch(linear(now.len(), self.most_blocks), kernels::life_population_words(now.view(), total))?;
            }
            Cells::Bytes { now, .. } => {
                self.device
                    .launch(linear(now.len(), self.most_blocks), kernels::life_population_cells(now.view(), total))?;
            }
        }
        let mut count = [0];
        self.total.download_into(&mut count)?;
        Ok(count[0])
    }

    /// The board as it is now.
    ///
    /// # Errors
    /// [`LifeError`] when the device fails or the host has too little memory.
    pub fn board(&self) -> Result<Board, LifeError> {
        let (width, height) = (self.width, self.height);
        let words = match &self.cells {
            Cells::Words { now, .. } => now.download()?,
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

    /// The kernel that advances the board.
    pub fn kernel(&self) -> LifeKernel {
        self.kernel
    }
}

#[cfg(test)]
mod tests {
    use launch::Dim3;

    use super::*;

    #[test]
    fn the_grid_of_vectors_covers_boards_of_any_height() {
        let grid = |width, height| of_vectors(width, height).grid;
        assert_eq!(grid(128, 1), Dim3::new(1, 1, 1));
        assert_eq!(grid(128 * 33, VECTOR_ROWS + 1), Dim3::new(2, 2u32.div_ceil(VECTOR_WARPS), 1));
        for strips in [65_534, 65_535, 65_536, 131_070, 131_071, 1_000_003] {
            let Dim3 { y, z, .. } = grid(128, strips * VECTOR_ROWS);
            let enough = y as usize * z as usize * VECTOR_WARPS as usize;
            assert!(y <= 65_535 && (strips..strips + 65_536).contains(&enough), "{strips}: {y} x {z}");
        }
    }
}
