//! Runs `cargo xtask`: the project's build tasks.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::workspace::Workspace;
use xtask::{book, build_ptx, check_ptx, features, lines, records, resources, tidy};

/// Gridstride's build tasks.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// The help text on the choice of the PTX compiler. The variables are `cuda_builder::RUSTC_VARIABLE` and
/// `CARGO_VARIABLE`.
const COMPILER_HELP: &str = "\
Environment:
  CUDA_BUILDER_RUSTC  The rustc that compiles PTX; it needs the standard library's sources. The default is the first
                      one with the sources: the rustc in PATH, then /usr/bin/rustc
  CUDA_BUILDER_CARGO  The cargo to use with it. The default is the one in its folder, or else in PATH";

#[derive(Subcommand)]
enum Task {
    /// Compiles the kernels: one module per algorithm and architecture, in gpu/ptx.
    #[command(after_help = COMPILER_HELP)]
    BuildPtx {
        /// The algorithms to build. The default is all.
        algorithms: Vec<String>,
    },
    /// Checks that gpu/ptx was built from the present sources, assembles for every GPU, and has the required
    /// instructions.
    #[command(after_help = COMPILER_HELP)]
    CheckPtx(check_ptx::Options),
    /// Writes the registers and shared memory of every kernel to gpu/ptx/resources.tsv.
    Resources {
        /// The path of NVIDIA's assembler ptxas; give several for different releases. The default is the same as for
        /// check-ptx.
        #[arg(long, value_name = "PATH")]
        ptxas: Vec<PathBuf>,
    },
    /// Checks that each crate compiles with each of its features alone, and with none of them.
    Features,
    /// Counts the lines of each crate: production code, documentation and comments, tests, and generated files.
    Lines {
        /// The commit to count, instead of the working tree.
        #[arg(long, value_name = "COMMIT")]
        at: Option<String>,
    },
    /// Builds docs/ as a book with mdBook, in target/book, and checks its links.
    Book,
    #[command(flatten)]
    Records(records::Task),
    /// Checks rules that the compiler does not check: lengths of files and lines, dependencies and their licences,
    /// SAFETY comments.
    Tidy {
        /// Instead of checking, wrap comments and Markdown that are too wide, in these folders and files or in all.
        #[arg(long, value_name = "PATH", num_args = 0..)]
        fix: Option<Vec<String>>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::open().and_then(|workspace| {
        match arguments.task {
            Task::BuildPtx { algorithms } => build_ptx::run(&workspace, &algorithms)?,
            Task::CheckPtx(options) => check_ptx::run(&workspace, &options)?,
            Task::Resources { ptxas } => resources::run(&workspace, &ptxas)?,
            Task::Features => features::run(&workspace)?,
            Task::Book => book::run(&workspace)?,
            Task::Lines { at } => lines::run(&workspace, at.as_deref())?,
            // `records` parses the same command line.
            Task::Records(_) => return records::run(&workspace, std::env::args_os().skip(1)),
            Task::Tidy { fix: Some(chosen) } => tidy::fix(&workspace, &chosen)?,
            Task::Tidy { fix: None } => tidy::run(&workspace)?,
        }
        Ok(ExitCode::SUCCESS)
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_help_names_the_variables_that_choose_the_compiler() {
        let mut command = Arguments::command();
        for task in ["build-ptx", "check-ptx"] {
            let help = command.find_subcommand_mut(task).unwrap().render_long_help().to_string();
            for variable in [cuda_builder::RUSTC_VARIABLE, cuda_builder::CARGO_VARIABLE] {
                assert!(help.contains(variable), "{task}: {help}");
            }
        }
    }

    /// Tests that every `cargo xtask` command line in the README and on the project's other pages is parsed.
    #[test]
    fn the_tasks_of_the_documents_are_understood() {
        let root = Workspace::open().unwrap().root().to_owned();
        let mut count = 0;
        for page in ["README.md", "CONTRIBUTING.md", "docs/building-ptx.md", "docs/counters.md", "docs/figures.md"] {
            let text = std::fs::read_to_string(root.join(page)).unwrap();
            for line in text.lines().filter_map(|line| line.strip_prefix("cargo xtask ")) {
                let words = line.split('#').next().unwrap_or_default().split_whitespace();
                let parsed = Arguments::try_parse_from(std::iter::once("xtask").chain(words));
                assert!(parsed.is_ok(), "{page}: {line}: {}", parsed.err().unwrap());
                count += 1;
            }
        }
        assert!(count >= 10, "{count}");
    }

    #[test]
    fn a_rebuild_cannot_be_required_and_left_out() {
        let parse = |options: &[&str]| Arguments::try_parse_from([&["xtask", "check-ptx"], options].concat());
        assert!(parse(&["--require-rebuild"]).is_ok());
        assert!(parse(&["--no-rebuild"]).is_ok());
        assert!(parse(&["--no-rebuild", "--require-rebuild"]).is_err());
    }
}
