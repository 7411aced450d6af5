//! Boards that advance, and that grow in an unbounded universe.

mod advance;
mod boards;
mod engines;
mod growing;
mod growth;
mod shape;
mod snapshot;
mod states;

pub use advance::Advance;
pub use growing::{GrowingBoard, Outgrown};
pub use snapshot::Snapshot;

#[cfg(test)]
mod tests;
