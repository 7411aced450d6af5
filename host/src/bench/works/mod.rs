//! What is measured: each algorithm's rungs by type, variant and size, and what is no algorithm.

use std::fmt;

use ::launch::Device;
use cuda_std::Rung;
use gridstride::algorithm::{Aim, Algorithm, Options, ProblemOption, Shape, Sizes, Unit};
use gridstride::catalogue::{self, ALGORITHMS};
use gridstride::numbers::NumberType;

use super::record::Row;
use super::{Bench, Point};
use crate::list::text;
use crate::overhead;

pub mod copy;
mod engine;
mod launch;
mod start;
mod stream;
mod upload;

/// What can be measured.
#[derive(Clone, Copy)]
pub enum Subject {
    /// The device's own copy, and the copy kernel.
    Copy,
    /// An algorithm.
    Algorithm(&'static dyn Algorithm),
    /// What a launch costs the host.
    Launch,
    /// saxpy on data of the host.
    Stream,
    /// Data of the host on their way to the device.
    Upload,
    /// What a command takes from its start to its end.
    Start,
}

impl Subject {
    /// All of them, in the order in which they are measured.
    pub fn all() -> impl Iterator<Item = Self> {
        let algorithms = ALGORITHMS.iter().map(|&algorithm| Self::Algorithm(algorithm));
        std::iter::once(Self::Copy).chain(algorithms).chain([Self::Launch, Self::Stream, Self::Upload, Self::Start])
    }

    /// The one of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|subject| subject.name() == name)
    }

    /// Its name on the command line and in a row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Algorithm(algorithm) => algorithm.name(),
            Self::Launch => "launch",
            Self::Stream => "stream",
            Self::Upload => "upload",
            Self::Start => "start",
        }
    }

    /// What the sizes of its rows count.
    pub fn unit(self) -> Unit {
        match self {
            Self::Algorithm(algorithm) => algorithm.unit(),
            _ => Unit::Elements,
        }
    }

    /// Whether the rung of that name is no step of a ladder.
    pub fn is_yardstick(self, rung: &str) -> bool {
        matches!(self, Self::Algorithm(algorithm) if algorithm.is_yardstick(rung))
    }

    /// What it is, in a line.
    pub fn summary(self) -> String {
        match self {
            Self::Copy => "The device's own copy, and the fastest setting of the copy kernel".to_owned(),
            Self::Algorithm(algorithm) => text::plain(catalogue::summary(algorithm.name())),
            Self::Launch => "What a launch costs the host, and a call that allocates".to_owned(),
            Self::Stream => "saxpy on data of the host, copied both ways while it computes".to_owned(),
            Self::Upload => "How fast page-locked and pageable memory of the host comes to the device".to_owned(),
            Self::Start => "What commands on small data take, with the driver's cache off, cold and warm".to_owned(),
        }
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Subject {}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Few sizes.
    pub quick: bool,
    /// Small ones.
    pub simulated: bool,
}

impl Scope {
    /// On `device`.
    pub fn on(device: &Device, quick: bool) -> Self {
        Self { quick, simulated: device.is_simulated() }
    }

    fn shapes(self, sizes: Sizes, element_bytes: usize) -> Vec<Shape> {
        match sizes {
            Sizes::Lengths => self.lengths(element_bytes),
            Sizes::Squares => self.squares(),
            Sizes::Odd => vec![self.odd()],
            Sizes::Boards => self.boards(),
        }
    }

    /// The lengths of vectors of elements of so many bytes.
    fn lengths(self, element_bytes: usize) -> Vec<Shape> {
        let is_wide = element_bytes > 4;
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![10, 12],
            (true, false) => vec![10, 12, 14, 16],
            (false, true) => vec![16, 20, if is_wide { 27 } else { 28 }],
            (false, false) => (10..=if is_wide { 29 } else { 30 }).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::Vector(1 << exponent)).collect()
    }

    /// Square matrices.
    fn squares(self) -> Vec<Shape> {
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![5, 6],
            (true, false) => vec![5, 6, 7, 8],
            (false, true) => vec![8, 10, 14],
            (false, false) => (5..=15).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::plane(1 << exponent, 1 << exponent)).collect()
    }

    /// The largest square that every run has, and for no kernel its favourite.
    fn odd(self) -> Shape {
        if self.simulated { Shape::plane(63, 65) } else { Shape::plane(16383, 16385) }
    }

    /// Boards.
    fn boards(self) -> Vec<Shape> {
        let sides: &[usize] = match (self.simulated, self.quick) {
            (true, true) => &[64, 128],
            (true, false) => &[64, 128, 256],
            (false, true) => &[256, 8192, 65_536],
            (false, false) => &[256, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536],
        };
        sides.iter().map(|&side| Shape::plane(side, side)).collect()
    }
}

/// Which rungs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rungs {
    /// All of the ladder.
    All,
    /// The one that runs where none is named.
    Last,
}

