//! The command `host life`. It advances boards, shows and records the boards, and finds out when a board becomes
//! periodic.
//!
//! The module `command` uses the other modules. `first_board` reads or makes a board, `backend` opens the device that
//! advances the board, and `simulation` advances the board. `timed_run` measures the speed, and `observers` process the
//! generations of a run. `fate` finds out what a pattern on the plane becomes, and `objects`
//! names what remains. No two modules depend on each other in
//! both directions.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

/// Returns a [`UsageError`](program::error::UsageError) with a formatted message from the function in which the macro
/// is used.
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
mod divisors;
mod fate;
mod first_board;
mod objects;
mod observers;
mod ranks;
mod simulation;
mod timed_run;
mod universe;
