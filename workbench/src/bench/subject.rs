//! The subjects that `host bench` measures, and the sizes at which it does.

use std::fmt;

use launch::Device;

use super::recording::MeasuredPoint;
use crate::algorithm::{Algorithm, Shape, Sizes, Unit};
use crate::catalogue::{self, ALGORITHMS};
use crate::documentation;

/// A subject of measurements.
#[derive(Clone, Copy)]
pub enum Subject {
    /// The device's own copy, and the copy kernel.
    Copy,
    /// An algorithm.
    Algorithm(&'static dyn Algorithm),
    /// The cost of a launch on the host.
    Launch,
    /// saxpy on data of the host.
    Stream,
    /// Copies of the host's data to the device.
    Upload,
    /// The time of a whole command.
    Start,
}

impl Subject {
    /// Returns all subjects, in the order in which they are measured.
    pub fn all() -> impl Iterator<Item = Self> {
        let algorithms = ALGORITHMS.iter().map(|&algorithm| Self::Algorithm(algorithm));
        std::iter::once(Self::Copy).chain(algorithms).chain([Self::Launch, Self::Stream, Self::Upload, Self::Start])
    }

    /// Returns the subject of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|subject| subject.name() == name)
    }

    /// Returns its name on the command line and in recordings.
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

    /// Returns what its sizes count.
    pub fn unit(self) -> Unit {
        match self {
            Self::Algorithm(algorithm) => algorithm.unit(),
            _ => Unit::Elements,
        }
    }

    /// Returns true if the rung of that name is a yardstick, and no step of a ladder.
    pub fn is_yardstick(self, rung: &str) -> bool {
        matches!(self, Self::Algorithm(algorithm) if algorithm.is_yardstick(rung))
    }

    /// Returns its description, in a line.
    pub fn summary(self) -> String {
        match self {
            Self::Copy => "The device's own copy, and the fastest setting of the copy kernel".to_owned(),
            Self::Algorithm(algorithm) => documentation::plain(catalogue::summary(algorithm.name())),
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

/// The extent of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Measure few sizes.
    pub quick: bool,
    /// Measure small sizes, in the simulator.
    pub simulated: bool,
}

impl Scope {
    /// Returns the extent of a run on `device`.
    pub fn on(device: &Device, quick: bool) -> Self {
        Self { quick, simulated: device.is_simulated() }
    }

    pub(super) fn shapes(self, sizes: Sizes, element_bytes: usize) -> Vec<Shape> {
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

    /// Matrices of odd sides, close to squares: about as many elements as powers of two. The largest is in every run on
    /// a GPU.
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

/// Returns what the size of a point counts.
pub fn unit(row: &MeasuredPoint) -> Unit {
    Subject::find(&row.algorithm).map_or(Unit::Elements, Subject::unit)
}
