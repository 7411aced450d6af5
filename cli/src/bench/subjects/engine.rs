//! Measures the CPU engine of an algorithm.

use std::time::{Duration, Instant};
use workbench::bench::{MeasuredPoint, Sweep};

use workbench::algorithm::Algorithm;

use crate::bench::meter::Times;
use crate::bench::points::Bench;

/// The name of the engine, which rows show in place of a rung's name.
const ENGINE: &str = "cpu";

/// The number of timed runs. Earlier, untimed runs determine the number of steps per run.
const RUNS: usize = 5;

/// The minimum number of steps of a run.
const FEWEST_STEPS: u64 = 32;

/// The minimum time of a run. The number of steps per run is doubled until a run takes this time.
const SHORT: Duration = Duration::from_millis(100);

/// Measures the CPU engine at each size by the host's clock.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep, algorithm: &dyn Algorithm) -> anyhow::Result<()> {
    let options = sweep.options.clone().seeded(bench.seed);
    for &shape in &sweep.engine_shapes {
        let problem = algorithm.problem(shape, &options)?;
        let mut engine = match problem.engine() {
            Ok(engine) => engine,
            Err(reason) => {
                bench.leave_out(&reason);
                continue;
            }
        };
        let setting = engine.setting();
        let mut timed = |steps| {
            let begun = Instant::now();
            engine.run(steps);
            begun.elapsed()
        };
        let mut steps = FEWEST_STEPS;
        while timed(steps) < SHORT {
            steps *= 2;
        }
        let times = Times::of((0..RUNS).map(|_| timed(steps)).collect());
        let bytes = problem.bytes();
        bench.add(MeasuredPoint {
            shape: Some(shape.to_string()),
            size: shape.elements() as u64,
            bytes,
            gbps: times.gbps(bytes as f64 * steps as f64),
            setting: Some(setting),
            ..MeasuredPoint::timed(&times, sweep, ENGINE, steps)
        });
    }
    Ok(())
}
