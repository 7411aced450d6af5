//! Contains the tasks that record measurements: the figures and plots of the documents, the pages of the ladders, the
//! comparison of counters, and the deletion of barriers.
//!
//! `cargo xtask` starts this program for the tasks that use the types of `host`. `xtask` cannot use these types,
//! because it builds the PTX that `host` embeds. Both programs parse the same command line, [`xtask::records`].

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod bench;
pub mod counters;
pub mod ladders;
pub mod mutate_barriers;

mod program;
