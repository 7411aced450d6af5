//! The metadata that a board's file contains besides the cells.

/// The metadata that a board's file contains besides the cells.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The name of the pattern.
    pub name: Option<String>,
    /// The rule, with its topology.
    pub rule: String,
    /// The generation of the board.
    pub generation: u64,
    /// The position of the board's upper left corner on the plane, as (column, row).
    pub origin: (i64, i64),
}
