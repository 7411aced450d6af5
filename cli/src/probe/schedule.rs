//! `host schedule`: shows the order in which blocks run, and their multiprocessors.

use clap::Args;
use gpu::probe::{RECORD, schedule_print, schedule_record};
use launch::{Device, Kernel, LaunchConfig};
use serde::Serialize;

use crate::error::UsageError;
use crate::measure;
use crate::options::{number_in, parse_number};
use crate::report;
use crate::report::plot::{Bar, Timeline};

use workbench::probe::full_grid;
use workbench::probe::schedule::{self as runs, Multiprocessor};

use super::ProbeOptions;

/// The number of blocks with --print.
const PRINTED_BLOCKS: u32 = 4;
/// The number of threads per block with --print.
const PRINTED_THREADS: u32 = 64;
/// With --print, one in this many threads prints.
const EVERY: u32 = 16;

/// With --print: the maximum number of lines that the driver buffers.
const MAX_LINES: u64 = 4096;

/// The number of threads per block without --print.
const THREADS: u32 = 512;
/// The number of blocks without --print, as a fraction of the blocks that the GPU can run concurrently.
const WAVES: (u32, u32) = (5, 2);

/// The maximum number of blocks that the table lists per multiprocessor.
const LISTED: usize = 8;

/// The number of different colours for bars.
const COLOURS: usize = 7;

/// Show in which order, and on which multiprocessor, a GPU runs blocks and warps
///
/// Every warp loops for a while, and records its multiprocessor and when it began and ended. The table has one row per
/// multiprocessor. With --print, some threads of each block print their indices instead; this also works in the
/// simulator.
#[derive(Args, Debug)]
pub struct ScheduleOptions {
    /// Blocks of the grid [default: 2.5 times what the GPU holds at once; with --print, 4]
    #[arg(long, value_name = "N", value_parser = number_in::<u32>(1..=2147483647))]
    blocks: Option<u32>,

    /// Threads per block [default: 512; with --print, 64]
    #[arg(long, value_name = "N", value_parser = number_in::<u32>(1..=1024))]
    threads: Option<u32>,

    /// Cycles that each warp loops
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = parse_number, conflicts_with = "print")]
    cycles: u64,

    /// Instead of the table, let every 16th thread print its indices as it runs
    #[arg(long, conflicts_with_all = ["json", "plot"])]
    print: bool,

    #[command(flatten)]
    probe: ProbeOptions,
}

/// The result that the command prints.
#[derive(Serialize, Debug)]
struct Summary {
    device: String,
    blocks: u32,
    threads: u32,
    cycles: u64,
    nanoseconds: u64,
    blocks_at_once: usize,
    blocks_early: usize,
    runs: Vec<runs::BlockRun>,
    #[serde(skip)]
    multiprocessors: Vec<Multiprocessor>,
}

impl ScheduleOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] in the simulator without --print, and for wrong options; another error if the device fails.
    pub fn run(self) -> anyhow::Result<()> {
        if self.print {
            return self.print();
        }
        let device = self.probe.open_gpu("schedule", ", or show the simulator's order with --print")?;
        let summary = self.record(&device)?;
        self.probe.finish(&summary, &summary.text(), || summary.plot())
    }

    fn print(&self) -> anyhow::Result<()> {
        let (blocks, threads) = (self.blocks.unwrap_or(PRINTED_BLOCKS), self.threads.unwrap_or(PRINTED_THREADS));
        let lines = u64::from(blocks) * u64::from(threads.div_ceil(EVERY));
        if lines > MAX_LINES {
            let text = format!(
                "--print: these threads print {lines} lines, and the driver keeps {MAX_LINES}: use fewer blocks or \
                 threads"
            );
            return Err(UsageError(text).into());
        }
        let device = self.probe.device.open()?;
        device.launch(LaunchConfig::new(blocks, threads), schedule_print(EVERY))?;
        device.synchronize()?;
        Ok(())
    }

    fn record(&self, device: &Device) -> anyhow::Result<Summary> {
        let threads = self.threads.unwrap_or(THREADS);
        let full = full_grid(device, <schedule_record as Kernel>::INFO, threads)?;
        let blocks = self.blocks.unwrap_or(full.saturating_mul(WAVES.0) / WAVES.1);
        let warps = threads.div_ceil(32) as usize;
        let words = blocks as usize * warps * RECORD;
        measure::check_memory(device, words as u64 * 8, "use fewer --blocks")?;
        let mut records = device.zeroed(words)?;
        let config = LaunchConfig::new(blocks, threads);
        // The first launch of a kernel is slower, so the second one is shown.
        device.launch(config, schedule_record(self.cycles.min(1000), records.view_mut()))?;
        device.synchronize()?;
        device.launch(config, schedule_record(self.cycles, records.view_mut()))?;
        let multiprocessors = runs::multiprocessors(&records.download()?, warps)?;
        let all = || multiprocessors.iter().flat_map(|one| &one.runs).copied();
        Ok(Summary {
            device: device.name().to_owned(),
            blocks,
            threads,
            cycles: self.cycles,
            nanoseconds: all().map(|run| run.end).max().unwrap_or(0),
            blocks_at_once: runs::at_once(&multiprocessors),
            blocks_early: runs::early(&multiprocessors),
            runs: all().collect(),
            multiprocessors,
        })
    }
}

