//! Measures saxpy on data in the memory of the host, with a stream for each stage: copy in, saxpy, copy out.

use crate::bench::meter::Times;
use crate::bench::points::Bench;
use crate::stream;
use workbench::bench::sweep::STREAM_CHUNKS;
use workbench::bench::{MeasuredPoint, Sweep};

/// The number of timed runs with each number of chunks.
const RUNS: usize = 11;

/// Measures the three stages with each number of chunks. A row counts the bytes that cross the link between host and
/// device. The row's `setting` is a text that states the run's speed in percent of the link's speed while both
/// directions are busy.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let report = stream::measure(&bench.device(), sweep.largest(), &STREAM_CHUNKS, RUNS, bench.seed)?;
    for row in &report.rows {
        let times = Times { runs: row.runs, low: row.seconds, median: row.seconds, high: row.seconds };
        let chunks = row.chunks.map_or_else(String::new, |chunks| format!("_{chunks}"));
        bench.add(MeasuredPoint {
            bytes: report.bytes,
            gbps: times.gbps(report.bytes as f64),
            setting: Some(format!("{:.1} % of the link both ways", 100.0 * row.share_of_two_way)),
            ..MeasuredPoint::timed(&times, sweep, &format!("stages{chunks}"), 1)
        });
    }
    Ok(())
}
