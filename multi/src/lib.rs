//! Algorithms on several devices of one process, or of several processes that MPI started.
//!
//! A [`Team`](team::Team) consists of the devices of all ranks. Vectors are split over the team's members. Each
//! algorithm that runs on a team has a module of the same name.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod error;
pub mod histogram;
pub mod matmul;
pub mod ranks;
pub mod reduce;
pub mod saxpy;
pub mod scan;
pub mod team;

pub use error::MultiError;
