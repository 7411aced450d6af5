//! The facts that a board's file has beside its cells.

/// The facts that a board's file has beside its cells.
#[derive(Clone, Debug)]
pub struct About {
    /// The name of the pattern.
    pub name: Option<String>,
    /// The rule, with its topology.
    pub rule: String,
    /// The generation.
    pub generation: u64,
    /// Where the board's upper left corner is on the plane, as (column, row).
    pub origin: (i64, i64),
}

impl About {
    /// A board of Life that is a torus, in the middle of the plane, as Golly places it.
    pub fn torus((width, height): (usize, usize), generation: u64) -> Self {
        let before = |side: usize| 0i64.saturating_sub_unsigned(side as u64 / 2);
        let rule = format!("B3/S23:T{width},{height}");
        Self { name: None, rule, generation, origin: (before(width), before(height)) }
    }
}
