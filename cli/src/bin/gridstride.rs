//! The command `gridstride`, which `cargo install gridstride-cli` installs: see `gridstride --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
