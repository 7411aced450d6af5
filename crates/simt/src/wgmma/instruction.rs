//! The types and shape of an instruction, its elements in registers, and what it computes.

use std::fmt;

use crate::tensor::Format;
use crate::tensor::arithmetic::{Product, Sum, Unit, multiply_add_i32};

/// The number of rows of the sums that a warp has.
pub(super) const ROWS: usize = 16;
/// The number of lanes of a warp.
const LANES: usize = 32;

/// The type of the elements of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Floats.
    Float(Format),
    /// `i8`.
    I8,
    /// `u8`.
    U8,
}

/// The type of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// `f32`, of which a register has one.
    F32,
    /// `f16`, of which a register has two.
    F16,
    /// `i32`, of which a register has one. Sums wrap around.
    I32,
}

/// An instruction `wgmma.mma_async`, without the places of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The number of columns of B and of the sums, a multiple of 8.
    pub n: usize,
    /// The type of the elements of A.
    pub a: Elements,
    /// The type of the elements of B.
    pub b: Elements,
    /// The type of the sums.
    pub sums: Sums,
}

impl Elements {
    /// Returns the size of an element in bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::Float(format) => format.bits() as usize / 8,
            Self::I8 | Self::U8 => 1,
        }
    }

    /// Returns the number of elements of a row of A, which has 32 bytes.
    const fn k(self) -> usize {
        32 / self.size()
    }

    /// Returns the bits of the `f32` or `i32` with the value of the element with these bits.
    fn widen(self, bits: u32) -> u32 {
        match self {
            Self::Float(format) => format.decode(bits).to_bits(),
            Self::I8 => i32::from(bits as i8).cast_unsigned(),
            Self::U8 => bits & 0xFF,
        }
    }

    /// Calls `see` with each element in `bytes` and its position.
    pub(super) fn each(self, bytes: &[u8], mut see: impl FnMut(usize, u32)) {
        for (i, element) in bytes.chunks_exact(self.size()).enumerate() {
            let mut word = [0; 4];
            word[..element.len()].copy_from_slice(element);
            see(i, self.widen(u32::from_le_bytes(word)));
        }
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float(Format::F16) => "f16",
            Self::Float(Format::Bf16) => "bf16",
            Self::Float(Format::Tf32) => "tf32",
            Self::Float(Format::E4m3) => "e4m3",
            Self::Float(Format::E5m2) => "e5m2",
            Self::I8 => "s8",
            Self::U8 => "u8",
        })
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, a, b, sums } = self;
        let sums = match sums {
            Sums::F32 => "f32",
            Sums::F16 => "f16",
            Sums::I32 => "s32",
        };
        write!(f, "wgmma.mma_async.sync.aligned.m64n{n}k{}.{sums}.{a}.{b}", self.k())
    }
}

/// Returns row and column of sum `i` of `lane`, within the rows of its warp.
fn place_of_sum(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2)
}

impl Instruction {
    /// Returns the number of elements of a row of A.
    pub(super) const fn k(&self) -> usize {
        self.a.k()
    }

    /// Returns the number of sums in a register.
    const fn sums_per_register(&self) -> usize {
        if matches!(self.sums, Sums::F16) { 2 } else { 1 }
    }

    /// Writes the sums in the registers of `lane` to the rows of its warp.
    pub(super) fn write_sums(&self, rows: &mut [u32], lane: usize, registers: &[u32]) {
        let per_register = self.sums_per_register();
        for (i, &register) in registers.iter().enumerate() {
            for half in 0..per_register {
                let (row, column) = place_of_sum(lane, i * per_register + half);
                let bits = register >> (16 * half);
                rows[row * self.n + column] =
                    if per_register == 2 { Elements::Float(Format::F16).widen(bits & 0xFFFF) } else { bits };
            }
        }
    }

    /// Reads the sums of `lane` from the rows of its warp to its registers.
    pub(super) fn read_sums(&self, rows: &[u32], lane: usize, registers: &mut [u32]) {
        let per_register = self.sums_per_register();
        for (i, register) in registers.iter_mut().enumerate() {
            let sum = |half| {
                let (row, column) = place_of_sum(lane, i * per_register + half);
                rows[row * self.n + column]
            };
            *register = if per_register == 2 {
                let [low, high] = [0, 1].map(|half| Format::encode_f16(f32::from_bits(sum(half))));
                low | high << 16
            } else {
                sum(0)
            };
        }
    }

    /// Returns a warp's rows of A, whose elements are in the registers of its lanes.
    pub(super) fn rows_of_registers(&self, lanes: &[[u32; 4]]) -> Vec<u32> {
        let (k, per_register) = (self.k(), 4 / self.a.size());
        let mut rows = vec![0; ROWS * k];
        for (lane, registers) in lanes.iter().enumerate().take(LANES) {
            for (i, register) in registers.iter().enumerate() {
                let start = (lane / 4 + i % 2 * 8) * k + i / 2 * (k / 2) + lane % 4 * per_register;
                self.a.each(&register.to_le_bytes(), |element, value| rows[start + element] = value);
            }
        }
        rows
    }

    /// Adds the products of the rows of `a` and the columns of `b` to `sums`.
    pub(super) fn multiply_add(&self, a: &[u32], b: &[u32], sums: &mut [u32]) {
        let k = self.k();
        match (self.a, self.b) {
            (Elements::Float(a_format), Elements::Float(b_format)) => {
                let sum = if self.sums == Sums::F16 { Sum::F16 } else { Sum::F32 };
                let product = Product { unit: Unit::Wgmma, a: a_format, b: b_format, sum, k };
                product.multiply_add(bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(sums));
            }
            _ => multiply_add_i32(k, bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(sums)),
        }
    }
}
