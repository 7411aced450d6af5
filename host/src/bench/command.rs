//! `host bench`: measures, prints, records and draws.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::peers::Peers;
use super::record::Recording;
use super::works::Subject;
use super::{plots, run, table};
use crate::files::WholeFile;
use crate::options::DeviceOption;
use crate::report;

/// What the columns say, for the help.
const HELP: &str = "\
How it measures:
  Each point is a rung at a size: runs that warm up, then up to 101 within 0.3 seconds, of which the median and the
  quartiles are shown, by device events. Before every run a kernel reads 256 MiB or twice the L2 cache, whichever is more,
  so that the caches hold none of the run's data and the launch is on its way when it can begin; Life's generations follow
  each other as they do in a simulation. GB/s counts the bytes that the work cannot do without, in units of 10⁹. For small
  inputs the last rung is also timed by the host's clock, from the launch to the end. Those of reduce and scan are timed in
  a series too, as a program pays for them that makes many: 64 calls launched one after the other between two events, each
  on memory of its own that the caches do not hold, divided by their number; the median of 11 such series.

  The simulator measures small sizes, whose times are those of this machine's CPU.

Exit code: 0 when it is done, 1 when the device or a file fails, 2 when the command line is wrong.";

/// Measure every rung over sizes from 2^10 to 2^30, beside the device's own copy and NVIDIA's libraries
///
/// Results are those that the algorithms' own commands check: host saxpy, host reduce and so on.
#[derive(Args, Debug)]
#[command(after_long_help = HELP)]
pub struct BenchOptions {
    /// What to measure [default: all]
    #[arg(id = "algorithms", value_name = "ALGORITHM", value_parser = subjects())]
    subjects: Vec<Subject>,

    /// Measure few sizes: 2^16, 2^20, 2^28, and those of the README's tables
    #[arg(long)]
    quick: bool,

    /// Write all points to a JSON file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Draw GB/s over size for each algorithm into a folder, as bench-ALGORITHM.svg and .png
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,

    /// Run the peers' program, made by cargo xtask bench --build, between the measurements
    #[arg(long, value_name = "PROGRAM")]
    peers: Option<PathBuf>,

    /// Show what --json wrote, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["algorithms", "quick", "json", "peers", "device", "seed"])]
    from: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceOption,

    /// Seed of the random data
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Reads the name of a subject.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let values = Subject::all().map(|subject| PossibleValue::new(subject.name()).help(subject.summary()));
    PossibleValuesParser::new(values).try_map(|name| Subject::find(&name).ok_or("there is no such algorithm"))
}

impl BenchOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// When the device, the peers' program or a file fails.
    pub fn run(self) -> anyhow::Result<()> {
        let json = self.json.as_deref().map(WholeFile::new);
        if let Some(json) = &json {
            json.check()?;
        }
        if let Some(folder) = &self.plot {
            plots::check(folder)?;
        }
        let recording = match &self.from {
            Some(path) => Recording::read(path)?,
            None => self.measure()?,
        };
        // The file first: what cost minutes is not lost to a closed standard output.
        if let Some(json) = &json {
            recording.write(json)?;
            report::note(&format!("wrote {json}"));
        }
        if let Some(folder) = &self.plot {
            for path in plots::write(&recording, folder)? {
                report::note(&format!("wrote {}", WholeFile::new(&path)));
            }
        }
        report::print(&table::text(&recording))
    }

    fn measure(&self) -> anyhow::Result<Recording> {
        let peers = self.peers.as_deref().map(|program| Peers::open(program, self.device.device)).transpose()?;
        let device = self.device.open()?;
        let is_asked = |subject: &Subject| self.subjects.is_empty() || self.subjects.contains(subject);
        let subjects: Vec<Subject> = Subject::all().filter(is_asked).collect();
        run(&device, &subjects, self.quick, self.seed, peers.as_ref())
    }
}
