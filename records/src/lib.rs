//! What is kept of runs: README's figures and plots, counts beside a GPU's own, and barriers that were left out.
//!
//! `cargo xtask` starts it: `xtask` builds the PTX that `host` holds, and so cannot depend on `host`, whose types these
//! tasks work with. Both have one command line, [`xtask::records`].

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod bench;
pub mod counters;
pub mod mutate_barriers;

mod program;
