//! What is read, written and counted of an automaton's board, or of some of its rows.

use std::ops::Range;

use crate::rule::Rule;
use crate::topology::Topology;
use crate::{Automaton, Cells, OutOfMemory, margins, with_grid};

impl Automaton {
    /// The cells that are not dead and the bits of their ages, as in [`Start`](crate::Start); bits beyond the width are
    /// 0.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn words(&self) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        self.words_of(0..self.height)
    }

    /// As [`words`](Self::words), of some rows alone.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    ///
    /// # Panics
    /// When the board has not these rows.
    pub fn words_of(&self, rows: Range<usize>) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        with_grid!(&self.cells, grid => grid.words(rows))
    }

    /// Puts cells in place of those of some rows, laid out as in [`Start`](crate::Start).
    ///
    /// # Panics
    /// When the board has not these rows.
    pub fn put_words(&mut self, rows: Range<usize>, words: &[u32], ages: &[Vec<u32>]) {
        with_grid!(&mut self.cells, grid => grid.spread(rows, words, ages));
    }

    /// Bits of a cell: whether it is not dead, and those of its age.
    pub fn planes(&self) -> usize {
        with_grid!(&self.cells, grid => grid.planes)
    }

    /// The bits of one cell: whether it is alive, and above that the generations that it has left until it is dead.
    ///
    /// # Panics
    /// When the board has no such cell.
    pub fn cell(&self, x: usize, y: usize) -> u16 {
        with_grid!(&self.cells, grid => (0..grid.planes).fold(0, |bits, plane| bits | (grid.cell(x, y, plane) as u16) << plane))
    }

    /// Puts a cell that [`cell`](Self::cell) gave.
    ///
    /// # Panics
    /// When the board has no such cell.
    pub fn put_cell(&mut self, x: usize, y: usize, bits: u16) {
        with_grid!(&mut self.cells, grid => (0..grid.planes).for_each(|plane| grid.put(x, y, plane, (bits >> plane & 1).into())));
    }

    /// Cells that are not dead.
    pub fn population(&self) -> u64 {
        self.population_of(0..self.height)
    }

    /// Cells of some rows that are not dead.
    ///
    /// # Panics
    /// When the board has not these rows.
    pub fn population_of(&self, rows: Range<usize>) -> u64 {
        with_grid!(&self.cells, grid => grid.population(rows))
    }

    /// Cells that the last generation has brought to life, and those that have died in it. Of a call of
    /// [`advance`](Self::advance) by more than one, the last up to 16 generations count as one; before the first, all
    /// live cells are born.
    pub fn changes(&self) -> (u64, u64) {
        self.changes_of(0..self.height)
    }

    /// As [`changes`](Self::changes), of some rows alone.
    ///
    /// # Panics
    /// When the board has not these rows.
    pub fn changes_of(&self, rows: Range<usize>) -> (u64, u64) {
        with_grid!(&self.cells, grid => grid.changes(rows))
    }

    /// Generations for which cells beyond an edge that were copied as `topology` has them stay right, if there are
    /// enough of them: a copy that is turned or reflected is so for one alone, unless to the rule a turn or a
    /// reflection is the same.
    pub fn depth_beyond(rule: &Rule, topology: Topology) -> usize {
        if margins::is_singular(topology) { 1 } else { margins::depth(rule, topology) }
    }
}
