//! Parses the command line of the program `records`. `cargo xtask` offers the same tasks, and starts `records` for
//! them.
//!
//! The tasks use the types of `host`. They are in a separate program, because `xtask` builds the PTX that `host` embeds
//! and must therefore not depend on `host`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::workspace::{self, Workspace};

/// A task of `records`.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Compares the counters of ncu on a GPU with those of host explain in the simulator.
    Counters(CountersOptions),
    /// Runs host bench beside NVIDIA's libraries, and records a run in bench/results, README.md and docs/figures.md.
    Bench(BenchOptions),
    /// Writes the figures and the pictures of memory in docs/ladders.
    Ladders,
    /// Removes each barrier, warp synchronisation and fence of the kernels, one at a time, and checks that the
    /// simulator reports a fault.
    MutateBarriers,
}

/// The options of `counters`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "bench/counters/ncu.sh creates the folder, on a machine with a GPU.")]
pub struct CountersOptions {
    /// The folder with ncu's CSV files.
    pub folder: PathBuf,
    /// The path of a host program that is already built. By default cargo builds the program.
    #[arg(long, value_name = "PATH")]
    pub host: Option<PathBuf>,
    /// The date of the profile; the default is the date in the folder.
    #[arg(long)]
    pub date: Option<String>,
    /// Write docs/counters.md instead of printing it.
    #[arg(long)]
    pub write: bool,
}

const BENCH_HELP: &str = "\
Without an option, bench builds the peers' library if nvcc is found, runs host bench on this machine's GPU, and writes
the run to target/bench/run.json. To measure on a machine without cargo:

  host bench --json run.json --peers libpeers.so      on that machine, with files that were built here
  cargo xtask bench --record run.json                 on this machine";

/// The options of `bench`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchOptions {
    /// Only build the peers' library, bench/peers.
    #[arg(long, conflicts_with_all = ["record", "quick", "host"])]
    pub build: bool,
    /// Store the run in bench/results, and write the tables and plots of README.md and docs/figures.md. FILE is a run
    /// that host bench --json wrote on this or another machine. Without FILE, bench measures a new run.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub record: Option<Option<PathBuf>>,
    /// Measure only a few sizes.
    #[arg(long)]
    pub quick: bool,
    /// The compiler of the peers' library; the default is the first nvcc in PATH, CUDA_HOME and /usr/local/cuda.
    #[arg(long, value_name = "PATH")]
    pub nvcc: Option<PathBuf>,
    /// The architecture for which the peers' library is compiled, such as sm_90.
    #[arg(long, value_name = "ARCH", default_value = "native")]
    pub arch: String,
    /// The path of a host program that is already built. By default cargo builds the program.
    #[arg(long, value_name = "PATH")]
    pub host: Option<PathBuf>,
}

/// Runs `records` with `arguments`, after cargo has built it, and returns its exit code.
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
