//! Two-state and Generations cellular automata on the 3 × 3 neighbourhood, such as Conway's Life, with the vector
//! instructions of all cores.
//!
//! ```
//! use life_cpu::{Automaton, Rule, Start, Topology};
//!
//! let blinker = [0, 0b0_1110, 0, 0, 0];
//! let start = Start { width: 5, height: 5, words: &blinker, ages: &[], generation: 0 };
//! let mut life = Automaton::new(&start, &Rule::LIFE, Topology::TORUS)?;
//! life.advance(1);
//! assert_eq!(life.words()?.0, [0b0_0100, 0b0_0100, 0b0_0100, 0, 0].map(|row: u32| row));
//! # Ok::<(), life_cpu::OutOfMemory>(())
//! ```
//!
//! A bit is a cell. In a row of *w* vectors, bit *b* of vector *k* is the cell in column *b·w + k*. The left and right
//! neighbours of a vector's cells are therefore the same bits of the adjacent vectors. Only the row's two ends must be
//! shifted.
//!
//! A row is divided into strips if it is long, if it is no whole number of vectors, or if its ends are not neighbours.
//! Each strip has margins, which are copies of the cells beside it. Each generation makes one more column and row of
//! the margins wrong. After 16 generations they are filled again. In between, a band of rows that fits a core's cache
//! is advanced by all 16 generations.
//!
//! A topology determines how the margins are filled. A rule determines how a vector is computed from its nine
//! neighbours.
//!
//! # Design
//!
//! The engine is a separate crate because it must be compiled with optimisations: only then are its vectors registers.
//! The instruction set (portable, AVX2, AVX-512) is chosen when a board is made. The engine is not one of the kernels:
//! the tests compare both with the plain reference.

mod ages;
mod corners;
mod grid;
mod layout;
mod margins;
mod portable;
mod rows;
mod rule;
mod sweep;
mod topology;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

use grid::{Grid, Like, Tile};
pub use rule::Rule;
pub use topology::{Edges, Topology};

/// Generations by which a band of rows is advanced while it is in the cache. A margin has as many columns.
const DEEP: usize = 16;

/// The host has too little memory for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a board of {width}x{height} needs {bytes} bytes, which cannot be allocated: use a smaller board")]
pub struct OutOfMemory {
    width: usize,
    height: usize,
    bytes: usize,
}

/// An instruction set that advances a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// AVX-512: 512 bits, with three-input logic operations.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2: 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline that the program is compiled for, usually SSE2 or NEON.
    Portable,
}

impl Instructions {
    /// Returns the instruction sets of this processor, the fastest first.
    pub fn available() -> Vec<Self> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            available.extend(std::arch::is_x86_feature_detected!("avx512f").then_some(Self::Avx512));
            available.extend(std::arch::is_x86_feature_detected!("avx2").then_some(Self::Avx2));
        }
        available.push(Self::Portable);
        available
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        })
    }
}

/// A board, by the width of its vectors.
enum Cells {
    #[cfg(target_arch = "x86_64")]
    Wide(Grid<8>, Tile<8>),
    Narrow(Grid<4>, Tile<4>),
}

macro_rules! with_grid {
    ($cells:expr, $grid:pat => $result:expr) => {
        match $cells {
            #[cfg(target_arch = "x86_64")]
            Cells::Wide($grid, _) => $result,
            Cells::Narrow($grid, _) => $result,
        }
    };
}
use with_grid;

/// The first board of an automaton.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The cells that are not dead, row by row. Each row begins in a new word, and the leftmost cell is the lowest bit.
    /// Bits beyond the width are ignored. Cells beyond the words are dead.
    pub words: &'a [u32],
    /// For rules of more than two states, the bits of each cell's state minus 1, the lowest bit first. Each has the
    /// layout of `words`.
    pub ages: &'a [Vec<u32>],
    /// The number of this generation. A rule may differ in even and odd generations.
    pub generation: u64,
}

/// A board and the instructions that advance it.
pub struct Automaton {
    height: usize,
    cells: Cells,
    instructions: Instructions,
}

impl Automaton {
    /// Makes a board that `rule` advances with the fastest instructions of this processor.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn new(start: &Start<'_>, rule: &Rule, topology: Topology) -> Result<Self, OutOfMemory> {
        Self::with(Instructions::available()[0], start, rule, topology)
    }

    /// Like [`new`](Self::new), with these `instructions`, or the portable ones if the processor lacks them.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn with(
        instructions: Instructions,
        start: &Start<'_>,
        rule: &Rule,
        topology: Topology,
    ) -> Result<Self, OutOfMemory> {
        let available = Instructions::available();
        let instructions = if available.contains(&instructions) { instructions } else { Instructions::Portable };
        let like = Like { rule: *rule, topology };
        let cells = match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                // SAFETY: `available` detected AVX-512F on this processor.
                let tile = unsafe { Tile::new(x86::avx512) };
                Cells::Wide(grid(start, &like)?, tile)
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: `available` detected AVX2 on this processor.
                let tile = unsafe { Tile::new(x86::avx2) };
                Cells::Narrow(grid(start, &like)?, tile)
            }
            Instructions::Portable => {
                // SAFETY: `portable` is compiled for the baseline, which every processor that runs this program has.
                let tile = unsafe { Tile::new(portable::portable) };
                Cells::Narrow(grid(start, &like)?, tile)
            }
        };
        Ok(Self { height: start.height, cells, instructions })
    }

    /// Advances the board by `generations` generations on all cores.
    pub fn advance(&mut self, generations: u64) {
        match &mut self.cells {
            #[cfg(target_arch = "x86_64")]
            Cells::Wide(grid, tile) => grid.advance(generations, *tile),
            Cells::Narrow(grid, tile) => grid.advance(generations, *tile),
        }
    }

    /// Returns the bytes that a board of this size needs.
    pub fn bytes(width: usize, height: usize, rule: &Rule, topology: Topology) -> u64 {
        match Instructions::available()[0] {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => Grid::<8>::bytes(width, height, rule, topology),
            _ => Grid::<4>::bytes(width, height, rule, topology),
        }
    }

    /// Returns the instruction set that advances the board.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Returns the number of threads that advance a board.
    pub fn threads() -> usize {
        rayon::current_num_threads()
    }
}

fn grid<const N: usize>(start: &Start<'_>, like: &Like) -> Result<Grid<N>, OutOfMemory> {
    let mut grid = Grid::new(start.width, start.height, start.words, start.ages, like)?;
    grid.generation = start.generation;
    grid.with_corners()
}
