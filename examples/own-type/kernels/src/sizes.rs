//! Elements of 1 to 64 bytes, each with a commutative operator and one that is not: the tests' instances.

use cuda_std::{DeviceCopy, Pod, Zeroable};
use gpu::merge_sort::Compare;
use gpu::operator::{Operator, Sum};

pub type Bytes1 = [u8; 1];
pub type Bytes2 = [u8; 2];
pub type Bytes4 = [u16; 2];
pub type Bytes8 = [u32; 2];
pub type Bytes12 = [u32; 3];
pub type Bytes16 = [u32; 4];
pub type Bytes24 = [u64; 3];
pub type Bytes32 = [u64; 4];
pub type Bytes48 = [u64; 6];
pub type Bytes64 = [u32; 16];

/// Adds number by number, modulo a power of two.
#[derive(Clone, Copy)]
pub struct Total;

macro_rules! totals {
    ($($number:ident)*) => {$(
        impl<const N: usize> Operator<[$number; N]> for Total {
            const IDENTITY: [$number; N] = [0; N];
            const COMMUTATIVE: bool = true;

            fn combine(mut a: [$number; N], b: [$number; N]) -> [$number; N] {
                let mut i = 0;
                while i < N {
                    a[i] = a[i].wrapping_add(b[i]);
                    i += 1;
                }
                a
            }
        }
    )*};
}

totals! { u8 u16 u32 u64 }

/// First `a`, then `b`: an operation that is not commutative, another one for each size.
#[derive(Clone, Copy)]
pub struct Then;

/// Elements for the tests.
pub trait Sample: Copy {
    /// Returns an element that depends on `seed`. [`Then`] loses nothing of such elements, in any number.
    fn sample(seed: u32) -> Self;
}