/// Returns `nanoseconds` in µs, as text.
fn micros(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 / 1e3)
}

impl Summary {
    fn text(&self) -> String {
        let row = |one: &Multiprocessor| {
            let mut listed: Vec<String> = one.runs.iter().take(LISTED).map(|run| run.block.to_string()).collect();
            if one.runs.len() > LISTED {
                listed.push("…".to_owned());
            }
            let begin = one.runs.iter().map(|run| run.begin).min().unwrap_or(0);
            let end = one.runs.iter().map(|run| run.end).max().unwrap_or(0);
            [
                one.number.to_string(),
                one.runs.len().to_string(),
                one.at_once.to_string(),
                micros(begin),
                micros(end),
                listed.join(" "),
            ]
        };
        let rows = self.multiprocessors.iter().map(row);
        let heading =
            ["SM", "blocks", "at once", "first began, µs", "last ended, µs", "blocks in the order they began"];
        format!(
            "schedule on {}: {} blocks of {} threads, each warp busy for {} cycles, {} µs in all\n{}\n\
             at most {} blocks ran at once, on {} multiprocessors; {} began before a block with a lower number\n",
            self.device,
            self.blocks,
            self.threads,
            report::grouped(self.cycles),
            micros(self.nanoseconds),
            report::table(heading, rows),
            self.blocks_at_once,
            self.multiprocessors.len(),
            self.blocks_early
        )
    }

    fn plot(&self) -> Timeline {
        let waves = self.runs.iter().map(|run| run.wave).max().unwrap_or(1);
        // The colours are assigned to the waves in rotation. The legend names the first waves of each colour.
        let kind = |first: usize| {
            let same: Vec<String> = (first..=waves).step_by(COLOURS).take(3).map(|wave| wave.to_string()).collect();
            let more = if first + 3 * COLOURS <= waves { ", …" } else { "" };
            format!("wave {}{more}", same.join(", "))
        };
        let bars = self.multiprocessors.iter().enumerate().flat_map(|(row, one)| {
            one.runs.iter().map(move |run| Bar {
                row,
                lane: run.place,
                kind: (run.wave - 1) % COLOURS,
                begin: run.begin as f64 / 1e3,
                end: run.end as f64 / 1e3,
            })
        });
        Timeline {
            title: format!("{} blocks of {} threads on {}", self.blocks, self.threads, self.device),
            x_label: "time since the first block began (µs)".into(),
            y_label: "multiprocessor".into(),
            rows: self.multiprocessors.iter().map(|one| one.number.to_string()).collect(),
            kinds: (1..=waves.min(COLOURS)).map(kind).collect(),
            bars: bars.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(waves: u64) -> Summary {
        let record = |block: u64| [block % 2, 0, 1000 + block / 2 * 2000, 2500 + block / 2 * 2000];
        let records: Vec<u64> = (0..2 * waves).flat_map(record).collect();
        let multiprocessors = runs::multiprocessors(&records, 1).unwrap();
        Summary {
            device: "NVIDIA H200".into(),
            blocks: 2 * waves as u32,
            threads: 32,
            cycles: 50_000,
            nanoseconds: 1500,
            blocks_at_once: runs::at_once(&multiprocessors),
            blocks_early: runs::early(&multiprocessors),
            runs: multiprocessors.iter().flat_map(|one| &one.runs).copied().collect(),
            multiprocessors,
        }
    }

    #[test]
    fn the_table_has_one_row_per_multiprocessor() {
        let text = summary(12).text();
        for part in [
            "24 blocks of 32 threads",
            "50,000 cycles",
            "1 3 5 7 9 11 13 15 …",
            "at most 2 blocks ran at once, on 2 multi",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_timeline_has_a_bar_a_block_and_a_colour_a_wave() {
        let plot = summary(3).plot();
        assert_eq!((plot.rows.len(), plot.bars.len()), (2, 6));
        assert_eq!(plot.kinds, ["wave 1", "wave 2", "wave 3"]);
        assert_eq!(plot.bars[1], Bar { row: 0, lane: 0, kind: 1, begin: 2.0, end: 3.5 });
        let plot = summary(23).plot();
        assert_eq!((plot.kinds.len(), plot.kinds[0].as_str()), (7, "wave 1, 8, 15, …"));
        assert_eq!(plot.kinds[6], "wave 7, 14, 21");
    }
}
