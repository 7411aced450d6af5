//! Cellular automata of the nine cells around each, Conway's Life above all, by the vector instructions of all of a
//! processor's cores.
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
//! A bit is a cell. Bit *b* of vector *k* in a row of *w* vectors is the cell of column *b·w + k*: the neighbours of a
//! vector's cells are the same bits of the vectors beside it, and only the row's two ends are shifted. A row that is no
//! whole number of vectors, or long, or whose ends are no neighbours, lies in strips with margins, which hold the cells
//! beside the strip. Each generation makes one more column and row of the margins wrong, and after 16 generations they
//! are filled again. In between, each band of rows that fits a core's cache is advanced by all 16 at once. Topologies
//! differ in what margins are filled with, rules in what is computed from nine vectors.
//!
//! # Design
//!
//! The engine is a crate of its own because it has to be compiled optimised: its vectors are registers only then. The
//! instructions (portable, AVX2, AVX-512) are chosen when a board is made. It is an engine and no kernel: the kernels
//! are compared with the plain reference, and so is the engine.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

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

/// Generations that a band of rows is advanced by while it is in the cache; also the columns of a margin.
const DEEP: usize = 16;

/// There is too little memory for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a board of {width}x{height} cells takes {bytes} bytes more than there are")]
pub struct OutOfMemory {
    width: usize,
    height: usize,
    bytes: usize,
}

/// Which of a processor's instructions compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// 512 bits, with logic operations of three inputs.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the program is compiled for: SSE2 or NEON, usually.
    Portable,
}

impl Instructions {
    /// Those that this processor has, the fastest first.
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

/// A board, by the width of the vectors that it lies in.
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

/// What an automaton begins with.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The cells that are not dead, row by row, each row in words of its own, the leftmost cell in a word's lowest bit;
    /// bits beyond the width are ignored, and words that are missing are dead cells.
    pub words: &'a [u32],
    /// For rules of more than two states the bits of the cells' states less 1, the lowest first, each laid out as
    /// `words`.
    pub ages: &'a [Vec<u32>],
    /// The generation that this is: a rule may differ in even and odd ones.
    pub generation: u64,
}

/// A board and what advances it.
pub struct Automaton {
    height: usize,
    cells: Cells,
    instructions: Instructions,
}

impl Automaton {
    /// A board that `rule` advances, by the fastest instructions that the processor has.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(start: &Start<'_>, rule: &Rule, topology: Topology) -> Result<Self, OutOfMemory> {
        Self::with(Instructions::available()[0], start, rule, topology)
    }

    /// As [`new`](Self::new), to be advanced by `instructions`; where this processor lacks them, by the portable ones.
    ///
    /// # Errors
    /// [`OutOfMemory`].
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
                // SAFETY: the processor has them, as was just asked.
                let tile = unsafe { Tile::new(x86::avx512) };
                Cells::Wide(grid(start, &like)?, tile)
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: as above.
                let tile = unsafe { Tile::new(x86::avx2) };
                Cells::Narrow(grid(start, &like)?, tile)
            }
            Instructions::Portable => {
                // SAFETY: every processor has them.
                let tile = unsafe { Tile::new(portable::portable) };
                Cells::Narrow(grid(start, &like)?, tile)
            }
        };
        Ok(Self { height: start.height, cells, instructions })
    }

    /// Runs `generations` generations on all cores.
    pub fn advance(&mut self, generations: u64) {
        match &mut self.cells {
            #[cfg(target_arch = "x86_64")]
            Cells::Wide(grid, tile) => grid.advance(generations, *tile),
            Cells::Narrow(grid, tile) => grid.advance(generations, *tile),
        }
    }

    /// Bytes that a board of this size takes.
    pub fn bytes(width: usize, height: usize, rule: &Rule, topology: Topology) -> u64 {
        match Instructions::available()[0] {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => Grid::<8>::bytes(width, height, rule, topology),
            _ => Grid::<4>::bytes(width, height, rule, topology),
        }
    }

    /// What computes.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Cores that compute.
    pub fn threads() -> usize {
        rayon::current_num_threads()
    }
}

fn grid<const N: usize>(start: &Start<'_>, like: &Like) -> Result<Grid<N>, OutOfMemory> {
    let mut grid = Grid::new(start.width, start.height, start.words, start.ages, like)?;
    grid.generation = start.generation;
    grid.with_corners()
}
