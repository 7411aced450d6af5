//! What a launch costs the host: bare, typed, and in a graph; and what a sum does, with and without memory of its own.

use crate::bench::points::Bench;
use crate::bench::record::Row;
use crate::bench::work::Work;
use crate::overhead::{self, Batches};

/// The kinds of launches.
pub(super) const KINDS: usize = 5;

/// Measures each kind. The time is the host's, for one kernel.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let cost = overhead::measure(&device, Batches::default())?;
    let kinds = [
        ("bare", cost.bare),
        ("typed", cost.typed),
        ("graph", cost.graph),
        ("sum_kept", cost.sum_kept),
        ("sum_one_off", cost.sum_one_off),
    ];
    for (kind, cost) in kinds {
        let microseconds = cost.host_nanoseconds / 1e3;
        bench.add(Row {
            algorithm: work.subject.name().to_owned(),
            rung: Some(kind.to_owned()),
            number: work.number.to_owned(),
            size: work.largest() as u64,
            runs: Batches::default().count,
            median_us: microseconds,
            low_us: microseconds,
            high_us: microseconds,
            host_us: Some(cost.done_nanoseconds / 1e3),
            ..Row::default()
        });
    }
    Ok(())
}
