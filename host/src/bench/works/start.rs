//! How long a command takes from its start to its end on small data: what the driver compiles, and the context, are most of it.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::bench::points::Bench;
use crate::bench::record::Row;
use crate::bench::work::Work;

/// The commands, each with what it is asked for.
const COMMANDS: [(&str, &str); 8] = [
    ("devices", ""),
    ("scan", "--n 1000 --kernel look_back"),
    ("scan", "--n 1000"),
    ("reduce", "--n 1000"),
    ("saxpy", "--n 1000"),
    ("histogram", "--n 1000"),
    ("transpose", "--size 100x100"),
    ("life", "--size 256x256 --seed 1 --generations 10 --no-animation"),
];

/// What the driver has of earlier runs. In this order: the cold run fills the cache of the warm one.
const CACHES: [&str; 3] = ["cache_off", "cache_cold", "cache_warm"];

/// Points of a run.
pub(super) const POINTS: usize = COMMANDS.len() * CACHES.len();

/// Runs of each.
const RUNS: usize = 3;

/// Measures each command with each cache, by the host's clock.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    if bench.device().is_simulated() {
        bench.note("start: the simulator has no driver that compiles".to_owned());
        (0..POINTS).for_each(|_| bench.pass_over());
        return Ok(());
    }
    for (command, arguments) in COMMANDS {
        let mut times = [const { Vec::new() }; CACHES.len()];
        for _ in 0..RUNS {
            let cache = tempfile::tempdir().context("cannot make a folder for the driver's cache")?;
            for (name, times) in CACHES.iter().zip(&mut times) {
                times.push(time(command, arguments, cache.path(), *name == CACHES[0])?);
            }
        }
        for (cache, mut times) in CACHES.into_iter().zip(times) {
            times.sort_unstable();
            let microseconds = |place: usize| 1e6 * times[place].as_secs_f64();
            bench.add(Row {
                algorithm: work.subject.name().to_owned(),
                rung: Some(cache.to_owned()),
                number: format!("{command} {arguments}").trim_end().to_owned(),
                size: 1,
                runs: RUNS,
                median_us: microseconds(RUNS / 2),
                low_us: microseconds(0),
                high_us: microseconds(RUNS - 1),
                ..Row::default()
            });
        }
    }
    Ok(())
}

/// Runs this program once.
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
