//! saxpy on data of the host in three stages: in, saxpy, out, in streams that overlap.

use crate::bench::points::Bench;
use crate::bench::record::Row;
use crate::bench::work::Work;
use crate::stream;

/// Into so many chunks the data are cut.
pub(super) const CHUNKS: [usize; 3] = [32, 64, 128];

/// Timed runs of each.
const RUNS: usize = 11;

/// Measures it. The bytes are those that cross the link, and the setting says which share of its two-way speed is reached.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let report = stream::measure(&bench.device(), work.largest(), &CHUNKS, RUNS, bench.seed())?;
    for row in &report.rows {
        let microseconds = 1e6 * row.seconds;
        let chunks = row.chunks.map_or_else(String::new, |chunks| format!("_{chunks}"));
        bench.add(Row {
            algorithm: work.subject.name().to_owned(),
            rung: Some(format!("stages{chunks}")),
            number: work.number.to_owned(),
            size: work.largest() as u64,
            bytes: report.bytes,
            runs: row.runs,
            median_us: microseconds,
            low_us: microseconds,
            high_us: microseconds,
            gbps: if row.seconds > 0.0 { report.bytes as f64 / row.seconds / 1e9 } else { 0.0 },
            setting: Some(format!("{:.1} % of the link both ways", 100.0 * row.share_of_two_way)),
            ..Row::default()
        });
    }
    Ok(())
}
