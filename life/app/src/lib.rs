//! The command `host life`. It advances boards, and watches, records, searches and counts them.
//!
//! A run goes from `command` down: `first_board` reads or makes a board, `backend` opens what advances it, `simulation`
//! advances it, `run` measures that, and `observers` look at its generations. Each module uses only modules below it.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

pub mod command;

mod animation;
mod backend;
mod board_file;
mod census;
mod checkpoint;
mod first_board;
mod observers;
mod ranks;
mod run;
mod simulation;
mod universe;
