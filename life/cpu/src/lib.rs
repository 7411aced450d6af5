//! Advances cellular automata in which a cell depends on the 3 × 3 cells around it, with the vector instructions of all
//! cores. Supports two-state rules such as Conway's Life, and Generations rules.
//!
//! ```
//! use life_cpu::{Automaton, FirstBoard, Rule, Topology};
//!
//! let blinker = [0, 0b0_1110, 0, 0, 0];
//! let first = FirstBoard { width: 5, height: 5, words: &blinker, ages: &[], generation: 0 };
//! let mut life = Automaton::new(&first, &Rule::LIFE, Topology::TORUS)?;
//! life.advance(1);
//! assert_eq!(life.words()?.0, [0b0_0100, 0b0_0100, 0b0_0100, 0, 0].map(|row: u32| row));
//! # Ok::<(), life_cpu::OutOfMemory>(())
//! ```
//!
//! Each bit of a vector is a cell. In a row of *w* vectors, bit *b* of vector *k* is the cell in column *b·w + k*. The
//! left and right neighbours of a vector's cells are therefore the same bits of the adjacent vectors. Only the vectors
//! at the row's two ends need a shift.
//!
//! A long row is divided into strips. A strip has margins, which are copies of the cells next to it. A strip needs no
//! margins if it is a whole number of vectors long and its two ends are neighbours. Each generation makes one more
//! column and row of the margins wrong. After 16 generations the margins are filled again. Between two fillings, each
//! core advances a band of rows that fits its cache by all 16 generations.
//!
//! The topology determines how the margins are filled. The rule determines how a vector is computed from the nine
//! vectors of its neighbourhood.
//!
//! # Design
//!
//! The engine is a separate crate because it must be compiled with optimisations. Without optimisations, its vectors
//! would not stay in registers. The instruction set (portable, AVX2, AVX-512) is chosen when a board is made. The
//! engine shares no code with the kernels. The tests compare engine and kernels with the plain reference.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

mod access;
mod active;
mod ages;
mod corners;
mod grid;
mod layout;
mod margins;
mod portable;
mod rule;
mod sweep;
mod topology;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

pub use active::{ActiveBoard, Stop};
use grid::{Dynamics, Grid};
pub use rule::Rule;
pub use topology::{Edges, Topology};

/// The number of generations by which a band of rows is advanced while it is in the cache. A margin has the same number
/// of columns.
const GENERATIONS_PER_PASS: usize = 16;

/// The error that the host has too little memory for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a board of {width}x{height} needs {bytes} bytes, which cannot be allocated: use a smaller board")]
pub struct OutOfMemory {
    width: usize,
    height: usize,
    bytes: usize,
}

/// Returns a vector of `len` copies of `element`. The error reports `width` and `height`, the size of the board.
fn filled<T: Clone>(len: usize, element: T, width: usize, height: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut all = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    all.try_reserve_exact(len).map_err(|_| OutOfMemory { width, height, bytes })?;
    all.resize(len, element);
    Ok(all)
}

/// An instruction set that can advance a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// AVX-512, with vectors of 512 bits and three-input logic operations.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2, with vectors of 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline instructions for which the program is compiled, usually SSE2 or NEON.
    Portable,
}

impl Instructions {
    /// Returns the instruction sets that this processor has, the fastest first.
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
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A board whose vectors have eight or four words.
enum AnyGrid {
    #[cfg(target_arch = "x86_64")]
    Eight(Grid<8>),
    Four(Grid<4>),
}

macro_rules! with_grid {
    ($any:expr, $grid:pat => $result:expr) => {
        match $any {
            #[cfg(target_arch = "x86_64")]
            AnyGrid::Eight($grid) => $result,
            AnyGrid::Four($grid) => $result,
        }
    };
}
use with_grid;

/// The first board of an automaton.
#[derive(Clone, Copy, Debug)]
pub struct FirstBoard<'a> {
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The words of all rows, one after the other. A bit is set if its cell is not dead. Each row begins in a new word,
    /// and its leftmost cell is the lowest bit. Bits beyond the width are ignored. If `words` is too short, the missing
    /// rows are dead.
    pub words: &'a [u32],
    /// The ages of the cells for rules of more than two states. The age of a cell is its state minus 1. There is one
    /// vector per bit of the ages, the lowest bit first, in the layout of `words`.
    pub ages: &'a [Vec<u32>],
    /// The number of the board's generation. A rule may differ in even and odd generations.
    pub generation: u64,
}

/// A board and the instructions that advance it.
pub struct Automaton {
    height: usize,
    grid: AnyGrid,
    instructions: Instructions,
}

impl Automaton {
    /// Makes an automaton that begins with `first` and is advanced by the fastest instructions of this processor.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn new(first: &FirstBoard<'_>, rule: &Rule, topology: Topology) -> Result<Self, OutOfMemory> {
        Self::with(Instructions::available()[0], first, rule, topology)
    }

    /// Makes an automaton like [`new`](Self::new) that uses `instructions`. If the processor lacks them, the automaton
    /// uses the portable instructions.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn with(
        instructions: Instructions,
        first: &FirstBoard<'_>,
        rule: &Rule,
        topology: Topology,
    ) -> Result<Self, OutOfMemory> {
        let available = Instructions::available();
        let instructions = if available.contains(&instructions) { instructions } else { Instructions::Portable };
        let grid = match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                // SAFETY: `available` detected AVX-512F on this processor.
                let dynamics = unsafe { Dynamics::new(*rule, topology, x86::avx512) };
                AnyGrid::Eight(Grid::new(first, dynamics)?.with_corners()?)
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: `available` detected AVX2 on this processor.
                let dynamics = unsafe { Dynamics::new(*rule, topology, x86::avx2) };
                AnyGrid::Four(Grid::new(first, dynamics)?.with_corners()?)
            }
            Instructions::Portable => {
                // SAFETY: `portable` is compiled for the baseline instructions, which every processor that runs this
                // program has.
                let dynamics = unsafe { Dynamics::new(*rule, topology, portable::portable) };
                AnyGrid::Four(Grid::new(first, dynamics)?.with_corners()?)
            }
        };
        Ok(Self { height: first.height, grid, instructions })
    }

    /// Advances the board by `generations` generations on all cores.
    pub fn advance(&mut self, generations: u64) {
        with_grid!(&mut self.grid, grid => grid.advance(generations));
    }

    /// Returns the number of bytes that a board of this size needs.
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
