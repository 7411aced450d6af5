//! Runs `cargo xtask counters`, `bench`, `ladders` and `mutate-barriers`.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::process::ExitCode;

use clap::Parser;
use records::{bench, counters, ladders, mutate_barriers};
use xtask::records::Task;
use xtask::workspace::Workspace;

/// Gridstride's tasks that use the types of its program
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::open().and_then(|workspace| match &arguments.task {
        Task::Counters(options) => counters::run(&workspace, options),
        Task::Bench(options) => bench::run(&workspace, options),
        Task::Ladders => ladders::run(&workspace),
        Task::MutateBarriers => mutate_barriers::run(&workspace),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
