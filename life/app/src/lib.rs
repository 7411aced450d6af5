//! The command `host life`: advances boards, shows and records them, and finds out when they become periodic.
//!
//! `command` uses the other modules: `first_board` reads or makes a board, `backend` opens the device that advances it,
//! `simulation` advances it, `timed_run` measures the speed, and `observers` process its generations. No two modules
//! use each other.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

/// Makes the function in which it is used return a [`UsageError`](program::error::UsageError) with a formatted message.
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
