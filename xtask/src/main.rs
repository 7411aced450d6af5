//! `cargo xtask`: the project's build tasks.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::workspace::Workspace;
use xtask::{build_ptx, check_ptx, tidy};

/// Gridstride's build tasks.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compiles the kernels: one module an algorithm and architecture, in gpu/ptx.
    BuildPtx {
        /// The algorithms to build; all of them if none is named.
        algorithms: Vec<String>,
    },
    /// Checks that gpu/ptx comes from the present sources and assembles for every GPU.
    CheckPtx {
        /// NVIDIA's assembler, or several of different ages; otherwise they are looked for in PATH, under CUDA_HOME and
        /// in target/tools. Each architecture is assembled by the newest that knows it.
        #[arg(long, value_name = "PATH")]
        ptxas: Vec<PathBuf>,
        /// Fail where no ptxas is found.
        #[arg(long)]
        require_ptxas: bool,
        /// Do not rebuild, even where the compiler that made the files is at hand.
        #[arg(long)]
        no_rebuild: bool,
    },
    /// Checks what the compiler does not: file lengths, dependency direction, SAFETY comments, panics.
    Tidy,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::open().and_then(|workspace| match arguments.task {
        Task::BuildPtx { algorithms } => build_ptx::run(&workspace, &algorithms),
        Task::CheckPtx { ptxas, require_ptxas, no_rebuild } => {
            check_ptx::run(&workspace, &check_ptx::Options { ptxas, require_ptxas, no_rebuild })
        }
        Task::Tidy => tidy::run(&workspace),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
