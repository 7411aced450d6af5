//! The command `host`: see `host --help`.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::process::ExitCode;

fn main() -> ExitCode {
    host::cli::main()
}
