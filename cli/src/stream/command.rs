//! `host stream`: measures the cost of copies to the GPU and back, and their overlap.

use clap::{Args, Subcommand};
use launch::Device;
use workbench::stream::Link;

use super::report::Report;
use super::runner::{FEWER, Runner};
use crate::error::UsageError;
use crate::measure::{self, MeasureOptions, doubled_up_to};
use crate::options::{number_in, parse_count};
use crate::report::plot::PlotOption;

/// Up to this number of streams, the table has a row for every number.
const EACH: usize = 8;

/// Measure saxpy on data in the memory of the host: copies, kernel, and their overlap
///
/// Computes y = 2·x + y in single precision: 8 bytes per element go to the GPU and 4 come back. Times are medians; the
/// wall clock runs from the inputs in host memory to the result in host memory. GB/s is those 12 bytes per element
/// divided by the wall-clock time, in GB of 10⁹ bytes. The column "of link" is the minimum time of the copies divided
/// by the wall-clock time; for this minimum, each direction has the speed that it reaches while the other is idle. The
/// column "of two-way" is the same quotient with the link's speed while both directions are busy. Every run is checked.
#[derive(Args, Debug)]
#[command(subcommand_required = true, arg_required_else_help = false)]
pub struct StreamOptions {
    #[command(subcommand)]
    program: Program,
}

#[derive(Subcommand, Clone, Debug)]
enum Program {
    /// Pageable memory; the host waits for each copy and for the kernel
    Device(RunOptions),
    /// Page-locked memory; copies and kernel in one stream
    Async(RunOptions),
    /// Page-locked memory; chunks of the data in several streams, whose copies and kernels overlap
    Streams(StreamsOptions),
    /// Page-locked memory; chunks of the data pass through three streams: copy in, saxpy, copy out
    Stages(StagesOptions),
    /// Page-locked memory that the kernel reads and writes in place, over the link
    Mapped(RunOptions),
}

#[derive(Args, Clone, Debug)]
struct RunOptions {
    /// Elements of each vector, such as 1000000, 1_000_000 or 2^28
    #[arg(long, value_name = "N", default_value = "2^26", value_parser = parse_count)]
    n: usize,

    /// Timed runs, after one that warms up
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = number_in::<u16>(1..=1000))]
    runs: u16,

    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Args, Clone, Debug)]
struct StreamsOptions {
    /// Largest number of streams: a row for each number up to it, or for each power of two if it is above 8
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number_in::<u16>(1..=256))]
    streams: u16,

    /// Chunks of the data, which the streams take in turn [default: one per stream]
    #[arg(long, value_name = "C", value_parser = number_in::<u16>(1..=4096))]
    chunks: Option<u16>,

    #[command(flatten)]
    plot: PlotOption,

    #[command(flatten)]
    run: RunOptions,
}

#[derive(Args, Clone, Debug)]
struct StagesOptions {
    /// Largest number of chunks: a row for it, and for each power of two below it
    #[arg(long, value_name = "C", default_value_t = 128, value_parser = number_in::<u16>(1..=4096))]
    chunks: u16,

    #[command(flatten)]
    plot: PlotOption,

    #[command(flatten)]
    run: RunOptions,
}

impl Program {
    /// Returns the program's name, its common options, and its option for a plot, if it has one.
    fn parts(&self) -> (&'static str, &RunOptions, Option<&PlotOption>) {
        match self {
            Self::Device(run) => ("device", run, None),
            Self::Async(run) => ("async", run, None),
            Self::Streams(options) => ("streams", &options.run, Some(&options.plot)),
            Self::Stages(options) => ("stages", &options.run, Some(&options.plot)),
            Self::Mapped(run) => ("mapped", run, None),
        }
    }
}

