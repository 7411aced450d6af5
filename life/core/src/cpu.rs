//! Simulations of boards on the cores of the host.

use std::ops::Range;

use life_cpu::{Automaton, FirstBoard};
pub use life_cpu::{Instructions, OutOfMemory};

use super::{Board, Rule, Topology};
use crate::error::LifeError;

/// A board that the host's cores advance with vector instructions. Every rule and every topology is supported.
pub struct CpuSimulation {
    pub(super) automaton: Automaton,
    width: usize,
    height: usize,
    generation: u64,
}

impl CpuSimulation {
    /// Makes a simulation of the rule B3/S23 on a torus that begins with `board`.
    ///
    /// # Errors
    /// [`LifeError::CpuMemory`] if the host has too little memory.
    pub fn new(board: &Board) -> Result<Self, LifeError> {
        Self::with(board, &Rule::LIFE, Topology::TORUS, 0)
    }

    /// Makes a simulation that begins with `board`, which is generation `from`. For rules with births without
    /// neighbours, even and odd generations differ ([`Rule::phases`]). For all other rules, `from` has no effect on the
    /// cells.
    ///
    /// # Errors
    /// [`LifeError::CpuMemory`] if the host has too little memory.
    pub fn with(board: &Board, rule: &Rule, topology: Topology, from: u64) -> Result<Self, LifeError> {
        Self::make((board.width(), board.height()), (board.words(), board.ages()), rule, topology, from)
    }

    /// Makes a simulation like [`with`](Self::with) that begins with dead cells. `size` is (columns, rows).
    ///
    /// # Errors
    /// [`LifeError::CpuMemory`] if the host has too little memory.
    pub fn dead(size: (usize, usize), rule: &Rule, topology: Topology, from: u64) -> Result<Self, LifeError> {
        Self::make(size, (&[], &[]), rule, topology, from)
    }

    fn make(
        (width, height): (usize, usize),
        (words, ages): (&[u32], &[Vec<u32>]),
        rule: &Rule,
        topology: Topology,
        generation: u64,
    ) -> Result<Self, LifeError> {
        let first = FirstBoard { width, height, words, ages, generation };
        Ok(Self { automaton: Automaton::new(&first, &engine_rule(rule), topology)?, width, height, generation: 0 })
    }

    /// Advances the board by `generations` generations.
    pub fn advance(&mut self, generations: u64) {
        self.automaton.advance(generations);
        self.generation += generations;
    }

    /// Runs one generation and returns the numbers of births and deaths in it.
    pub fn advance_counting(&mut self) -> (u64, u64) {
        self.advance(1);
        self.automaton.changes(0..self.height)
    }

    /// Returns the number of bytes that a simulation of this size needs. The bytes of its first [`Board`] are not
    /// included.
    pub fn bytes(width: usize, height: usize, rule: &Rule, topology: Topology) -> u64 {
        Automaton::bytes(width, height, &engine_rule(rule), topology)
    }

    /// Returns the number of cells that are not dead.
    pub fn population(&self) -> u64 {
        self.automaton.population(0..self.height)
    }

    /// Returns a hash of the board in the engine's own layout, which takes about as long as one generation.
    /// Two different boards of one simulation have the same hash with probability 2⁻⁶⁴. Hashes of simulations of
    /// different sizes, rules or topologies, and [`Board::hash`], are not comparable.
    pub fn fingerprint(&self) -> u64 {
        self.automaton.fingerprint(0..self.height)
    }

    /// Returns the present board.
    ///
    /// # Errors
    /// [`LifeError::CpuMemory`] if the host has too little memory.
    pub fn board(&self) -> Result<Board, LifeError> {
        self.rows(0..self.height)
    }

    /// Returns `rows` of the present board.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board), and if the board lacks one of the rows.
    pub fn rows(&self, rows: Range<usize>) -> Result<Board, LifeError> {
        LifeError::check_rows(&rows, self.height)?;
        let (words, ages) = self.automaton.words_of(rows.clone())?;
        Ok(Board::from_words_and_ages(self.width, rows.len(), words, ages)?)
    }

    /// Replaces the rows from `first` on by the rows of `board`.
    ///
    /// # Errors
    /// If the board lacks one of the rows, or `board` has another width.
    pub fn put_rows(&mut self, first: usize, board: &Board) -> Result<(), LifeError> {
        let rows = first..first.saturating_add(board.height());
        LifeError::check_rows(&rows, self.height)?;
        LifeError::check_size(board, (self.width, rows.len()))?;
        self.automaton.put_words(rows, board.words(), board.ages());
        Ok(())
    }

    /// Returns the number of generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the instruction set that the simulation uses.
    pub fn instructions(&self) -> Instructions {
        self.automaton.instructions()
    }

    /// Returns the number of threads that advance a board, usually one per core.
    pub fn cores() -> usize {
        Automaton::threads()
    }
}

/// Converts a rule to a [`life_cpu::Rule`].
pub(super) fn engine_rule(rule: &Rule) -> life_cpu::Rule {
    life_cpu::Rule { phases: rule.phases().map(|rule| *rule.table()), states: rule.states() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RuleAndTopology, reference};

    /// Compares each class of rules on each topology with the reference implementation. The tests of `life_cpu` cover
    /// all sizes of boards.
    #[test]
    fn any_rule_and_topology_is_the_references() {
        let rules = [
            "Life",
            "HighLife",
            "B2-a/S12",
            "B2/S34H",
            "B13/S012V",
            "W30",
            "Brian's Brain",
            "345/26/5",
            "B03/S23",
            "AntiLife",
        ];
        let suffixes = [":P33,21", ":T33,21", ":T33+2,21", ":T33,21-3", ":K33*,21", ":K33,22*+1", ":C33,21", ":S33"];
        for text in rules.iter().flat_map(|rule| suffixes.iter().map(move |suffix| format!("{rule}{suffix}"))) {
            let RuleAndTopology { rule, grid } = text.parse().unwrap();
            let grid = grid.unwrap();
            let mut board = Board::with_states(grid.width, grid.height, rule.states()).unwrap();
            let soup = Board::random(grid.width, grid.height, 0.4, 5).unwrap();
            for (i, (x, y)) in soup.cells().enumerate() {
                board.set_state(x, y, (1 + i % usize::from(rule.states() - 1)) as u8);
            }
            let mut life = CpuSimulation::with(&board, &rule, grid.topology, 1).unwrap();
            assert_eq!(life.board().unwrap(), board, "{text}");
            life.advance(19);
            let expected = reference::advance_by(&board, &rule, grid.topology, 1, 19);
            assert!(life.board().unwrap() == expected, "{text}");
            assert_eq!((life.population(), life.generation()), (expected.population(), 19), "{text}");
            let next = reference::advance_by(&expected, &rule, grid.topology, 20, 1);
            assert_eq!(life.advance_counting(), expected.changes(&next), "{text}");
        }
    }
}
