//! The command `host`: see `host --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::cli::main()
}
