//! What can be measured: subjects, and the works of which they consist.

use std::fmt;

use gridstride::numbers::NumberType;
use launch::Device;
use workbench::algorithm::{Aim, Algorithm, Options, ProblemOption, Shape, Sizes, Unit};
use workbench::catalogue::{self, ALGORITHMS};

use super::record::Row;
use crate::list::text;

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
            Sizes::Odd => self.odd(),
            Sizes::Boards => self.boards(),
        }
    }

    /// The lengths of vectors of elements of so many bytes.
    pub(super) fn lengths(self, element_bytes: usize) -> Vec<Shape> {
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

    /// Matrices of odd sides, close to squares: about as many elements as powers of two. The largest is in every run on a GPU.
    fn odd(self) -> Vec<Shape> {
        let exponents = match (self.simulated, self.quick) {
            (true, _) => 12..=12,
            (false, true) => 28..=28,
            (false, false) => 10..=28,
        };
        let between = |exponent: u32| (1_usize << exponent).isqrt().next_multiple_of(2);
        exponents.map(between).map(|side| Shape::plane(side - 1, side + 1)).collect()
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
    /// How many points each size has.
    pub each: usize,
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
    /// A work in `f32`, of `each` points at each of these sizes.
    pub(super) fn new(subject: Subject, rungs: Rungs, each: usize, shapes: Vec<Shape>) -> Self {
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

    /// A work of an algorithm.
    pub(super) fn of(algorithm: &'static dyn Algorithm, work: workbench::algorithm::Work, scope: Scope) -> Self {
        let workbench::algorithm::Work { number, variant, options: asked, is_ladder, sizes, aims, is_small } = work;
        let mut options = Options::defaults(algorithm.options());
        if let Ok(number) = number.parse::<NumberType>() {
            options.set(ProblemOption::NUMBER.name, number.name());
        }
        asked.iter().for_each(|&(name, value)| options.set(name, value));
        let bytes = number.parse().map_or(1, NumberType::bytes);
        let (rungs, each) = if is_ladder { (Rungs::All, algorithm.rungs().len()) } else { (Rungs::Last, 1) };
        let shapes = scope.shapes(sizes, bytes);
        // It is as fast whatever the device is; but what the simulator measures in a hurry takes seconds.
        let engine_scope = Scope { simulated: scope.simulated && scope.quick, ..scope };
        let engine_shapes = if algorithm.has_engine() { engine_scope.shapes(sizes, bytes) } else { Vec::new() };
        let subject = Subject::Algorithm(algorithm);
        Self { subject, number, variant, options, rungs, each, shapes, engine_shapes, aims, is_small }
    }

    /// Elements of its largest size.
    pub fn largest(&self) -> usize {
        self.shapes.iter().map(|shape| shape.elements()).max().unwrap_or(0)
    }

    /// Its points: those of each size, and the engine's.
    pub fn points(&self) -> usize {
        self.each * self.shapes.len() + self.engine_shapes.len()
    }
}

/// What the size of a row counts.
pub fn unit(row: &Row) -> Unit {
    Subject::find(&row.algorithm).map_or(Unit::Elements, Subject::unit)
}
