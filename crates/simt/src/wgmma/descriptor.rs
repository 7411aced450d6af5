//! Matrices in shared memory, as descriptors describe them (PTX ISA, "Matrix descriptor format").

use super::instruction::Elements;
use crate::faults::warpgroup::DescriptorProblem;

/// The size in bytes of a unit, which is contiguous in every layout.
pub(super) const UNIT: usize = 16;

/// A matrix in shared memory: A, or the transpose of B. An instruction reads 32 bytes of each of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    address: usize,
    leading: usize,
    stride: usize,
    /// The bytes of a row of the layout: 16 without a swizzle, or 32, 64 or 128.
    width: usize,
    /// True if the elements of a column are contiguous.
    is_transposed: bool,
}

/// A unit of a matrix: 16 bytes, of one row or of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) address: usize,
}

impl Matrix {
    /// Decodes a descriptor.
    ///
    /// # Errors
    /// If the matrix does not begin where its layout repeats, or if the descriptor has a base offset.
    pub(super) fn decode(descriptor: u64, is_transposed: bool) -> Result<Self, DescriptorProblem> {
        let field = |shift: u32| (descriptor >> shift & 0x3FFF) as usize * UNIT;
        let width = match descriptor >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        let base = (descriptor >> 49 & 7) as u32;
        if base != 0 {
            return Err(DescriptorProblem::BaseOffset(base));
        }
        let address = field(0);
        // A matrix may begin at any unit of the first row of eight.
        let alignment = 8 * width;
        if width > UNIT && address % alignment >= width {
            return Err(DescriptorProblem::Misaligned { address, alignment });
        }
        Ok(Self { address, leading: field(16), stride: field(32), width, is_transposed })
    }

    /// Returns true if the elements of a column are contiguous.
    pub(super) const fn is_transposed(self) -> bool {
        self.is_transposed
    }

    /// Returns the units of `rows` rows.
    pub(super) fn units(self, rows: usize, elements: Elements) -> impl Iterator<Item = Unit> {
        let Self { address, leading, stride, width, is_transposed } = self;
        let (per_unit, k) = (UNIT / elements.size(), 32 / elements.size());
        let across = if is_transposed { k } else { rows };
        let along = if is_transposed { rows / per_unit } else { k / per_unit };
        (0..across).flat_map(move |across| {
            (0..along).map(move |along| {
                let (of_groups, of_panels) = match (width, is_transposed) {
                    (16, true) => (leading, stride),
                    (_, true) => (stride, leading),
                    // The units of a row are in one row of the layout, or in different panels.
                    (16, false) => (stride, leading),
                    (_, false) => (stride, 0),
                };
                let linear = address + across / 8 * of_groups + across % 8 * width;
                let linear = if width == UNIT || is_transposed {
                    let per_panel = width / UNIT;
                    linear + along / per_panel * of_panels + along % per_panel * UNIT
                } else {
                    linear + along * UNIT
                };
                let address = linear ^ (linear >> 3 & (width - UNIT));
                let along = along * per_unit;
                let (row, column) = if is_transposed { (along, across) } else { (across, along) };
                Unit { row, column, address }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrix, UNIT};
    use crate::tensor::Format;
    use crate::wgmma::instruction::Elements;

    /// The layouts that a descriptor can have need no passes over the banks beyond one for 8 units of 16 bytes.
    #[test]
    fn units_of_8_rows_or_columns_are_in_different_banks() {
        for (layout, stride) in [(0_u64, 256), (1, 1024), (2, 512), (3, 256)] {
            for is_transposed in [false, true] {
                let descriptor = layout << 62 | (stride / 16) << 32 | (128 / 16) << 16;
                let matrix = Matrix::decode(descriptor, is_transposed).unwrap();
                let mut groups = std::collections::BTreeMap::<_, Vec<usize>>::new();
                for unit in matrix.units(64, Elements::Float(Format::Bf16)) {
                    let (across, along) = if is_transposed { (unit.column, unit.row) } else { (unit.row, unit.column) };
                    groups.entry((across / 8, along)).or_default().push(unit.address / UNIT % 8);
                }
                assert_eq!(groups.len(), 16);
                for mut places in groups.into_values() {
                    places.sort_unstable();
                    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7], "layout {layout}, {is_transposed}");
                }
            }
        }
    }
}
