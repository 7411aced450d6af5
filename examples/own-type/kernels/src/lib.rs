//! The types and operators of the program, and the lines that make the library's kernels for them.
#![no_std] // A GPU has only `core`.

use cuda_std::{DeviceCopy, GpuFloat, Pod, Zeroable, bf16};
use gpu::histogram::ToKey;
use gpu::matmul::Epilogue;
use gpu::merge_sort::Compare;
use gpu::operator::{Operator, Product};
use gpu::select::Predicate;

pub mod select;
#[cfg(feature = "sizes")]
pub mod sizes;

/// A point in space: 12 bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Point {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

// SAFETY: three `f32`, and all-zero bits are an `f32`.
unsafe impl Zeroable for Point {}
// SAFETY: three `f32` without padding, and any bits are an `f32`.
unsafe impl Pod for Point {}

impl Point {
    /// Returns the square of the distance from the origin, and the coordinates, which decide between points of one
    /// distance.
    fn rank(self) -> (f32, f32, f32, f32) {
        (self.x * self.x + self.y * self.y + self.z * self.z, self.x, self.y, self.z)
    }
}

/// The point that is farther from the origin.
#[derive(Clone, Copy)]
pub struct Farthest;

impl Operator<Point> for Farthest {
    /// The origin, which is farther than no point.
    const IDENTITY: Point = Point { x: 0.0, y: 0.0, z: 0.0 };
    const COMMUTATIVE: bool = true;

    fn combine(a: Point, b: Point) -> Point {
        if b.rank() > a.rank() { b } else { a }
    }
}

gpu::instances!(Point by Farthest: reduce, scan);

/// Selects the points near the origin.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct IsNear {
    /// The square of the largest distance.
    pub square: f32,
}

impl Predicate<Point> for IsNear {
    fn selects(self, point: Point) -> bool {
        point.rank().0 <= self.square
    }
}

gpu::instances!(Point by IsNear: select);

/// The order of points by their distance from a point.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
pub struct NearestTo(pub Point);

impl Compare<Point> for NearestTo {
    fn is_less(self, a: Point, b: Point) -> bool {
        let square = |point: Point| {
            let [x, y, z] = [point.x - self.0.x, point.y - self.0.y, point.z - self.0.z];
            x * x + y * y + z * z
        };
        square(a) < square(b)
    }
}

gpu::instances!(Point by NearestTo: merge_sort);

/// A matrix of two rows: 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Matrix(pub [[u32; 2]; 2]);

// SAFETY: four `u32`, and all-zero bits are a `u32`.
unsafe impl Zeroable for Matrix {}
// SAFETY: four `u32` without padding, and any bits are a `u32`.
unsafe impl Pod for Matrix {}

/// The product of matrices modulo 2³². It is not commutative: `a` is the left factor.
impl Operator<Matrix> for Product {
    const IDENTITY: Matrix = Matrix([[1, 0], [0, 1]]);
    const COMMUTATIVE: bool = false;

    fn combine(Matrix(a): Matrix, Matrix(b): Matrix) -> Matrix {
        let entry = |row: [u32; 2], column: usize| {
            row[0].wrapping_mul(b[0][column]).wrapping_add(row[1].wrapping_mul(b[1][column]))
        };
        Matrix(a.map(|row| [entry(row, 0), entry(row, 1)]))
    }
}

gpu::instances!(Matrix by Product: reduce, scan);
gpu::instances!(Matrix by Product: by_key);
gpu::instances!(Matrix by Product: segments);

/// A pixel of a picture, as red, green, blue and opacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(transparent)]
pub struct Pixel(pub [u8; 4]);

// SAFETY: four `u8`, and zero is a `u8`.
unsafe impl Zeroable for Pixel {}
// SAFETY: four `u8` without padding, and any bits are a `u8`.
unsafe impl Pod for Pixel {}

/// A histogram of pixels counts their brightness, from 0 to 255.
impl ToKey for Pixel {
    fn to_key(self) -> u32 {
        let [red, green, blue, _] = self.0.map(u32::from);
        (54 * red + 183 * green + 19 * blue) / 256
    }
}

gpu::instances!(Pixel: histogram);

/// The activation x / (1 + e^(−βx)) of the sums.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
pub struct Swish {
    /// The factor β.
    pub beta: f32,
}

impl Epilogue<f32, bf16> for Swish {
    fn finish(self, sum: f32, _at: [usize; 2], _previous: impl Fn() -> bf16, _bias: impl Fn() -> bf16) -> bf16 {
        bf16::from_f32(sum / (1.0 + GpuFloat::exp(-self.beta * sum)))
    }
}

gpu::instances!(bf16 to bf16 by Swish: matmul);
