//! The subjects that `host bench` measures, and their sizes.

use std::fmt;

use launch::Device;

use super::recording::MeasuredPoint;
use crate::algorithm::{Algorithm, Shape, Sizes, Unit};
use crate::catalogue::{self, ALGORITHMS};
use crate::documentation;

/// A subject that `host bench` measures.
#[derive(Clone, Copy)]
pub enum Subject {
    /// The driver's copy within the device's memory, and the copy kernel of the probes.
    Copy,
    /// The rungs of an algorithm.
    Algorithm(&'static dyn Algorithm),
    /// The cost of a launch on the host.
    Launch,
    /// saxpy on data in host memory.
    Stream,
    /// Copies from host memory to the device.
    Upload,
    /// The times of whole commands, from start to end.
    Start,
}

impl Subject {
    /// Returns all subjects in the order of measurement.
    pub fn all() -> impl Iterator<Item = Self> {
        let algorithms = ALGORITHMS.iter().map(|&algorithm| Self::Algorithm(algorithm));
        std::iter::once(Self::Copy).chain(algorithms).chain([Self::Launch, Self::Stream, Self::Upload, Self::Start])
    }

    /// Returns the subject with the name `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|subject| subject.name() == name)
    }

    /// Returns the name of the subject on the command line and in recordings.
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

    /// Returns the unit of the subject's sizes.
    pub fn unit(self) -> Unit {
        match self {
            Self::Algorithm(algorithm) => algorithm.unit(),
            _ => Unit::Elements,
        }
    }

    /// Returns true if the rung `rung` of the subject is a baseline and not a step of the ladder.
    pub fn is_yardstick(self, rung: &str) -> bool {
        matches!(self, Self::Algorithm(algorithm) if algorithm.is_yardstick(rung))
    }

    /// Returns a description of the subject, in a line.
    pub fn summary(self) -> String {
        match self {
            Self::Copy => "The device's own copy, and the copy kernel at its fastest setting".to_owned(),
            Self::Algorithm(algorithm) => documentation::plain(catalogue::summary(algorithm.name())),
            Self::Launch => "The host's cost of a launch, and of a call that allocates".to_owned(),
            Self::Stream => "saxpy on host data, with copies in both directions while it computes".to_owned(),
            Self::Upload => "The speed of copies from page-locked and pageable host memory to the device".to_owned(),
            Self::Start => "The times of commands on small data, with the driver's cache off, cold and warm".to_owned(),
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

/// The extent of a run of `host bench`, which decides the measured sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// True to measure only a few sizes.
    pub quick: bool,
    /// True to measure the small sizes that suit the simulator.
    pub simulated: bool,
}

impl Scope {
    /// Returns the extent of a run on `device`, with only a few sizes if `quick` is true.
    pub fn on(device: &Device, quick: bool) -> Self {
        Self { quick, simulated: device.is_simulated() }
    }

    pub(super) fn shapes(self, sizes: Sizes, element_bytes: usize) -> Vec<Shape> {
        match sizes {
            Sizes::Lengths => self.lengths(element_bytes),
            Sizes::Few => self.few(element_bytes),
            Sizes::Squares => self.squares(),
            Sizes::Odd => self.odd(),
            Sizes::Products => self.products(),
            Sizes::Boards => self.boards(),
        }
    }

    /// Returns the measured lengths of vectors with elements of `element_bytes` bytes.
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

    /// Returns few measured lengths of vectors with elements of `element_bytes` bytes.
    fn few(self, element_bytes: usize) -> Vec<Shape> {
        match (self.simulated, self.quick) {
            (false, false) => {
                let largest = if element_bytes > 4 { 27 } else { 28 };
                [12, 16, 20, 24, largest].map(|exponent| Shape::Vector(1 << exponent)).to_vec()
            }
            _ => self.lengths(element_bytes),
        }
    }

    /// Returns the measured sizes of square matrices.
    fn squares(self) -> Vec<Shape> {
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![5, 6],
            (true, false) => vec![5, 6, 7, 8],
            (false, true) => vec![8, 10, 14],
            (false, false) => (5..=15).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::plane(1 << exponent, 1 << exponent)).collect()
    }

    /// Returns the measured sizes of nearly square matrices with odd sides. Their numbers of elements are close to
    /// powers of two. Every run on a GPU includes the largest size.
    fn odd(self) -> Vec<Shape> {
        let exponents = match (self.simulated, self.quick) {
            (true, _) => 12..=12,
            (false, true) => 28..=28,
            (false, false) => 10..=28,
        };
        let between = |exponent: u32| (1_usize << exponent).isqrt().next_multiple_of(2);
        exponents.map(between).map(|side| Shape::plane(side - 1, side + 1)).collect()
    }

    /// Returns the measured sizes of square products.
    fn products(self) -> Vec<Shape> {
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![5, 6],
            (true, false) => vec![5, 6, 7],
            (false, true) => vec![10, 12],
            (false, false) => (8..=13).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::plane(1 << exponent, 1 << exponent)).collect()
    }

    /// Returns the measured sizes of square boards.
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

/// Returns the number of operations of a measured product, whose variant ends with *k* if it is not the width.
pub fn operations(row: &MeasuredPoint) -> f64 {
    let last = row.variant.as_deref().and_then(|variant| variant.rsplit('-').next());
    let width = row.shape.as_deref().and_then(|shape| shape.split('x').next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    2.0 * row.size as f64 * f64::from(number(last).or_else(|| number(width)).unwrap_or(0))
}

/// Returns the 10¹² operations per second of a measured product.
pub fn teraflops(row: &MeasuredPoint) -> f64 {
    operations(row) / row.median_us * 1e-6
}

/// Returns the unit of a measured point's size.
pub fn unit(row: &MeasuredPoint) -> Unit {
    Subject::find(&row.algorithm).map_or(Unit::Elements, Subject::unit)
}
