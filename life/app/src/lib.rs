//! The command `host life`: advances boards, shows and records them, and analyses their end.
//!
//! `command` uses the modules below it: `first_board` reads or makes a board, `backend` opens the device that advances
//! it, `simulation` advances it, `timed_run` measures the speed, and `observers` look at its generations. Each module
//! uses only modules below it.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

/// Returns a [`UsageError`](program::error::UsageError) with a formatted message from the calling function.
macro_rules! reject {
    ($($argument:tt)*) => {
        return Err(program::error::UsageError(format!($($argument)*)).into())
    };
}

pub mod command;

mod animation;
mod backend;
mod board_file;
mod census;
mod checkpoint;
mod first_board;
mod observers;
mod ranks;
mod simulation;
mod timed_run;
mod universe;
