//! Measures a sweep: the rungs of an algorithm, or a subject that is not an algorithm.

use cuda_std::Rung;
use workbench::algorithm::Algorithm;
use workbench::bench::{Rungs, Subject, Sweep};

use super::points::{Bench, Point};

pub(super) mod copy;
mod engine;
mod launch;
mod start;
mod stream;
mod upload;

/// Measures a sweep.
///
/// # Errors
/// If the device fails.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    match sweep.subject {
        Subject::Copy => copy::run(bench, sweep),
        Subject::Algorithm(algorithm) => {
            rungs(bench, sweep, algorithm)?;
            engine::run(bench, sweep, algorithm)
        }
        Subject::Launch => launch::run(bench, sweep),
        Subject::Stream => stream::run(bench, sweep),
        Subject::Upload => upload::run(bench, sweep),
        Subject::Start => start::run(bench, sweep),
    }
}

/// Measures the rungs of an algorithm at every size.
fn rungs(bench: &mut Bench, sweep: &Sweep, algorithm: &'static dyn Algorithm) -> anyhow::Result<()> {
    let device = bench.device();
    let options = sweep.options.clone().seeded(bench.seed);
    for &shape in &sweep.shapes {
        let problem = algorithm.problem(shape, &options)?;
        let is_wanted = |rung: &&Rung| sweep.rungs == Rungs::All || problem.is_default_rung(&device, rung);
        let rungs: Vec<&Rung> = algorithm.rungs().iter().filter(is_wanted).collect();
        if !bench.has_room(sweep, shape, problem.memory_bytes(&device, &rungs))? {
            continue;
        }
        let mut inputs = problem.inputs(&device)?;
        for rung in rungs {
            if !problem.is_worth_measuring(&device, rung) {
                bench.pass_over();
                continue;
            }
            if let Err(reason) = problem.check(&device, rung) {
                bench.leave_out(&reason);
                continue;
            }
            let point = Point::new(sweep, rung.name, problem.is_default_rung(&device, rung), shape, problem.bytes());
            bench.rung(point, &mut *inputs.prepare(rung)?)?;
        }
    }
    Ok(())
}
