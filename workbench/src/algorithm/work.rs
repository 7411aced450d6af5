//! The measurements that a benchmark makes of an algorithm.

use std::fmt;

use super::Shape;

/// One problem over several sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work {
    /// The element type's name.
    pub number: &'static str,
    /// The name that distinguishes it from others of its type, such as "inclusive".
    pub variant: Option<&'static str>,
    /// The options beside the type.
    pub options: &'static [(&'static str, &'static str)],
    /// True if all rungs of the ladder are measured, and not the default rung alone.
    pub is_ladder: bool,
    /// The sizes.
    pub sizes: Sizes,
    /// The targets of the default rung.
    pub aims: &'static [Aim],
    /// True if tables show its calls on small inputs as well.
    pub is_small: bool,
}

/// The target of a rung at a size that every run on a GPU includes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Aim {
    /// Its name in tables: "inclusive scan f32".
    pub what: &'static str,
    /// The size.
    pub shape: Shape,
    /// The index of the default rung: Life has one for a generation per launch, and one for several.
    pub nth: usize,
    /// All that it is to reach.
    pub targets: &'static [Target],
}

/// A speed to reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    /// A multiple of the speed of a peer, and the peer's name.
    Peer(f64, &'static str),
    /// A share of the speed of the device's own copy, in hundredths.
    Copy(f64),
    /// A number of cell updates per second.
    CellUpdates(f64),
}

/// The unit in which the sizes of an algorithm's inputs are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Elements, whose bytes are read or written.
    Elements,
    /// Cells, which are updated.
    Cells,
}

/// The sizes of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// The lengths of vectors: powers of two.
    Lengths,
    /// The sides of square matrices: powers of two.
    Squares,
    /// Matrices that are neither square nor of even sides: no kernel's favourites.
    Odd,
    /// The sides of square boards.
    Boards,
}

impl Work {
    /// The last rung on vectors of a type.
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

    /// All rungs.
    pub const fn ladder(self) -> Self {
        Self { is_ladder: true, ..self }
    }

    /// With something to reach.
    pub const fn aims(self, aims: &'static [Aim]) -> Self {
        Self { aims, ..self }
    }

    /// With small inputs in the tables.
    pub const fn small(self) -> Self {
        Self { is_small: true, ..self }
    }

    /// On other sizes.
    pub const fn sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// A variant, and how it is asked for.
    pub const fn variant(self, variant: &'static str, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { variant: Some(variant), options, ..self }
    }
}

impl Aim {
    /// On a vector of 2 to the power of `exponent` elements.
    pub const fn vector(what: &'static str, exponent: u32, targets: &'static [Target]) -> Self {
        Self { what, shape: Shape::Vector(1 << exponent), nth: 0, targets }
    }

    /// On a matrix or board.
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
