//! Checks the exercises: `cargo run`, or `cargo run -- --help`.

fn main() -> std::process::ExitCode {
    learn::main()
}
