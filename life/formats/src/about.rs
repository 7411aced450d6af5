//! Metadata that a board's file contains besides the cells.

/// Metadata that a board's file contains besides the cells.
#[derive(Clone, Debug)]
pub struct About {
    /// The name of the pattern.
    pub name: Option<String>,
    /// The rule, with its topology.
    pub rule: String,
    /// The generation of the board.
    pub generation: u64,
    /// The position of the board's upper left corner on the plane, as (column, row).
    pub origin: (i64, i64),
}

impl About {
    /// Returns the metadata of a torus under Conway's rule, centred on the plane as Golly does.
    pub fn torus((width, height): (usize, usize), generation: u64) -> Self {
        let before = |side: usize| 0i64.saturating_sub_unsigned(side as u64 / 2);
        let rule = format!("B3/S23:T{width},{height}");
        Self { name: None, rule, generation, origin: (before(width), before(height)) }
    }
}
