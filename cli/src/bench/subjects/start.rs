//! Measures how long a command takes on small data, from the start of its process to the end. Most of this time is
//! spent on creating the CUDA context and on compiling kernels.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use workbench::bench::sweep::{START_CACHES, START_COMMANDS, START_POINTS};
use workbench::bench::{MeasuredPoint, Sweep};

use crate::bench::meter::Times;
use crate::bench::points::Bench;

/// The number of runs of each command with each state of the cache.
const RUNS: usize = 3;

/// Measures each command with each state of the cache, by the host's clock.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    if bench.device().is_simulated() {
        bench.note("start: the simulator has no driver that compiles kernels".to_owned());
        (0..START_POINTS).for_each(|_| bench.pass_over());
        return Ok(());
    }
    for (command, arguments) in START_COMMANDS {
        let mut times = [const { Vec::new() }; START_CACHES.len()];
        for _ in 0..RUNS {
            let cache = tempfile::tempdir().context("cannot make a folder for the driver's cache")?;
            for (name, times) in START_CACHES.iter().zip(&mut times) {
                times.push(time(command, arguments, cache.path(), *name == START_CACHES[0])?);
            }
        }
        for (cache, times) in START_CACHES.into_iter().zip(times) {
            let number = format!("{command} {arguments}").trim_end().to_owned();
            bench.add(MeasuredPoint { number, size: 1, ..MeasuredPoint::timed(&Times::of(times), sweep, cache, 1) });
        }
    }
    Ok(())
}

/// Times one run of this program. The driver caches compiled code in the folder `cache`, or nowhere if `is_off` is
/// true.
fn time(command: &str, arguments: &str, cache: &Path, is_off: bool) -> anyhow::Result<Duration> {
    let program = env::current_exe().context("cannot find this program")?;
    let mut child = Command::new(program);
    child.arg(command).args(arguments.split_whitespace()).env("CUDA_CACHE_PATH", cache).stdin(Stdio::null());
    if command != "devices" {
        child.args(["--device", "gpu"]);
    }
    child.env("CUDA_CACHE_DISABLE", if is_off { "1" } else { "0" });
    let begun = Instant::now();
    let output = child.output().with_context(|| format!("cannot run `host {command} {arguments}`"))?;
    let took = begun.elapsed();
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(anyhow!("{}", error.trim()).context(format!("`host {command} {arguments}` failed")));
    }
    Ok(took)
}
