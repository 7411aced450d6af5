//! Measures saxpy on data in the memory of the host, with a stream for each stage: copy in, saxpy, copy out.

use crate::bench::points::Bench;
use crate::stream;
use workbench::bench::sweep::STREAM_CHUNKS;
use workbench::bench::{MeasuredPoint, Sweep};

/// Timed runs of each number of chunks.
const RUNS: usize = 11;

/// Measures each number of chunks. The bytes are those that cross the link; the setting has the share of the link's
/// two-way speed.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let report = stream::measure(&bench.device(), sweep.largest(), &STREAM_CHUNKS, RUNS, bench.seed())?;
    for row in &report.rows {
        let microseconds = 1e6 * row.seconds;
        let chunks = row.chunks.map_or_else(String::new, |chunks| format!("_{chunks}"));
        bench.add(MeasuredPoint {
            algorithm: sweep.subject.name().to_owned(),
            rung: Some(format!("stages{chunks}")),
            number: sweep.number.to_owned(),
            size: sweep.largest() as u64,
            bytes: report.bytes,
            runs: row.runs,
            median_us: microseconds,
            low_us: microseconds,
            high_us: microseconds,
            gbps: if row.seconds > 0.0 { report.bytes as f64 / row.seconds / 1e9 } else { 0.0 },
            setting: Some(format!("{:.1} % of the link both ways", 100.0 * row.share_of_two_way)),
            ..MeasuredPoint::default()
        });
    }
    Ok(())
}
