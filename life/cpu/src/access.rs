//! Reads, writes and counts the cells of an automaton's board.

use std::ops::Range;

use crate::rule::Rule;
use crate::topology::{self, Topology};
use crate::{AnyGrid, Automaton, OutOfMemory, with_grid};

impl Automaton {
    /// Returns the words and the ages of the board, in the layout of [`FirstBoard`](crate::FirstBoard). Bits beyond the
    /// width are 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn words(&self) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        self.words_of(0..self.height)
    }

    /// Returns the words and the ages like [`words`](Self::words), but only for the rows in `rows`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn words_of(&self, rows: Range<usize>) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        with_grid!(&self.grid, grid => grid.words(rows))
    }

    /// Replaces the cells of `rows`. `words` and `ages` must have the layout of [`FirstBoard`](crate::FirstBoard).
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn put_words(&mut self, rows: Range<usize>, words: &[u32], ages: &[Vec<u32>]) {
        with_grid!(&mut self.grid, grid => grid.spread(rows, words, ages));
    }

    /// Returns the number of bits per cell. One bit is set if the cell is alive. The other bits count the generations
    /// until a dying cell is dead.
    pub fn planes(&self) -> usize {
        with_grid!(&self.grid, grid => grid.planes)
    }

    /// Returns the bits of one cell. The lowest bit is set if the cell is alive. The other bits count the generations
    /// until a dying cell is dead.
    ///
    /// # Panics
    /// If the board lacks this cell.
    pub fn cell(&self, x: usize, y: usize) -> u16 {
        let bit = |plane| with_grid!(&self.grid, grid => grid.cell(x, y, plane)) as u16;
        (0..self.planes()).fold(0, |bits, plane| bits | bit(plane) << plane)
    }

    /// Sets a cell to bits that [`cell`](Self::cell) returned for some cell.
    ///
    /// # Panics
    /// If the board lacks this cell.
    pub fn put_cell(&mut self, x: usize, y: usize, bits: u16) {
        for plane in 0..self.planes() {
            with_grid!(&mut self.grid, grid => grid.put(x, y, plane, (bits >> plane & 1).into()));
        }
    }

    /// Returns the number of cells in `rows` that are not dead.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn population(&self, rows: Range<usize>) -> u64 {
        with_grid!(&self.grid, grid => grid.population(rows))
    }

    /// Returns a hash of `rows`. It differs with probability 1 − 2⁻⁶⁴ if a cell of `rows` differs. Hashes are
    /// comparable only if they are of the same rows and of automata that have the same size, rule, topology and
    /// instructions.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn fingerprint(&self, rows: Range<usize>) -> u64 {
        with_grid!(&self.grid, grid => grid.fingerprint(rows))
    }

    /// Returns the numbers of births and deaths in `rows` in the last generation. If the last call of
    /// [`advance`](Self::advance) ran several generations, returns the changes in the last pass of that call. A pass
    /// has up to 16 generations. Before the first generation, every live cell counts as a birth.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn changes(&self, rows: Range<usize>) -> (u64, u64) {
        with_grid!(&self.grid, grid => grid.changes(rows))
    }

    /// Returns the maximum number of generations between two copies of a halo. The halo must be wide enough, and must
    /// contain copies of the cells that `topology` joins to the edges. The result is 1 if the topology has corners
    /// where fewer than four quarters of the board meet. The result is also 1 if the topology reflects cells and the
    /// rule is not symmetric.
    pub fn depth_beyond(rule: &Rule, topology: Topology) -> usize {
        if topology::is_singular(topology) { 1 } else { topology::depth(rule, topology) }
    }
}
