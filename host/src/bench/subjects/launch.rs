//! Measures what a launch costs the host: bare, typed, and in a graph; and what a sum costs, with memory allocated
//! before and without.

use crate::bench::points::Bench;
use crate::overhead::{self, Batches};
use workbench::bench::sweep::LAUNCH_KINDS;
use workbench::bench::{MeasuredPoint, Sweep};

/// Measures each kind of launch. The time is the host's, for one kernel.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let device = bench.device();
    let cost = overhead::measure(&device, Batches::default())?;
    let kinds: [_; LAUNCH_KINDS] = [
        ("bare", cost.bare),
        ("typed", cost.typed),
        ("graph", cost.graph),
        ("sum_kept", cost.sum_kept),
        ("sum_one_off", cost.sum_one_off),
    ];
    for (kind, cost) in kinds {
        let microseconds = cost.host_nanoseconds / 1e3;
        bench.add(MeasuredPoint {
            algorithm: sweep.subject.name().to_owned(),
            rung: Some(kind.to_owned()),
            number: sweep.number.to_owned(),
            size: sweep.largest() as u64,
            runs: Batches::default().count,
            median_us: microseconds,
            low_us: microseconds,
            high_us: microseconds,
            host_us: Some(cost.done_nanoseconds / 1e3),
            ..MeasuredPoint::default()
        });
    }
    Ok(())
}
