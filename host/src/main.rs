//! The command `host`: see `host --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
