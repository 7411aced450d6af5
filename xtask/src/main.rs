//! `cargo xtask`: the project's build tasks.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::check_ptx::Rebuild;
use xtask::workspace::Workspace;
use xtask::{bench, build_ptx, check_ptx, counters, mutate_barriers, resources, tidy};

/// Gridstride's build tasks.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// Which compiler builds PTX: the variables are `cuda_builder::RUSTC_VARIABLE` and `CARGO_VARIABLE`.
const COMPILER_HELP: &str = "\
Environment:
  CUDA_BUILDER_RUSTC  The rustc to compile with, which needs the standard library's sources; otherwise the first that
                      has them of the rustc in PATH and /usr/bin/rustc
  CUDA_BUILDER_CARGO  The cargo to use with it; otherwise the one in its folder, or else in PATH";

const BENCH_HELP: &str = "\
Without an option it builds the peers' program where there is nvcc, and has host bench measure on this machine's GPU; the
run is then in target/bench/run.json. On a machine without cargo:

  host bench --json run.json --peers peers            there, with programs that were built here
  cargo xtask bench --record run.json                 here";

#[derive(Subcommand)]
enum Task {
    /// Compiles the kernels: one module an algorithm and architecture, in gpu/ptx.
    #[command(after_help = COMPILER_HELP)]
    BuildPtx {
        /// The algorithms to build; all of them if none is named.
        algorithms: Vec<String>,
    },
    /// Checks that gpu/ptx comes from the present sources, assembles for every GPU, and has the instructions it should.
    #[command(after_help = COMPILER_HELP)]
    CheckPtx {
        /// NVIDIA's assembler, or several of different ages; otherwise they are looked for in PATH, under CUDA_HOME and
        /// in target/tools. Each architecture is assembled by the newest that knows it.
        #[arg(long, value_name = "PATH")]
        ptxas: Vec<PathBuf>,
        /// NVIDIA's disassembler; otherwise it is looked for in the same places.
        #[arg(long, value_name = "PATH")]
        nvdisasm: Option<PathBuf>,
        /// Fail where no ptxas or no nvdisasm is found.
        #[arg(long)]
        require_ptxas: bool,
        /// Fail where the compiler is missing that made the files, so that they cannot be built again and compared.
        #[arg(long)]
        require_rebuild: bool,
        /// Do not rebuild, even where the compiler that made the files is at hand.
        #[arg(long, conflicts_with = "require_rebuild")]
        no_rebuild: bool,
        /// Show each instance of a generic kernel in a row of its own.
        #[arg(long)]
        all: bool,
    },
    /// Writes what every kernel takes of each GPU, registers and shared memory, to gpu/ptx/resources.tsv.
    Resources {
        /// NVIDIA's assembler, or several of different ages; otherwise they are looked for as check-ptx does.
        #[arg(long, value_name = "PATH")]
        ptxas: Vec<PathBuf>,
    },
    /// Compares what ncu counted on a GPU with what host explain counts in the simulator.
    #[command(after_help = "bench/counters/ncu.sh makes the folder, on a machine with a GPU.")]
    Counters {
        /// The folder with ncu's CSV files.
        folder: PathBuf,
        /// A built host to run, instead of having cargo build it.
        #[arg(long, value_name = "PATH")]
        host: Option<PathBuf>,
        /// The day of the profile, instead of what the folder says.
        #[arg(long)]
        date: Option<String>,
        /// Write docs/counters.md, instead of printing it.
        #[arg(long)]
        write: bool,
    },
    /// Measures with host bench beside NVIDIA's libraries, and records a run in bench/results and README.md.
    #[command(after_help = BENCH_HELP)]
    Bench {
        /// Build the peers' program, bench/peers, and nothing else.
        #[arg(long, conflicts_with_all = ["record", "quick", "host"])]
        build: bool,
        /// Keep the run in bench/results, and write README.md's tables and plots: the run that host bench --json wrote to
        /// FILE, also on another machine, or one that is made now.
        #[arg(long, value_name = "FILE", num_args = 0..=1)]
        record: Option<Option<PathBuf>>,
        /// Measure few sizes.
        #[arg(long)]
        quick: bool,
        /// The compiler of the peers' program; otherwise it is looked for in PATH, CUDA_HOME and /usr/local/cuda.
        #[arg(long, value_name = "PATH")]
        nvcc: Option<PathBuf>,
        /// The architecture that the peers' program is compiled for, such as sm_90.
        #[arg(long, value_name = "ARCH", default_value = "native")]
        arch: String,
        /// A built host to run, instead of having cargo build it.
        #[arg(long, value_name = "PATH")]
        host: Option<PathBuf>,
    },
    /// Leaves out each barrier, warp synchronisation and fence of the kernels, one at a time, and checks that the simulator
    /// misses it.
    MutateBarriers,
    /// Checks what the compiler does not: file lengths, dependency direction, SAFETY comments, panics.
    Tidy,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::open().and_then(|workspace| match arguments.task {
        Task::BuildPtx { algorithms } => build_ptx::run(&workspace, &algorithms),
        Task::CheckPtx { ptxas, nvdisasm, require_ptxas, require_rebuild, no_rebuild, all } => {
            let rebuild = match (require_rebuild, no_rebuild) {
                (true, _) => Rebuild::Required,
                (false, true) => Rebuild::Never,
                (false, false) => Rebuild::WherePossible,
            };
            check_ptx::run(&workspace, &check_ptx::Options { ptxas, nvdisasm, require_ptxas, rebuild, all })
        }
        Task::Resources { ptxas } => resources::run(&workspace, &ptxas),
        Task::Counters { folder, host, date, write } => {
            counters::run(&workspace, &counters::Options { folder, host, date, write })
        }
        Task::Bench { build, record, quick, nvcc, arch, host } => {
            bench::run(&workspace, &bench::Options { build, nvcc, arch, record, quick, host })
        }
        Task::MutateBarriers => mutate_barriers::run(&workspace),
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

    #[test]
    fn a_rebuild_cannot_be_required_and_left_out() {
        let parse = |options: &[&str]| Arguments::try_parse_from([&["xtask", "check-ptx"], options].concat());
        assert!(parse(&["--require-rebuild"]).is_ok());
        assert!(parse(&["--no-rebuild"]).is_ok());
        assert!(parse(&["--no-rebuild", "--require-rebuild"]).is_err());
    }
}
