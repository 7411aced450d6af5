//! `host bench`: measures the rungs over sizes, prints tables, and writes recordings and plots.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use units::conjunction;
use workbench::bench::{Recording, Scope, Subject};
use workbench::catalogue;

use super::peers::Peers;
use super::scaling::{self, Scaling};
use super::{run, table};
use crate::error::UsageError;
use crate::files::WholeFile;
use crate::options::{GroupOption, parse_count, parse_number};
use crate::recordings::{self, plots};
use crate::{ranks, report};

/// Returns the last part of the command's help, which says how the command measures.
fn help() -> String {
    let mut split: Vec<&str> =
        catalogue::scaling_measurements().iter().map(|(algorithm, _)| algorithm.name()).collect();
    split.dedup();
    HELP.replace("SPLIT", &conjunction(&split))
}

const HELP: &str = "\
How it measures:
  A point is a rung at a size. After runs that warm up, the program times up to 401 runs within 0.3 seconds by device
  events; the table has their median and quartiles. Before every run a kernel reads 256 MiB, or twice the L2 cache if
  that is more. The caches then hold none of the run's data, and the host enqueues the launch before the device can
  begin it. Life's generations run without such a kernel between them. GB/s counts the bytes that the algorithm must
  read and write, in units of 10⁹.

  For small inputs the last rung is also timed by the host's clock, from the launch to the end. The last rungs of reduce
  and scan are also timed in a series: 64 calls launched one after the other between two events, each on memory that the
  caches do not hold. The table has the time per call, as the median of 11 series.

  On several devices (--device gpu:all, gpu:0,1 or sim:COUNT, or several ranks) it measures the last rungs of
  SPLIT, on 1, 2, 4, … and all devices. Strong scaling divides --n elements among the devices; weak scaling
  gives --n elements to each. The inputs repeat a pattern and are generated on the devices; results are checked against
  that pattern.

  The simulator measures small sizes, and its times are those of this machine's CPU.

Exit code: 0 on success, 1 if the device or a file fails, 2 if the command line is wrong.";

/// Measure every rung over sizes from 2^10 to 2^30, beside the device's own copy and NVIDIA's libraries
///
/// On one device this command does not check results; the algorithms' own commands do: host saxpy, host reduce and so
/// on.
#[derive(Args, Debug)]
#[command(after_long_help = help())]
pub struct BenchOptions {
    /// What to measure [default: all]
    #[arg(id = "algorithms", value_name = "ALGORITHM", value_parser = subjects())]
    subjects: Vec<Subject>,

    /// Measure only 2^16, 2^20, 2^28 and the sizes of the README's tables
    #[arg(long)]
    quick: bool,

    /// Also write all points to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also plot GB/s over size for each algorithm, as bench-ALGORITHM.svg and .png in this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,

    /// Also measure CUB and cuBLAS, through the library that cargo xtask bench --build makes
    #[arg(long, value_name = "LIBRARY")]
    peers: Option<PathBuf>,

    /// Number of elements for a run on several devices: the total for strong scaling, the number per device for weak
    /// scaling [default: 2^30, in the simulator 2^16]
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "quick")]
    n: Option<usize>,

    /// Show the file that --json wrote, and measure nothing
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["algorithms", "quick", "json", "peers", "device", "seed", "n"]
    )]
    from: Option<PathBuf>,

    #[command(flatten)]
    device: GroupOption,

    /// Seed of the random data
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number)]
    seed: u64,
}

/// Returns a parser for a subject's name.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let values = Subject::all().map(|subject| PossibleValue::new(subject.name()).help(subject.summary()));
    PossibleValuesParser::new(values).try_map(|name| Subject::find(&name).ok_or("there is no such algorithm"))
}

/// Prints the paths of the written files on standard error.
fn noted(paths: &[PathBuf]) {
    paths.iter().for_each(|path| report::note(&format!("wrote {}", WholeFile::new(path))));
}

impl BenchOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// If the device, the library of `--peers` or a file fails.
    pub fn run(self) -> anyhow::Result<()> {
        // Only rank 0 writes files.
        let json = self.json.as_deref().filter(|_| ranks::is_first()).map(WholeFile::new);
        if let Some(json) = &json {
            json.check()?;
        }
        let plot = self.plot.as_deref().filter(|_| ranks::is_first());
        if let Some(folder) = plot {
            plots::check(folder)?;
        }
        if let Some(scaling) = self.scaling()? {
            if let Some(json) = &json {
                recordings::write(&scaling, json)?;
                report::note(&format!("wrote {json}"));
            }
            if let Some(folder) = plot {
                noted(&scaling.draw(folder)?);
            }
            return report::print(&scaling.text());
        }
        let recording = match &self.from {
            Some(path) => recordings::read(path)?,
            None => self.measure()?,
        };
        // The file is written first, so that a closed standard output does not lose minutes of measurement.
        if let Some(json) = &json {
            recordings::write(&recording, json)?;
            report::note(&format!("wrote {json}"));
        }
        if let Some(folder) = plot {
            noted(&plots::write(&recording, folder)?);
        }
        report::print(&table::text(&recording))
    }

    /// Measures the scaling if `--device` names several devices or there are several ranks. If `--from` names a
    /// recording of such a run, reads the scaling from the recording. Returns `None` otherwise.
    fn scaling(&self) -> anyhow::Result<Option<Scaling>> {
        if let Some(path) = &self.from {
            return Ok(Scaling::read(path));
        }
        if self.device.device.as_one().is_some() && ranks::communicator().size() == 1 {
            return match self.n {
                None => Ok(None),
                Some(_) => {
                    Err(UsageError("--n is for several devices: use it with --device gpu:all".to_owned()).into())
                }
            };
        }
        if self.peers.is_some() {
            return Err(UsageError("--peers runs on one device: name one with --device".to_owned()).into());
        }
        let group = self.device.open()?;
        let exponent = match Scope::on(&group.members()[0], self.quick) {
            Scope { simulated: true, quick: false } => 16,
            Scope { simulated: true, quick: true } => 12,
            Scope { simulated: false, quick: false } => 30,
            Scope { simulated: false, quick: true } => 28,
        };
        let algorithms: Vec<&str> = self.subjects.iter().map(|subject| subject.name()).collect();
        scaling::run(&group, &algorithms, self.n.unwrap_or(1 << exponent)).map(Some)
    }

    fn measure(&self) -> anyhow::Result<Recording> {
        let peers = self.peers.as_deref().map(Peers::load).transpose()?;
        let device = self.device.open_one()?;
        let is_asked = |subject: &Subject| self.subjects.is_empty() || self.subjects.contains(subject);
        let subjects: Vec<Subject> = Subject::all().filter(is_asked).collect();
        run(&device, &subjects, self.quick, self.seed, peers)
    }
}
