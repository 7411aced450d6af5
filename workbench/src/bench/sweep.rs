//! Sweeps: measurements of a subject's rungs for one element type and variant, at several sizes.

use explain::Times;
use gridstride::numbers::NumberType;

use super::recording::MeasuredPoint;
use super::subject::{Scope, Subject};
use crate::algorithm::{Aim, Algorithm, Measurement, Options, ProblemOption, Shape, Target};

/// The name that tables and recordings show for the driver's copy within the device, in place of a rung's name.
pub const DEVICE_COPY: &str = "device_copy";

/// The target that the copy kernel must reach.
const COPY_AIMS: &[Aim] = &[Aim::vector("copy kernel f32", 28, &[Target::Peer(1.0, "cudaMemcpy")])];

/// The number of measured ways to launch a kernel.
pub const LAUNCH_KINDS: usize = 5;

/// The number of elements for which the measured kernel is launched. This is also the number of threads per block.
pub const LAUNCH_ELEMENTS: usize = 32;

/// The commands that are timed from start to end, each with its arguments.
pub const START_COMMANDS: [(&str, &str); 8] = [
    ("devices", ""),
    ("scan", "--n 1000 --kernel look_back"),
    ("scan", "--n 1000"),
    ("reduce", "--n 1000"),
    ("saxpy", "--n 1000"),
    ("histogram", "--n 1000"),
    ("transpose", "--size 100x100"),
    ("life", "--size 256x256 --seed 1 --generations 10 --no-animation"),
];

/// The states of the driver's cache of compiled kernels when a command starts. The run with a cold cache fills the
/// cache for the run with a warm cache.
pub const START_CACHES: [&str; 3] = ["cache_off", "cache_cold", "cache_warm"];

/// The number of points in a measurement of commands: one per command and state of the cache.
pub const START_POINTS: usize = START_COMMANDS.len() * START_CACHES.len();

/// The numbers of chunks into which saxpy on host data divides its vectors.
pub const STREAM_CHUNKS: [usize; 3] = [32, 64, 128];

/// The measured ways of copying host data to the device. The GPU copies page-locked memory at the link's speed. The
/// driver first copies pageable memory to page-locked memory. `reduce` calls `device.reduce(&slice)` on pageable
/// memory.
pub const UPLOAD_PATHS: [&str; 3] = ["page_locked", "pageable", "reduce"];

/// The rungs that a sweep measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rungs {
    /// All rungs of the ladder.
    All,
    /// Only the rung that runs by default.
    Last,
}

/// The measurements of a subject for one element type and variant, at several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The subject that the sweep measures.
    pub subject: Subject,
    /// The name of the element type.
    pub number: &'static str,
    /// The variant of the problem, such as "inclusive".
    pub variant: Option<&'static str>,
    /// The values of the algorithm's options.
    pub options: Options,
    /// The rungs that the sweep measures.
    pub rungs: Rungs,
    /// The number of points per size.
    pub each: usize,
    /// The sizes at which rungs are measured.
    pub shapes: Vec<Shape>,
    /// The sizes at which the CPU engine is measured, if the algorithm has one.
    pub engine_shapes: Vec<Shape>,
    /// The targets that the default rung must reach.
    pub aims: &'static [Aim],
    /// True if tables also show calls on small inputs.
    pub is_small: bool,
}

impl Sweep {
    /// Returns a sweep in `f32` that measures `each` points at every size in `shapes`.
    pub fn new(subject: Subject, rungs: Rungs, each: usize, shapes: Vec<Shape>) -> Self {
        Self {
            subject,
            number: "f32",
            variant: None,
            options: Options::default(),
            rungs,
            each,
            shapes,
            engine_shapes: Vec::new(),
            aims: &[],
            is_small: false,
        }
    }

