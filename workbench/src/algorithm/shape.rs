//! The size of a problem: the length of a vector, or the width and height of a matrix or board.

use std::fmt;

pub use gridstride::size::{Size, SizeTextError};

/// The size of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A vector with this number of elements.
    Vector(usize),
    /// A matrix or board of this width and height.
    Plane(Size),
}

impl Shape {
    /// Returns the shape of a matrix or board of the given width and height.
    pub const fn plane(width: usize, height: usize) -> Self {
        Self::Plane(Size { width, height })
    }

    /// Returns the number of elements of the vector or matrix, or of cells of the board.
    pub fn elements(self) -> usize {
        match self {
            Self::Vector(len) => len,
            Self::Plane(Size { width, height }) => width.saturating_mul(height),
        }
    }

    /// Returns the width and height of a matrix or board. A vector counts as one row.
    pub fn size(self) -> Size {
        match self {
            Self::Vector(len) => Size { width: len, height: 1 },
            Self::Plane(size) => size,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector(len) => write!(f, "{len}"),
            Self::Plane(size) => write!(f, "{size}"),
        }
    }
}
