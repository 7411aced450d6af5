//! Conway's Life on a torus: a dead cell with three live neighbours comes to life, a live one with two or three stays
//! alive, all others are dead in the next generation (the rule B3/S23).
//!
//! A [`Board`] is what the cells are, a [`Pattern`] what a file holds, a [`Simulation`] a board on a device and the
//! [`LifeKernel`] that advances it; [`mod@reference`] is the plain CPU answer that every kernel is compared with.

pub mod board;
pub mod command;
pub mod format;
pub mod pattern;
pub mod picture;
pub mod plaintext;
pub mod reference;
pub mod rle;
pub mod simulation;
pub mod soup;

mod animation;
mod files;
mod run;
mod start;
mod summary;

pub use board::{Board, SizeError};
pub use pattern::{ParseError, Pattern, PlaceError};
pub use simulation::{LifeError, LifeKernel, Simulation};
pub use soup::SoupError;
