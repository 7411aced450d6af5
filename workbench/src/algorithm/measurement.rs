//! The measurements that a benchmark makes of an algorithm.

use std::fmt;

use super::Shape;

/// A measurement: one problem at several sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measurement {
    /// The element type's name.
    pub number: &'static str,
    /// A name such as "inclusive" that distinguishes it from others of its type.
    pub variant: Option<&'static str>,
    /// The options other than the type.
    pub options: &'static [(&'static str, &'static str)],
    /// True to measure all rungs of the ladder, false to measure only the default rung.
    pub is_ladder: bool,
    /// The sizes.
    pub sizes: Sizes,
    /// The targets of the default rung.
    pub aims: &'static [Aim],
    /// True if tables also show its calls on small inputs.
    pub is_small: bool,
}

/// The targets of a default rung, at a size that every run on a GPU includes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Aim {
    /// Its name in tables, such as "inclusive scan f32".
    pub what: &'static str,
    /// The size.
    pub shape: Shape,
    /// The index of the default rung. Life has one for a single generation per launch and one for several.
    pub nth: usize,
    /// The targets; all of them must be reached.
    pub targets: &'static [Target],
}

/// The target of a speed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    /// A multiple of the speed of a peer, and the peer's name.
    Peer(f64, &'static str),
    /// A percentage of the speed of the device's own copy.
    Copy(f64),
    /// A number of cell updates per second.
    CellUpdates(f64),
}

/// The unit of an algorithm's sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Elements; their bytes are read or written.
    Elements,
    /// Cells; they are updated.
    Cells,
}

/// The sizes of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// The lengths of vectors: powers of two.
    Lengths,
    /// The sides of square matrices: powers of two.
    Squares,
    /// Matrices with odd sides that are not square, which suit no kernel.
    Odd,
    /// The sides of square boards.
    Boards,
}

impl Measurement {
    /// Returns a measurement of the default rung on vectors of `number`.
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

    /// Measures all rungs.
    pub const fn ladder(self) -> Self {
        Self { is_ladder: true, ..self }
    }

    /// Sets the targets.
    pub const fn aims(self, aims: &'static [Aim]) -> Self {
        Self { aims, ..self }
    }

    /// Shows small inputs in tables.
    pub const fn small(self) -> Self {
        Self { is_small: true, ..self }
    }

    /// Sets the sizes.
    pub const fn sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Sets the name of the variant and its options.
    pub const fn variant(self, variant: &'static str, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { variant: Some(variant), options, ..self }
    }
}

impl Aim {
    /// Returns targets for a vector of 2^`exponent` elements.
    pub const fn vector(what: &'static str, exponent: u32, targets: &'static [Target]) -> Self {
        Self { what, shape: Shape::Vector(1 << exponent), nth: 0, targets }
    }

    /// Returns targets for a matrix or board.
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
