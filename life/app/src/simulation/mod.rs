//! Boards that advance, and that grow in an unbounded universe.

mod advance;
mod boards;
mod engines;
mod growing_board;
mod growth;
mod rule_states;
mod shape;
mod snapshot;

pub use advance::Advance;
pub use growing_board::{GrowingBoard, Outgrown};
pub use snapshot::Snapshot;

#[cfg(test)]
mod tests;
