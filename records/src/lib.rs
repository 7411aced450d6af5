//! Tasks that record measurements: the figures and plots of the documents, the comparison of counters, and the deletion
//! of barriers.
//!
//! `cargo xtask` starts this program. `xtask` builds the PTX that `host` embeds, so that it cannot depend on `host`,
//! whose types these tasks use. Both have one command line, [`xtask::records`].

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod bench;
pub mod counters;
pub mod mutate_barriers;

mod program;
