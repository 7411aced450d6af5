//! Objects: groups of cells that repeat themselves, their codes and names, under any rule that counts neighbours.

mod apgcode;
mod cell_set;
mod identify;
mod names;
mod separate;

pub use apgcode::is_spaceship;
pub use cell_set::{CellSet, Counts, Phase};
pub use identify::{identify, identify_under, phases};
pub use names::of as name_of;
