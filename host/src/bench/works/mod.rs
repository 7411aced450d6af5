//! What is measured of each subject, and how: of an algorithm its rungs by type, variant and size.

use cuda_std::Rung;
use workbench::algorithm::{Algorithm, Shape};

use super::points::{Bench, Point};
use super::work::{Rungs, Scope, Subject, Work};
use crate::overhead;

pub mod copy;
mod engine;
mod launch;
mod start;
mod stream;
mod upload;

/// The works of a subject.
pub fn works(subject: Subject, scope: Scope) -> Vec<Work> {
    let one = |each, shape| vec![Work::new(subject, Rungs::All, each, vec![shape])];
    match subject {
        Subject::Copy => vec![Work { aims: copy::AIMS, ..Work::new(subject, Rungs::All, 2, scope.lengths(4)) }],
        Subject::Algorithm(algorithm) => {
            algorithm.works().into_iter().map(|work| Work::of(algorithm, work, scope)).collect()
        }
        Subject::Launch => one(launch::KINDS, Shape::Vector(overhead::N)),
        Subject::Start => one(start::POINTS, Shape::Vector(1)),
        Subject::Upload => one(upload::WAYS.len(), Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
        Subject::Stream => one(stream::CHUNKS.len(), Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
    }
}

/// Measures a work.
///
/// # Errors
/// When the device fails.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    match work.subject {
        Subject::Copy => copy::run(bench, work),
        Subject::Algorithm(algorithm) => {
            rungs(bench, work, algorithm)?;
            engine::run(bench, work, algorithm)
        }
        Subject::Launch => launch::run(bench, work),
        Subject::Stream => stream::run(bench, work),
        Subject::Upload => upload::run(bench, work),
        Subject::Start => start::run(bench, work),
    }
}

/// Measures the rungs of an algorithm at every size.
fn rungs(bench: &mut Bench, work: &Work, algorithm: &'static dyn Algorithm) -> anyhow::Result<()> {
    let device = bench.device();
    let options = work.options.clone().seeded(bench.seed());
    for &shape in &work.shapes {
        let problem = algorithm.problem(shape, &options)?;
        let is_asked = |rung: &&Rung| work.rungs == Rungs::All || problem.is_default_rung(&device, rung);
        let rungs: Vec<&Rung> = algorithm.rungs().iter().filter(is_asked).collect();
        if !bench.has_room(work, shape, problem.memory_bytes(&device, &rungs))? {
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
            let point = Point::new(work, rung.name, problem.is_default_rung(&device, rung), shape, problem.bytes());
            bench.rung(point, &mut *inputs.prepare(rung)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_small_in_the_simulator_and_few_in_a_hurry() {
        // The others have one size.
        let one_size = |subject: &&Subject| {
            matches!(subject, Subject::Launch | Subject::Stream | Subject::Upload | Subject::Start)
        };
        for subject in Subject::all().filter(|subject| !one_size(&subject)) {
            for (quick, simulated) in [(true, true), (false, true), (true, false), (false, false)] {
                let all = works(subject, Scope { quick, simulated });
                let most = all.iter().flat_map(|work| &work.shapes).map(|shape| shape.elements()).max().unwrap();
                let least = if simulated { 1 << 12 } else { 1 << 28 };
                assert!(most >= least && (!simulated || most <= 1 << 16), "{subject:?}: {most}");
                let points: usize = all.iter().map(Work::points).sum();
                assert!(points <= if quick { 36 } else { 400 }, "{subject:?}: {points}");
            }
        }
    }

    /// The sizes that the last rungs are compared with their peers at are in every run on a GPU.
    #[test]
    fn every_run_has_the_sizes_that_are_compared() {
        for quick in [true, false] {
            let scope = Scope { quick, simulated: false };
            let has = |name, number: &str, elements: usize| {
                works(Subject::find(name).unwrap(), scope)
                    .iter()
                    .any(|work| work.number == number && work.shapes.iter().any(|shape| shape.elements() == elements))
            };
            for name in ["saxpy", "reduce", "scan", "copy"] {
                for exponent in [16, 20, 28] {
                    assert!(has(name, "f32", 1 << exponent), "{name} {exponent}");
                }
            }
            assert!(has("scan", "f64", 1 << 27) && has("life", "bit", 1 << 32));
            for number in ["f32", "f64", "u8", "u16"] {
                assert!(has("transpose", number, 1 << 28), "{number}");
            }
            assert!(has("transpose", "f32", 16383 * 16385));
            assert_eq!(has("transpose", "f64", 1447 * 1449), !quick);
        }
    }

    #[test]
    fn shapes_are_written_as_they_are_typed() {
        assert_eq!(Shape::Vector(1024).to_string(), "1024");
        assert_eq!(Shape::plane(16383, 16385).to_string(), "16383x16385");
    }
}
