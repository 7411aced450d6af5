//! Reads, writes and counts the cells of an automaton's board.

use std::ops::Range;

use crate::rule::Rule;
use crate::topology::Topology;
use crate::{Automaton, Cells, OutOfMemory, margins, with_grid};

impl Automaton {
    /// Returns the cells that are not dead and the bits of their ages, in the layout of [`Start`](crate::Start). Bits
    /// beyond the width are 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn words(&self) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        self.words_of(0..self.height)
    }

    /// Like [`words`](Self::words), for some rows only.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn words_of(&self, rows: Range<usize>) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        with_grid!(&self.cells, grid => grid.words(rows))
    }

    /// Replaces the cells of these rows. The words have the layout of [`Start`](crate::Start).
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn put_words(&mut self, rows: Range<usize>, words: &[u32], ages: &[Vec<u32>]) {
        with_grid!(&mut self.cells, grid => grid.spread(rows, words, ages));
    }

    /// Returns the bits per cell: one that is set if the cell is not dead, and the bits of its age.
    pub fn planes(&self) -> usize {
        with_grid!(&self.cells, grid => grid.planes)
    }

    /// Returns the bits of one cell. The lowest is set if the cell is alive. The others are the generations that a
    /// dying cell has left.
    ///
    /// # Panics
    /// If the board lacks this cell.
    pub fn cell(&self, x: usize, y: usize) -> u16 {
        with_grid!(&self.cells, grid => (0..grid.planes).fold(0, |bits, plane| bits | (grid.cell(x, y, plane) as u16) << plane))
    }

    /// Sets a cell to the bits that [`cell`](Self::cell) returned.
    ///
    /// # Panics
    /// If the board lacks this cell.
    pub fn put_cell(&mut self, x: usize, y: usize, bits: u16) {
        with_grid!(&mut self.cells, grid => (0..grid.planes).for_each(|plane| grid.put(x, y, plane, (bits >> plane & 1).into())));
    }

    /// Counts the cells that are not dead.
    pub fn population(&self) -> u64 {
        self.population_of(0..self.height)
    }

    /// Counts the cells of these rows that are not dead.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn population_of(&self, rows: Range<usize>) -> u64 {
        with_grid!(&self.cells, grid => grid.population(rows))
    }

    /// Returns the numbers of births and deaths in the last generation. If the last [`advance`](Self::advance) ran more
    /// than one generation, its last up to 16 generations count as one. Before the first generation, every live cell
    /// counts as a birth.
    pub fn changes(&self) -> (u64, u64) {
        self.changes_of(0..self.height)
    }

    /// Like [`changes`](Self::changes), for some rows only.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn changes_of(&self, rows: Range<usize>) -> (u64, u64) {
        with_grid!(&self.cells, grid => grid.changes(rows))
    }

    /// Returns the number of generations for which a sufficiently wide halo stays correct, if it is copied as
    /// `topology` joins the edges. It is 1 if the topology rotates or reflects cells at an edge and the rule
    /// distinguishes the directions.
    pub fn depth_beyond(rule: &Rule, topology: Topology) -> usize {
        if margins::is_singular(topology) { 1 } else { margins::depth(rule, topology) }
    }
}