    /// Returns the sweep for the measurement `work` of an algorithm.
    pub fn of(algorithm: &'static dyn Algorithm, work: Measurement, scope: Scope) -> Self {
        let Measurement { number, variant, options: asked, is_ladder, sizes, aims, is_small } = work;
        let mut options = Options::defaults(algorithm.options());
        if let Ok(number) = number.parse::<NumberType>() {
            options.set(ProblemOption::NUMBER.name, number.name());
        }
        asked.iter().for_each(|&(name, value)| options.set(name, value));
        let bytes = number.parse().map_or(1, NumberType::bytes);
        let (rungs, each) = if is_ladder { (Rungs::All, algorithm.rungs().len()) } else { (Rungs::Last, 1) };
        let shapes = scope.shapes(sizes, bytes);
        // The device does not affect the engine's speed. The engine's sizes are small only in a quick run in the
        // simulator, which should take seconds.
        let engine_scope = Scope { simulated: scope.simulated && scope.quick, ..scope };
        let engine_shapes = if algorithm.has_engine() { engine_scope.shapes(sizes, bytes) } else { Vec::new() };
        let subject = Subject::Algorithm(algorithm);
        Self { subject, number, variant, options, rungs, each, shapes, engine_shapes, aims, is_small }
    }

    /// Returns the number of elements of the sweep's largest size.
    pub fn largest(&self) -> usize {
        self.shapes.iter().map(|shape| shape.elements()).max().unwrap_or(0)
    }

    /// Returns the number of the sweep's points, including the points of the engine.
    pub fn points(&self) -> usize {
        self.each * self.shapes.len() + self.engine_shapes.len()
    }
}

impl MeasuredPoint {
    /// Returns a row of `sweep` with `times` divided by `steps`, the number of steps per run. The row has no byte
    /// count.
    pub fn timed(times: &Times, sweep: &Sweep, rung: &str, steps: u64) -> Self {
        let [median_us, low_us, high_us] =
            [times.median, times.low, times.high].map(|seconds| 1e6 * seconds / steps as f64);
        Self {
            algorithm: sweep.subject.name().to_owned(),
            rung: Some(rung.to_owned()),
            number: sweep.number.to_owned(),
            variant: sweep.variant.map(str::to_owned),
            size: sweep.largest() as u64,
            runs: times.runs,
            median_us,
            low_us,
            high_us,
            ..Self::default()
        }
    }
}

/// Returns the sweeps that measure a subject.
pub fn sweeps(subject: Subject, scope: Scope) -> Vec<Sweep> {
    let one = |each, shape| vec![Sweep::new(subject, Rungs::All, each, vec![shape])];
    match subject {
        Subject::Copy => vec![Sweep { aims: COPY_AIMS, ..Sweep::new(subject, Rungs::All, 2, scope.lengths(4)) }],
        Subject::Algorithm(algorithm) => {
            algorithm.measurements().into_iter().map(|work| Sweep::of(algorithm, work, scope)).collect()
        }
        Subject::Launch => one(LAUNCH_KINDS, Shape::Vector(LAUNCH_ELEMENTS)),
        Subject::Start => one(START_POINTS, Shape::Vector(1)),
        Subject::Upload => one(UPLOAD_PATHS.len(), Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
        Subject::Stream => one(STREAM_CHUNKS.len(), Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Unit;

    #[test]
    fn sizes_are_small_in_the_simulator_and_few_in_a_hurry() {
        // The other subjects have one size.
        let one_size = |subject: &&Subject| {
            matches!(subject, Subject::Launch | Subject::Stream | Subject::Upload | Subject::Start)
        };
        for subject in Subject::all().filter(|subject| !one_size(&subject)) {
            for (quick, simulated) in [(true, true), (false, true), (true, false), (false, false)] {
                let all = sweeps(subject, Scope { quick, simulated });
                let max = all.iter().flat_map(|sweep| &sweep.shapes).map(|shape| shape.elements()).max().unwrap();
                let least = match (simulated, subject.unit()) {
                    (true, _) => 1 << 12,
                    (false, Unit::Operations) => 1 << 24,
                    (false, _) => 1 << 28,
                };
                assert!(max >= least && (!simulated || max <= 1 << 16), "{subject:?}: {max}");
                let points: usize = all.iter().map(Sweep::points).sum();
                assert!(points <= if quick { 36 } else { 400 }, "{subject:?}: {points}");
            }
        }
    }

    /// Checks that every run on a GPU includes the sizes at which the default rungs are compared with their peers.
    #[test]
    fn every_run_has_the_sizes_that_are_compared() {
        for quick in [true, false] {
            let scope = Scope { quick, simulated: false };
            let has = |name, number: &str, elements: usize| {
                sweeps(Subject::find(name).unwrap(), scope).iter().any(|sweep| {
                    sweep.number == number && sweep.shapes.iter().any(|shape| shape.elements() == elements)
                })
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
