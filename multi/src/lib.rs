//! Several devices at work on one problem: those of one process, or of several that MPI started.
//!
//! A [`Team`](team::Team) is the devices of all ranks; vectors are split over its members. Each algorithm that runs on
//! a team has a module of its name.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod error;
pub mod histogram;
pub mod ranks;
pub mod reduce;
pub mod saxpy;
pub mod scan;
pub mod team;

pub use error::MultiError;
