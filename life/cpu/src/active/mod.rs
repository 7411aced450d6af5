//! A bounded part of the plane, of which only the tiles that change are advanced.
//!
//! ```
//! use life_cpu::{ActiveBoard, Rule, Stop};
//!
//! let mut board = ActiveBoard::new((128, 512), 8, &Rule::LIFE)?;
//! board.put([(60, 100), (61, 100), (62, 100)], true);
//! assert_eq!(board.advance(1000), Stop::Quiet);
//! assert_eq!(board.generation(), 2);
//! # Ok::<(), life_cpu::OutOfMemory>(())
//! ```
//!
//! # Design
//!
//! A tile has 64 columns and one row per word of a vector, and a vector holds it. Two boards have the present and the
//! previous generation, and the next one replaces the previous one. A tile is active if its cells, or those next to it,
//! differ from two generations before. Any other tile would equal the previous generation again, so it is left as it
//! is. Still lifes and oscillators of period 2 therefore cost nothing, and a board without active tiles has a period of
//! at most 2.
//!
//! Longer periods are found by comparison with a copy of an earlier generation, which is renewed as the run becomes
//! longer. Boards are compared only if their active tiles are the same ones.

mod compiled;
mod flags;
mod step;
mod tiles;

pub use tiles::Stop;

use crate::rule::Rule;
use crate::{Instructions, OutOfMemory};
use tiles::Tiles;

/// A board of tiles whose vectors have eight or four words.
enum AnyTiles {
    #[cfg(target_arch = "x86_64")]
    Eight(Tiles<8>),
    Four(Tiles<4>),
}

macro_rules! with_tiles {
    ($any:expr, $tiles:pat => $result:expr) => {
        match $any {
            #[cfg(target_arch = "x86_64")]
            AnyTiles::Eight($tiles) => $result,
            AnyTiles::Four($tiles) => $result,
        }
    };
}

/// A board with a dead border that one core advances. Only tiles that change are computed.
///
/// Cells beyond the border stay dead. The border has no effect while all live cells have at least one dead cell between
/// them and the border, and [`Stop::Rim`] reports activity near it.
pub struct ActiveBoard(AnyTiles);

impl ActiveBoard {
    /// Makes a dead board at generation 0. `size` is (columns, rows), rounded up to multiples of 64 and 512. The rim
    /// consists of the outermost 64 columns and the outermost `rim` rows. All states of `rule` beyond two are ignored.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn new(size: (usize, usize), rim: usize, rule: &Rule) -> Result<Self, OutOfMemory> {
        Self::with(Instructions::available()[0], size, rim, rule)
    }

    /// Makes a board like [`new`](Self::new) that uses `instructions`. If the processor lacks them, the board uses the
    /// portable instructions.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn with(
        instructions: Instructions,
        size: (usize, usize),
        rim: usize,
        rule: &Rule,
    ) -> Result<Self, OutOfMemory> {
        let available = Instructions::available();
        let instructions = if available.contains(&instructions) { instructions } else { Instructions::Portable };
        Ok(Self(match instructions {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` detected AVX-512F on this processor.
            Instructions::Avx512 => AnyTiles::Eight(unsafe { Tiles::new(size, rim, rule, compiled::avx512)? }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` detected AVX2 on this processor.
            Instructions::Avx2 => AnyTiles::Four(unsafe { Tiles::new(size, rim, rule, compiled::avx2)? }),
            Instructions::Portable => {
                // SAFETY: `portable` is compiled for the baseline instructions, which every processor that runs
                // this program has.
                AnyTiles::Four(unsafe { Tiles::new(size, rim, rule, compiled::portable)? })
            }
        }))
    }

    /// Returns the numbers of columns and rows.
    pub fn size(&self) -> (usize, usize) {
        with_tiles!(&self.0, tiles => tiles.size())
    }

    /// Makes all cells dead and sets the generation to 0.
    pub fn clear(&mut self) {
        with_tiles!(&mut self.0, tiles => tiles.clear());
    }

    /// Makes cells, given as (column, row), alive or dead. Cells outside the board are ignored.
    pub fn put(&mut self, cells: impl IntoIterator<Item = (usize, usize)>, is_alive: bool) {
        with_tiles!(&mut self.0, tiles => tiles.put(cells, is_alive));
    }

    /// Advances the board to generation `until`, or to an earlier generation for the reason that is returned.
    pub fn advance(&mut self, until: u64) -> Stop {
        with_tiles!(&mut self.0, tiles => tiles.advance(until))
    }

    /// Returns the number of the present generation.
    pub fn generation(&self) -> u64 {
        with_tiles!(&self.0, tiles => tiles.generation())
    }

    /// Returns the number of tiles that have been computed since [`clear`](Self::clear). A tile has 256 or 512 cells.
    pub fn computed_tiles(&self) -> u64 {
        with_tiles!(&self.0, tiles => tiles.computed())
    }

    /// Writes the present cells to `words`: the words of the first 64 columns, row by row, then those of the next 64
    /// columns. The leftmost cell is the lowest bit.
    pub fn cells(&self, words: &mut Vec<u64>) {
        with_tiles!(&self.0, tiles => tiles.cells(words));
    }

    /// Writes all cells that are alive in one of the generations of a period to `words`, in the layout of
    /// [`cells`](Self::cells). The board must have been periodic since the previous generation, as after
    /// [`Stop::Quiet`], which means the period 2, or [`Stop::Repeats`]. Longer periods advance the board.
    pub fn cells_ever_alive(&mut self, period: u64, words: &mut Vec<u64>) {
        with_tiles!(&mut self.0, tiles => tiles.cells_ever_alive(period, words));
    }
}
