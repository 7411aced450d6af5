//! The tasks of the program `records`: their command line, which is this program's too, and how they are started.
//!
//! They work with what `host` measures and counts, in `host`'s own types. What builds the PTX that `gridstride` embeds
//! must not depend on it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::workspace::{self, Workspace};

/// What `records` does.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Compares what ncu counted on a GPU with what host explain counts in the simulator.
    Counters(CountersOptions),
    /// Measures with host bench beside NVIDIA's libraries, and records a run in bench/results, README.md and
    /// docs/figures.md.
    Bench(BenchOptions),
    /// Leaves out each barrier, warp synchronisation and fence of the kernels, one at a time, and checks that the
    /// simulator misses it.
    MutateBarriers,
}

/// What `counters` is told to do.
#[derive(Clone, Debug, Args)]
#[command(after_help = "bench/counters/ncu.sh makes the folder, on a machine with a GPU.")]
pub struct CountersOptions {
    /// The folder with ncu's CSV files.
    pub folder: PathBuf,
    /// A built host to run, instead of having cargo build it.
    #[arg(long, value_name = "PATH")]
    pub host: Option<PathBuf>,
    /// The day of the profile, instead of what the folder says.
    #[arg(long)]
    pub date: Option<String>,
    /// Write docs/counters.md, instead of printing it.
    #[arg(long)]
    pub write: bool,
}

const BENCH_HELP: &str = "\
Without an option it builds the peers' library where there is nvcc, and has host bench measure on this machine's GPU; the
run is then in target/bench/run.json. On a machine without cargo:

  host bench --json run.json --peers libpeers.so      there, with what was built here
  cargo xtask bench --record run.json                 here";

/// What `bench` is told to do.
#[derive(Clone, Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchOptions {
    /// Build the peers' library, bench/peers, and nothing else.
    #[arg(long, conflicts_with_all = ["record", "quick", "host"])]
    pub build: bool,
    /// Keep the run in bench/results, and write the tables and plots of README.md and docs/figures.md: the run that
    /// host bench --json wrote to FILE, also on another machine, or one that is made now.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub record: Option<Option<PathBuf>>,
    /// Measure few sizes.
    #[arg(long)]
    pub quick: bool,
    /// The compiler of the peers' library; otherwise it is looked for in PATH, CUDA_HOME and /usr/local/cuda.
    #[arg(long, value_name = "PATH")]
    pub nvcc: Option<PathBuf>,
    /// The architecture that the peers' library is compiled for, such as sm_90.
    #[arg(long, value_name = "ARCH", default_value = "native")]
    pub arch: String,
    /// A built host to run, instead of having cargo build it.
    #[arg(long, value_name = "PATH")]
    pub host: Option<PathBuf>,
}

/// Runs `records` with the `arguments` of this program, builds it first where that is needed, and gives its exit code.
///
/// # Errors
/// If cargo cannot be run.
pub fn run(workspace: &Workspace, arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let status = workspace::cargo()
        .args(["run", "--quiet", "--package", "records", "--manifest-path"])
        .arg(workspace.root().join("Cargo.toml"))
        .arg("--")
        .args(arguments)
        .status()
        .context("cannot run cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
