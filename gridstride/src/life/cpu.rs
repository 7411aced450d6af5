//! A board that the host's own cores advance.

use life_cpu::Torus;
pub use life_cpu::{Instructions, OutOfMemory};

use super::Board;
use crate::error::AlgorithmError;

/// A board that the vector instructions of the host's cores advance: for machines without a GPU.
pub struct CpuSimulation {
    torus: Torus,
    width: usize,
    height: usize,
    generation: u64,
}

impl CpuSimulation {
    /// Begins with `board`, by the fastest instructions that the processor has.
    ///
    /// # Errors
    /// [`AlgorithmError::CpuMemory`] when the host has too little memory.
    pub fn new(board: &Board) -> Result<Self, AlgorithmError> {
        let (width, height) = (board.width(), board.height());
        Ok(Self { torus: Torus::new(width, height, board.words())?, width, height, generation: 0 })
    }

    /// Runs `generations` generations.
    pub fn advance(&mut self, generations: u64) {
        self.torus.advance(generations);
        self.generation += generations;
    }

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it.
    pub fn advance_counting(&mut self) -> (u64, u64) {
        self.advance(1);
        self.torus.changes()
    }

    /// Bytes that a board of this size takes beside the words that it begins with.
    pub fn bytes(width: usize, height: usize) -> u64 {
        Torus::bytes(width, height)
    }

    /// How many cells are alive.
    pub fn population(&self) -> u64 {
        self.torus.population()
    }

    /// The board as it is now.
    ///
    /// # Errors
    /// [`AlgorithmError::CpuMemory`] when the host has too little memory.
    pub fn board(&self) -> Result<Board, AlgorithmError> {
        Ok(Board::from_words(self.width, self.height, self.torus.words()?)?)
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What the cores compute with.
    pub fn instructions(&self) -> Instructions {
        self.torus.instructions()
    }

    /// Cores that compute.
    pub fn cores() -> usize {
        Torus::threads()
    }
}
