//! The metadata that a file contains in addition to the cells of the board.

/// The metadata that a file contains in addition to the cells of the board.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The name of the pattern.
    pub name: Option<String>,
    /// The rule, including a suffix for the topology.
    pub rule: String,
    /// The generation of the board.
    pub generation: u64,
    /// The position of the board's upper left corner on the plane, as (column, row).
    pub origin: (i64, i64),
}
