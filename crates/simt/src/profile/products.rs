//! Counts the products of tensor cores by source site.

use std::collections::BTreeMap;

use crate::source::{Line, SourceLocation};

/// The type of the factors of a product of tensor cores. Types at which a GPU computes equally fast are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Factors {
    /// `f16` or `bf16`.
    F16,
    /// `tf32`.
    Tf32,
    /// `f64`.
    F64,
    /// A float of 8 bits: `e4m3` or `e5m2`.
    F8,
    /// `i8` or `u8`.
    I8,
}

/// A product instruction of tensor cores: `mma.sync` or `wgmma.mma_async`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ProductInstruction {
    /// The numbers of rows of A, of columns of B, and of columns of A: m, n and k.
    pub shape: [u32; 3],
    /// The type of the factors.
    pub factors: Factors,
    /// The number of warps that execute the instruction together: 4 for `wgmma`, 1 for `mma`.
    pub warps: u32,
}

impl ProductInstruction {
    /// Returns the instruction with this name in PTX, such as `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`.
    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('.');
        let warps = if parts.next()? == "wgmma" { 4 } else { 1 };
        let shape = parts.find_map(|part| {
            let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
            let (n, k) = rest.split_once('k')?;
            Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
        })?;
        // The type of the sums comes first, and then that of A.
        let factors = match parts.filter(|part| !matches!(*part, "row" | "col")).nth(1)? {
            "f16" | "bf16" => Factors::F16,
            "tf32" => Factors::Tf32,
            "f64" => Factors::F64,
            "e4m3" | "e5m2" => Factors::F8,
            "s8" | "u8" => Factors::I8,
            _ => return None,
        };
        Some(Self { shape, factors, warps })
    }

    /// Returns the number of multiplications and additions of each of its warps: 2·m·n·k divided by their number.
    pub fn operations_per_warp(&self) -> u64 {
        2 * self.shape.into_iter().map(u64::from).product::<u64>() / u64::from(self.warps)
    }
}

/// The products of one source site that have the same instruction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProductProfile {
    /// The source site of the products.
    pub location: SourceLocation,
    /// The instruction.
    pub instruction: ProductInstruction,
    /// The number of times that a warp executed the instruction. A product of a warpgroup counts in each of its four
    /// warps.
    pub executions: u64,
}

impl ProductProfile {
    /// Returns the number of multiplications and additions.
    pub fn operations(&self) -> u64 {
        self.executions * self.instruction.operations_per_warp()
    }
}

/// The file, line and column of a source site.
type Position = (&'static str, u32, u32);

/// The number of executions of each instruction at each source site, in source order.
#[derive(Default)]
pub(super) struct Products(BTreeMap<(Position, ProductInstruction), u64>);

impl Products {
    /// Counts an execution by a warp of the product `name` at the line `at`.
    pub(super) fn count(&mut self, name: &str, at: Line) {
        if let Some(instruction) = ProductInstruction::parse(name) {
            *self.0.entry(((at.file(), at.line(), at.column()), instruction)).or_default() += 1;
        }
    }

    pub(super) fn into_profiles(self) -> Vec<ProductProfile> {
        let profile = |((position, instruction), executions): ((Position, _), _)| {
            let (file, line, column) = position;
            let location = SourceLocation { file: file.into(), line, column };
            ProductProfile { location, instruction, executions }
        };
        self.0.into_iter().map(profile).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Factors, ProductInstruction};

    #[test]
    fn a_name_has_the_shape_and_the_type_of_the_factors() {
        let of = |name: &str| {
            let ProductInstruction { shape, factors, warps } = ProductInstruction::parse(name)?;
            Some((shape, factors, warps))
        };
        let mma = |rest: &str| of(&format!("mma.sync.aligned.{rest}"));
        assert_eq!(mma("m16n8k16.row.col.f32.bf16.bf16.f32"), Some(([16, 8, 16], Factors::F16, 1)));
        assert_eq!(mma("m16n8k8.row.col.f16.f16.f16.f16"), Some(([16, 8, 8], Factors::F16, 1)));
        assert_eq!(mma("m16n8k4.row.col.f32.tf32.tf32.f32"), Some(([16, 8, 4], Factors::Tf32, 1)));
        assert_eq!(mma("m8n8k4.row.col.f64.f64.f64.f64"), Some(([8, 8, 4], Factors::F64, 1)));
        assert_eq!(mma("m16n8k32.row.col.f32.e5m2.e4m3.f32"), Some(([16, 8, 32], Factors::F8, 1)));
        assert_eq!(mma("m16n8k32.row.col.s32.u8.s8.s32"), Some(([16, 8, 32], Factors::I8, 1)));
        assert_eq!(of("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"), Some(([64, 256, 16], Factors::F16, 4)));
        assert_eq!(of("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8"), Some(([64, 8, 32], Factors::I8, 4)));
        assert_eq!([of("ldmatrix.x4.trans"), of("wgmma.mma_async"), of("")], [None; 3]);
    }

    #[test]
    fn an_operation_is_a_multiplication_or_an_addition() {
        let of = |name| ProductInstruction::parse(name).map(|product| product.operations_per_warp());
        assert_eq!(of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), Some(4096));
        assert_eq!(of("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"), Some(131_072));
    }
}
