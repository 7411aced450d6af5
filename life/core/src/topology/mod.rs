//! Topologies: how the edges of a board are joined.

mod suffix;

pub use life_cpu::{Edges, Topology};
pub use suffix::{Grid, RuleAndTopology, odd_klein_side};

#[cfg(test)]
mod tests;
