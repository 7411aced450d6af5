//! The measurements that a benchmark makes of an algorithm, and their targets.

use std::fmt;

use super::Shape;

/// A measurement of one problem at several sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measurement {
    /// The name of the element type.
    pub number: &'static str,
    /// A name such as "inclusive" that distinguishes the measurement from others with the same element type.
    pub variant: Option<&'static str>,
    /// The names and values of the options other than the element type.
    pub options: &'static [(&'static str, &'static str)],
    /// True to measure all rungs of the ladder, false to measure only the default rung.
    pub is_ladder: bool,
    /// The sizes of the problem.
    pub sizes: Sizes,
    /// The targets that the default rung must reach.
    pub aims: &'static [Aim],
    /// True if tables also show calls on small inputs.
    pub is_small: bool,
}

/// The targets of a default rung, at a size that every run on a GPU includes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Aim {
    /// The name in tables, such as "inclusive scan f32".
    pub what: &'static str,
    /// The size at which the speed is compared with the targets.
    pub shape: Shape,
    /// The index of the rung among the default rungs of the algorithm. Life has two default rungs: one for a single
    /// generation per launch and one for several.
    pub nth: usize,
    /// The targets; all of them must be reached.
    pub targets: &'static [Target],
}

/// A speed that a default rung must reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    /// The speed of a peer, such as CUB, multiplied by a factor. The fields are the factor and the peer's name.
    Peer(f64, &'static str),
    /// A percentage of the speed of a copy within the device's memory by the driver.
    Copy(f64),
    /// A number of cell updates per second.
    CellUpdates(f64),
}

/// The unit of an algorithm's sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Elements that a kernel reads or writes. Tables show bytes per second.
    Elements,
    /// Cells that a kernel updates. Tables show cell updates per second.
    Cells,
    /// Elements of a product of matrices. Tables show operations per second: two for each multiplication.
    Operations,
}

/// The sizes of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// Vectors whose lengths are powers of two.
    Lengths,
    /// Vectors of few lengths, 16 times apart, for a measurement beside one at all lengths.
    Few,
    /// Square matrices whose sides are powers of two.
    Squares,
    /// Matrices with odd sides that are nearly square. No kernel has a fast path for such sizes.
    Odd,
    /// Square results of matrix products.
    Products,
    /// Square boards of Life.
    Boards,
}

impl Measurement {
    /// Returns a measurement of the default rung on vectors with elements of type `number`.
    pub const fn vectors(number: &'static str) -> Self {
        Self {
            number,
            variant: None,
            options: &[],
            is_ladder: false,
            sizes: Sizes::Lengths,
            aims: &[],
            is_small: false,
        }
    }

    /// Returns this measurement, changed to measure all rungs of the ladder.
    pub const fn ladder(self) -> Self {
        Self { is_ladder: true, ..self }
    }

    /// Returns this measurement with the targets `aims`.
    pub const fn aims(self, aims: &'static [Aim]) -> Self {
        Self { aims, ..self }
    }

    /// Returns this measurement, changed so that tables also show calls on small inputs.
    pub const fn small(self) -> Self {
        Self { is_small: true, ..self }
    }

    /// Returns this measurement with the sizes `sizes`.
    pub const fn sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Returns this measurement with the variant's name and options.
    pub const fn variant(self, variant: &'static str, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { variant: Some(variant), options, ..self }
    }
}

impl Aim {
    /// Returns the targets for vectors of 2^`exponent` elements.
    pub const fn vector(what: &'static str, exponent: u32, targets: &'static [Target]) -> Self {
        Self { what, shape: Shape::Vector(1 << exponent), nth: 0, targets }
    }

    /// Returns the targets for a matrix or board.
    pub const fn plane(what: &'static str, width: usize, height: usize, targets: &'static [Target]) -> Self {
        Self { what, shape: Shape::plane(width, height), nth: 0, targets }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(times, peer) => write!(f, "{times:.2} × {peer}"),
            Self::Copy(percent) => write!(f, "{percent:.0} % of copy"),
            Self::CellUpdates(rate) => write!(f, "{rate:e} cells/s"),
        }
    }
}