/// Returns bits that depend on `seed` and `i`.
fn bits(seed: u32, i: u32) -> u32 {
    let mixed = (seed ^ i.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
    (mixed ^ mixed >> 15).wrapping_mul(0xc2b2_ae35) ^ mixed >> 13
}

/// The last number that is not zero.
impl Operator<Bytes1> for Then {
    const IDENTITY: Bytes1 = [0];
    const COMMUTATIVE: bool = false;

    fn combine(a: Bytes1, b: Bytes1) -> Bytes1 {
        if b[0] == 0 { a } else { b }
    }
}

impl Sample for Bytes1 {
    fn sample(seed: u32) -> Self {
        [bits(seed, 0) as u8]
    }
}

/// The composition of maps `x ↦ a[0]·x + a[1]`.
macro_rules! affine {
    ($($type:ident $number:ident)*) => {$(
        impl Operator<$type> for Then {
            const IDENTITY: $type = [1, 0];
            const COMMUTATIVE: bool = false;

            fn combine(a: $type, b: $type) -> $type {
                [b[0].wrapping_mul(a[0]), b[0].wrapping_mul(a[1]).wrapping_add(b[1])]
            }
        }

        impl Sample for $type {
            fn sample(seed: u32) -> Self {
                [bits(seed, 0) as $number | 1, bits(seed, 1) as $number]
            }
        }
    )*};
}

affine! { Bytes2 u8 Bytes4 u16 Bytes8 u32 }

/// The concatenation of texts, each as its hash, a power of the hash's base, and its length.
macro_rules! texts {
    ($($type:ident $number:ident)*) => {$(
        impl Operator<$type> for Then {
            const IDENTITY: $type = [0, 1, 0];
            const COMMUTATIVE: bool = false;

            fn combine(a: $type, b: $type) -> $type {
                [
                    a[0].wrapping_mul(b[1]).wrapping_add(b[0]),
                    a[1].wrapping_mul(b[1]),
                    a[2].wrapping_add(b[2]),
                ]
            }
        }

        impl Sample for $type {
            fn sample(seed: u32) -> Self {
                [bits(seed, 0) as $number, 0x9e37_79b1, 1]
            }
        }
    )*};
}

texts! { Bytes12 u32 Bytes24 u64 }

/// The product of matrices of two rows.
macro_rules! matrices {
    ($($type:ident $number:ident)*) => {$(
        impl Operator<$type> for Then {
            const IDENTITY: $type = [1, 0, 0, 1];
            const COMMUTATIVE: bool = false;

            fn combine([a, b, c, d]: $type, [e, f, g, h]: $type) -> $type {
                let dot = |x: [$number; 2], y: [$number; 2]| {
                    x[0].wrapping_mul(y[0]).wrapping_add(x[1].wrapping_mul(y[1]))
                };
                [dot([a, b], [e, g]), dot([a, b], [f, h]), dot([c, d], [e, g]), dot([c, d], [f, h])]
            }
        }

        impl Sample for $type {
            fn sample(seed: u32) -> Self {
                let [x, y] = [bits(seed, 0) as $number, bits(seed, 1) as $number];
                [1, x, y, x.wrapping_mul(y).wrapping_add(1)]
            }
        }
    )*};
}

matrices! { Bytes16 u32 Bytes32 u64 }

/// The product of upper triangular matrices of three rows.
impl Operator<Bytes48> for Then {
    const IDENTITY: Bytes48 = [1, 0, 0, 1, 0, 1];
    const COMMUTATIVE: bool = false;

    fn combine(a: Bytes48, b: Bytes48) -> Bytes48 {
        let sum = |terms: [(u64, u64); 3]| terms.iter().fold(0_u64, |sum, &(x, y)| sum.wrapping_add(x.wrapping_mul(y)));
        [
            a[0].wrapping_mul(b[0]),
            sum([(a[0], b[1]), (a[1], b[3]), (0, 0)]),
            sum([(a[0], b[2]), (a[1], b[4]), (a[2], b[5])]),
            a[3].wrapping_mul(b[3]),
            sum([(a[3], b[4]), (a[4], b[5]), (0, 0)]),
            a[5].wrapping_mul(b[5]),
        ]
    }
}

impl Sample for Bytes48 {
    fn sample(seed: u32) -> Self {
        let x = |i| u64::from(bits(seed, i)) << 32 | u64::from(bits(seed, i + 9));
        [x(0) | 1, x(1), x(2), x(3) | 1, x(4), x(5) | 1]
    }
}

/// The product of matrices of four rows.
impl Operator<Bytes64> for Then {
    const IDENTITY: Bytes64 = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const COMMUTATIVE: bool = false;

    fn combine(a: Bytes64, b: Bytes64) -> Bytes64 {
        let mut product = [0_u32; 16];
        let mut i = 0;
        while i < 16 {
            let mut k = 0;
            while k < 4 {
                product[i] = product[i].wrapping_add(a[i / 4 * 4 + k].wrapping_mul(b[4 * k + i % 4]));
                k += 1;
            }
            i += 1;
        }
        product
    }
}

impl Sample for Bytes64 {
    fn sample(seed: u32) -> Self {
        let mut matrix: Bytes64 = Then::IDENTITY;
        for i in [1, 2, 3, 6, 7, 11] {
            matrix[i] = bits(seed, i as u32);
        }
        matrix
    }
}

/// The order of the first numbers without their last two bits: many elements are equal.
#[derive(Clone, Copy, DeviceCopy)]
pub struct Rough;

macro_rules! rough {
    ($($number:ident)*) => {$(
        impl<const N: usize> Compare<[$number; N]> for Rough {
            fn is_less(self, a: [$number; N], b: [$number; N]) -> bool {
                a[0] >> 2 < b[0] >> 2
            }
        }
    )*};
}

rough! { u8 u16 u32 u64 }

gpu::instances!(Bytes1 by Rough: merge_sort);
gpu::instances!(Bytes4 by Rough: merge_sort);
gpu::instances!(Bytes12 by Rough: merge_sort);
gpu::instances!(Bytes16 by Rough: merge_sort);
gpu::instances!(Bytes24 by Rough: merge_sort);
gpu::instances!(Bytes64 by Rough: merge_sort);

gpu::instances!(Bytes1 by Total: reduce, scan);
gpu::instances!(Bytes1 by Then: reduce, scan);
gpu::instances!(Bytes2 by Total: reduce);
gpu::instances!(Bytes2 by Then: reduce, scan);
gpu::instances!(Bytes4 by Total: reduce);
gpu::instances!(Bytes4 by Then: reduce, scan);
gpu::instances!(Bytes8 by Total: reduce);
gpu::instances!(Bytes8 by Then: reduce, scan);
gpu::instances!(Bytes12 by Total: reduce, scan);
gpu::instances!(Bytes12 by Then: reduce, scan);
gpu::instances!(Bytes16 by Total: reduce);
gpu::instances!(Bytes16 by Then: reduce, scan);
gpu::instances!(Bytes24 by Total: reduce);
gpu::instances!(Bytes24 by Then: reduce, scan);
gpu::instances!(Bytes32 by Total: reduce);
gpu::instances!(Bytes32 by Then: reduce, scan);
gpu::instances!(Bytes48 by Total: reduce);
gpu::instances!(Bytes48 by Then: reduce, scan);
gpu::instances!(Bytes64 by Total: reduce);
gpu::instances!(Bytes64 by Then: reduce, scan);

/// A number that is added as the library adds `f32`: for the comparison of speeds.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(transparent)]
pub struct Single(pub f32);

/// A number that is added as the library adds `f64`.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(transparent)]
pub struct Double(pub f64);

/// The map `x ↦ factor·x + offset`, as the library's `Affine`.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Line {
    pub factor: u32,
    pub offset: u32,
}

// SAFETY: the fields are numbers, and all-zero bits are numbers.
unsafe impl Zeroable for Line {}
// SAFETY: the fields are two `u32` without padding, and any bits are a valid `u32`.
unsafe impl Pod for Line {}

impl Operator<Line> for Then {
    const IDENTITY: Line = Line { factor: 1, offset: 0 };
    const COMMUTATIVE: bool = false;

    fn combine(a: Line, b: Line) -> Line {
        let offset = b.factor.wrapping_mul(a.offset).wrapping_add(b.offset);
        Line { factor: b.factor.wrapping_mul(a.factor), offset }
    }
}

macro_rules! numbers {
    ($($type:ident)*) => {$(
        // SAFETY: the field is a number, and all-zero bits are a number.
        unsafe impl Zeroable for $type {}
        // SAFETY: the only field is a number without padding, and any bits are a number.
        unsafe impl Pod for $type {}

        impl Operator<$type> for Sum {
            const IDENTITY: $type = $type(0.0);
            const COMMUTATIVE: bool = true;

            fn combine(a: $type, b: $type) -> $type {
                $type(a.0 + b.0)
            }
        }
    )*};
}

numbers! { Single Double }

gpu::instances!(Single by Sum: reduce, scan);
gpu::instances!(Double by Sum: reduce, scan);
gpu::instances!(Line by Then: reduce, scan);