/// One subject for one type and variant, over several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// What is measured.
    pub subject: Subject,
    /// The element type's name.
    pub number: &'static str,
    /// "inclusive" or "exclusive".
    pub variant: Option<&'static str>,
    /// What is asked for.
    pub options: Options,
    /// The rungs.
    pub rungs: Rungs,
    /// The sizes.
    pub shapes: Vec<Shape>,
    /// The sizes that the processor's own cores are measured at, where they have an engine.
    pub engine_shapes: Vec<Shape>,
    /// What its last rung is to reach.
    pub aims: &'static [Aim],
    /// Whether tables show its calls on small inputs as well.
    pub is_small: bool,
}

impl Work {
    fn new(subject: Subject, number: &'static str, rungs: Rungs, shapes: Vec<Shape>) -> Self {
        let options = Options::default();
        let engine_shapes = Vec::new();
        Self { subject, number, variant: None, options, rungs, shapes, engine_shapes, aims: &[], is_small: false }
    }

    /// A work of an algorithm.
    fn of(algorithm: &'static dyn Algorithm, work: gridstride::algorithm::Work, scope: Scope) -> Self {
        let gridstride::algorithm::Work { number, variant, options: asked, is_ladder, sizes, aims, is_small } = work;
        let mut options = Options::defaults(algorithm.options());
        if let Ok(number) = number.parse::<NumberType>() {
            options.set(ProblemOption::NUMBER.name, number.name());
        }
        asked.iter().for_each(|&(name, value)| options.set(name, value));
        let bytes = number.parse().map_or(1, NumberType::bytes);
        let rungs = if is_ladder { Rungs::All } else { Rungs::Last };
        let shapes = scope.shapes(sizes, bytes);
        // It is as fast whatever the device is; but what the simulator measures in a hurry takes seconds.
        let engine_scope = Scope { simulated: scope.simulated && scope.quick, ..scope };
        let engine_shapes = if algorithm.has_engine() { engine_scope.shapes(sizes, bytes) } else { Vec::new() };
        let subject = Subject::Algorithm(algorithm);
        Self { subject, number, variant, options, rungs, shapes, engine_shapes, aims, is_small }
    }

    /// Elements of its largest size.
    pub fn largest(&self) -> usize {
        self.shapes.iter().map(|shape| shape.elements()).max().unwrap_or(0)
    }

    /// Its points: sizes × rungs, and the engine's.
    pub fn points(&self) -> usize {
        self.points_per_shape() * self.shapes.len() + self.engine_shapes.len()
    }

    /// Points of a size on the device.
    pub fn points_per_shape(&self) -> usize {
        match (self.rungs, self.subject) {
            (Rungs::Last, _) => 1,
            (Rungs::All, Subject::Copy) => 2,
            (Rungs::All, Subject::Algorithm(algorithm)) => algorithm.rungs().len(),
            (Rungs::All, Subject::Launch) => launch::KINDS,
            (Rungs::All, Subject::Stream) => stream::CHUNKS.len(),
            (Rungs::All, Subject::Upload) => upload::WAYS.len(),
            (Rungs::All, Subject::Start) => start::POINTS,
        }
    }

    /// Measures it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn run(&self, bench: &mut Bench) -> anyhow::Result<()> {
        match self.subject {
            Subject::Copy => copy::run(bench, self),
            Subject::Algorithm(algorithm) => {
                run(bench, self, algorithm)?;
                engine::run(bench, self, algorithm)
            }
            Subject::Launch => launch::run(bench, self),
            Subject::Stream => stream::run(bench, self),
            Subject::Upload => upload::run(bench, self),
            Subject::Start => start::run(bench, self),
        }
    }
}

/// Measures the rungs of an algorithm at every size.
fn run(bench: &mut Bench, work: &Work, algorithm: &'static dyn Algorithm) -> anyhow::Result<()> {
    let device = bench.device();
    let options = work.options.clone().seeded(bench.seed());
    for &shape in &work.shapes {
        let problem = algorithm.problem(shape, &options)?;
        let is_asked = |rung: &&Rung| work.rungs == Rungs::All || problem.is_best(&device, rung);
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
            let point = Point::new(work, rung.name, problem.is_best(&device, rung), shape, problem.bytes());
            bench.rung(point, &mut *inputs.prepare(rung)?)?;
        }
    }
    Ok(())
}

/// What the size of a row counts.
pub fn unit(row: &Row) -> Unit {
    Subject::find(&row.algorithm).map_or(Unit::Elements, Subject::unit)
}

/// The works of a subject.
pub fn works(subject: Subject, scope: Scope) -> Vec<Work> {
    let one = |shape| vec![Work::new(subject, "f32", Rungs::All, vec![shape])];
    match subject {
        Subject::Copy => vec![Work { aims: copy::AIMS, ..Work::new(subject, "f32", Rungs::All, scope.lengths(4)) }],
        Subject::Algorithm(algorithm) => {
            algorithm.works().into_iter().map(|work| Work::of(algorithm, work, scope)).collect()
        }
        Subject::Launch => one(Shape::Vector(overhead::N)),
        Subject::Start => one(Shape::Vector(1)),
        Subject::Upload => one(Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
        Subject::Stream => one(Shape::Vector(if scope.simulated { 1 << 12 } else { 1 << 26 })),
    }
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
        }
    }

    #[test]
    fn shapes_are_written_as_they_are_typed() {
        assert_eq!(Shape::Vector(1024).to_string(), "1024");
        assert_eq!(Shape::plane(16383, 16385).to_string(), "16383x16385");
    }
}
