//! Boards that the program advances. In an unbounded universe, the boards grow.

mod advance;
mod boards;
mod engines;
mod growing_board;
mod growth;
mod shape;

pub use advance::Snapshot;
pub use growing_board::{GrowingBoard, Outgrown};

#[cfg(test)]
mod tests;