impl StreamOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] in the simulator; another error if the device fails or has too little memory, or a result is
    /// wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let (_, options, plot) = self.program.parts();
        plot.map_or(Ok(()), PlotOption::check)?;
        let device = options.measure.device.open_one()?;
        if device.is_simulated() {
            return Err(UsageError(
                "the command stream measures copies between host and GPU, and the simulator has none: use --device gpu \
                 on a machine with an NVIDIA GPU"
                    .to_owned(),
            )
            .into());
        }
        let report = self.program.measure(&device)?;
        report.finish(options.measure.json)?;
        plot.map_or(Ok(()), |plot| plot.draw(|| report.plot()))
    }
}

impl Program {
    fn measure(&self, device: &Device) -> anyhow::Result<Report> {
        let (name, &RunOptions { n, runs, measure: MeasureOptions { seed, .. } }, _) = self.parts();
        let runs = usize::from(runs);
        if !matches!(self, Self::Mapped(_)) {
            measure::check_memory(device, (n as u64).saturating_mul(8), FEWER)?;
        }
        let runner = Runner::new(device, n, runs, seed);
        let mut report = Report::new(device.name(), name, n, seed, Link::measure(device, runs)?);
        let rows = match self {
            Self::Device(_) => vec![runner.synchronous()?],
            Self::Async(_) => runner.streams(&[1], None)?,
            Self::Streams(options) => {
                runner.streams(&counts(options.streams.into()), options.chunks.map(Into::into))?
            }
            Self::Stages(options) => runner.stages(&doubled_up_to(options.chunks.into()))?,
            Self::Mapped(_) => vec![runner.mapped()?],
        };
        rows.into_iter().for_each(|runs| report.add(runs));
        Ok(report)
    }
}

/// Returns the numbers of streams to measure: all up to `most`, or powers of two and `most`.
fn counts(most: usize) -> Vec<usize> {
    if most <= EACH { (1..=most).collect() } else { doubled_up_to(most) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use launch::DeviceChoice;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: StreamOptions,
    }

    fn program(line: &str) -> Program {
        Line::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}")).options.program
    }

    #[test]
    fn every_number_of_streams_up_to_eight_and_powers_of_two() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(3), [1, 2, 3]);
        assert_eq!(counts(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(counts(9), [1, 2, 4, 8, 9]);
        assert_eq!(counts(16), [1, 2, 4, 8, 16]);
        assert_eq!(counts(256), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    }

    /// Runs in the simulator the programs that the command runs on a GPU.
    #[test]
    fn every_program_is_measured_and_checked() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for (line, streams, stages) in [
            ("stream device --n 1009 --runs 2", vec![None], [true, true, true]),
            ("stream async --n 1009 --runs 1", vec![Some(1)], [true, true, true]),
            ("stream streams --n 1009 --streams 3 --seed 9", vec![Some(1), Some(2), Some(3)], [false; 3]),
            ("stream streams --n 1009 --streams 1 --chunks 5 --runs 1", vec![Some(1)], [false; 3]),
            ("stream stages --n 1009 --chunks 3 --runs 1", vec![None; 3], [false; 3]),
            ("stream mapped --n 1009 --runs 2", vec![None], [false, true, false]),
            ("stream mapped --n 0", vec![None], [false, true, false]),
        ] {
            let report = program(line).measure(&device).unwrap();
            assert_eq!(report.rows.iter().map(|row| row.streams).collect::<Vec<_>>(), streams, "{line}");
            let last = report.rows.last().unwrap();
            let found = [last.host_to_device_seconds, last.kernel_seconds, last.device_to_host_seconds];
            assert_eq!(found.map(|stage| stage.is_some()), stages, "{line}");
            assert_eq!(last.deviation.wrong, None, "{line}");
            assert!(last.seconds > 0.0, "{line}");
            let chunks = report.rows.iter().map(|row| row.chunks).collect::<Vec<_>>();
            match line.split(' ').nth(1) {
                Some("stages") => assert_eq!(chunks, [Some(1), Some(2), Some(3)]),
                Some("streams") if line.contains("--chunks") => assert_eq!(chunks, [Some(5)]),
                Some("streams" | "async") => assert_eq!(chunks, streams),
                _ => assert_eq!(chunks, [None]),
            }
        }
    }
}
