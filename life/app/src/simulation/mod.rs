//! Boards that the program advances. In an unbounded universe, the boards grow.

mod advance;
mod boards;
mod engines;
mod growing_board;
mod growth;
mod plane_board;
mod shape;

pub use advance::{CopiedCells, Snapshot};
pub use growing_board::{GrowingBoard, Outgrown};
pub use plane_board::{MAX_SHOWN_CELLS, PlaneBoard};

#[cfg(test)]
mod tests;
