//! Tensor maps: a tensor in global memory, and the box of it that one copy transfers.

use bytemuck::{Pod, Zeroable};

use crate::faults::bulk::BulkFault;

/// The maximum number of dimensions of a tensor map.
pub const MAX_DIMENSIONS: usize = 5;

/// The number of bytes that a copy transfers at a time. The swizzles exchange chunks of this size.
pub const CHUNK: usize = 16;

/// A tensor map of a simulated device, in the 128 bytes that a kernel's parameter has.
///
/// Dimension 0 is the innermost one: its elements are neighbours in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Tiling {
    /// The address of the element with all coordinates 0.
    pub base: u64,
    /// The distances in bytes of neighbours along dimensions 1 to 4.
    pub strides: [u64; MAX_DIMENSIONS - 1],
    /// The number of elements along each dimension, minus 1.
    pub last: [u32; MAX_DIMENSIONS],
    /// The number of elements of a box along each dimension. Unused dimensions have 1.
    pub tile: [u16; MAX_DIMENSIONS],
    /// The steps between the elements of a box along each dimension. That of dimension 0 is 1.
    pub steps: [u8; MAX_DIMENSIONS],
    /// The size of an element in bytes.
    pub element: u8,
    /// The number of dimensions.
    pub dimensions: u8,
    /// The width of the swizzle in bytes: 0 (none), 32, 64 or 128.
    pub swizzle: u8,
    /// Unused.
    pub padding: [u8; 50],
}

// SAFETY: all fields are integers, for which zero is valid.
unsafe impl Zeroable for Tiling {}
// SAFETY: all fields are integers, and their sizes add up to 128 bytes, so that there is no padding.
unsafe impl Pod for Tiling {}

const _: () = assert!(size_of::<Tiling>() == 128);

impl Tiling {
    /// Returns the map as the words of a parameter.
    pub fn words(&self) -> [u64; 16] {
        bytemuck::cast(*self)
    }

    /// Returns the number of elements of a box along `dimension` in shared memory.
    fn extent(&self, dimension: usize) -> usize {
        usize::from(self.tile[dimension]).div_ceil(usize::from(self.steps[dimension].max(1)))
    }

    /// Returns the number of bytes of a box, which arrive at a barrier.
    pub fn box_bytes(&self) -> usize {
        self.rows() * self.row_bytes()
    }

    /// Returns the number of bytes of a tile in shared memory: those of the box, and of the gaps between its rows.
    pub fn tile_bytes(&self) -> usize {
        self.rows() * self.pitch()
    }

    fn rows(&self) -> usize {
        (1..MAX_DIMENSIONS).map(|dimension| self.extent(dimension)).product()
    }

    fn row_bytes(&self) -> usize {
        self.extent(0) * usize::from(self.element)
    }

    /// Returns the distance of the rows of a tile in bytes. With a swizzle it is the swizzle's width, also for shorter
    /// rows, as on an H200.
    fn pitch(&self) -> usize {
        if self.swizzle == 0 { self.row_bytes() } else { usize::from(self.swizzle) }
    }

    /// Returns the required alignment of a box in shared memory in bytes: the size after which the swizzle repeats, and
    /// at least 128.
    pub fn alignment(&self) -> usize {
        (usize::from(self.swizzle) * 8).max(128)
    }

    /// Returns why the hardware refuses a box at the coordinates `at`, which `is_stored` in global memory, if it does.
    /// An H200 ends such a kernel with an illegal instruction.
    pub(crate) fn refusal(&self, at: [i32; MAX_DIMENSIONS], is_stored: bool) -> Option<BulkFault> {
        let (coordinate, element) = (at[0], self.element);
        if !(i64::from(coordinate) * i64::from(element)).unsigned_abs().is_multiple_of(CHUNK as u64) {
            return Some(BulkFault::MisalignedBox { coordinate, element });
        }
        let dimension = at.iter().position(|&coordinate| coordinate < 0).filter(|_| is_stored)?;
        Some(BulkFault::NegativeBox { dimension, coordinate: at[dimension] })
    }

    /// Returns the shared address to which the swizzle moves the chunk at `address`.
    pub fn swizzled(&self, address: usize) -> usize {
        match self.swizzle {
            32 => address ^ (address >> 3 & 0x10),
            64 => address ^ (address >> 3 & 0x30),
            128 => address ^ (address >> 3 & 0x70),
            _ => address,
        }
    }

    /// Calls `f` with each piece of the box at the coordinates `at`, which begins at the shared address `shared`.
    fn pieces(&self, at: [i32; MAX_DIMENSIONS], shared: usize, f: &mut dyn FnMut(Piece)) {
        let element = usize::from(self.element);
        let (row_bytes, pitch) = (self.row_bytes(), self.pitch());
        let (first, end) = (i64::from(at[0]), i64::from(self.last[0]) + 1);
        for row in 0..self.rows() {
            let address = self.row(at, row);
            for place in (0..row_bytes).step_by(CHUNK) {
                let bytes = CHUNK.min(row_bytes - place);
                let from = first + (place / element) as i64;
                let (start, stop) = (from.clamp(0, end), (from + (bytes / element) as i64).clamp(0, end));
                let count = if address.is_some() { (stop - start) as usize } else { 0 };
                f(Piece {
                    shared: self.swizzled(shared + row * pitch + place),
                    bytes,
                    outside: address.unwrap_or(0).wrapping_add(start as usize * element),
                    skipped: if count > 0 { (start - from) as usize * element } else { 0 },
                    valid: count * element,
                });
            }
        }
    }

    /// Returns the address of the element with coordinate 0 in dimension 0 that is in row `row` of the box at `at`, or
    /// `None` if the row is outside of the tensor.
    fn row(&self, at: [i32; MAX_DIMENSIONS], row: usize) -> Option<usize> {
        let (mut rest, mut address) = (row, self.base as usize);
        for (dimension, (first, stride)) in at[1..].iter().zip(self.strides).enumerate() {
            let dimension = dimension + 1;
            let index = rest % self.extent(dimension) * usize::from(self.steps[dimension]);
            rest /= self.extent(dimension);
            let coordinate = i64::from(*first) + index as i64;
            if !(0..=i64::from(self.last[dimension])).contains(&coordinate) {
                return None;
            }
            address = address.wrapping_add(coordinate as usize * stride as usize);
        }
        Some(address)
    }
}

/// A piece of a copy: at most [`CHUNK`] bytes of shared memory, and the part of them that has a place in global memory
/// or in the shared memory of another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The address in the shared memory of the block.
    pub(crate) shared: usize,
    /// The number of bytes in shared memory.
    pub(crate) bytes: usize,
    /// The outside address of the first byte that has one.
    pub(crate) outside: usize,
    /// The number of bytes before the first byte that has an outside address.
    pub(crate) skipped: usize,
    /// The number of bytes that have an outside address. All others are out of bounds of the tensor.
    pub(crate) valid: usize,
}

/// The side of a copy that is not in the block's shared memory.
#[derive(Clone, Copy, Debug)]
pub enum Outside {
    /// Consecutive bytes at a host address, or at an address of another block's shared memory.
    Linear {
        /// The first address.
        address: usize,
        /// The number of bytes, a multiple of 16.
        bytes: usize,
    },
    /// A box of a tensor at the coordinates of its first element.
    Tile(Tiling, [i32; MAX_DIMENSIONS]),
}

impl Outside {
    /// Returns the number of bytes that are copied.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Linear { bytes, .. } => *bytes,
            Self::Tile(tiling, _) => tiling.box_bytes(),
        }
    }

    /// Returns the number of bytes of shared memory from the copy's first byte to its last.
    pub(crate) fn extent(&self) -> usize {
        match self {
            Self::Linear { bytes, .. } => *bytes,
            Self::Tile(tiling, _) => tiling.tile_bytes(),
        }
    }

    /// Returns the required alignment of the copy's address in shared memory.
    pub(crate) fn alignment(&self) -> usize {
        match self {
            Self::Linear { .. } => CHUNK,
            Self::Tile(tiling, _) => tiling.alignment(),
        }
    }

    /// Calls `f` with each piece of the copy, whose bytes in shared memory begin at `shared`.
    pub(crate) fn pieces(&self, shared: usize, f: &mut dyn FnMut(Piece)) {
        match self {
            Self::Linear { address, bytes } => (0..*bytes).step_by(CHUNK).for_each(|first| {
                f(Piece { shared: shared + first, bytes: CHUNK, outside: address + first, skipped: 0, valid: CHUNK });
            }),
            Self::Tile(tiling, at) => tiling.pieces(*at, shared, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the map of a matrix of 5 rows of 16 elements of 4 bytes, 80 bytes apart, with boxes of 2 rows of 8.
    fn matrix(swizzle: u8) -> Tiling {
        Tiling {
            base: 4096,
            strides: [80, 0, 0, 0],
            last: [15, 4, 0, 0, 0],
            tile: [8, 2, 1, 1, 1],
            steps: [1; 5],
            element: 4,
            dimensions: 2,
            swizzle,
            padding: [0; 50],
        }
    }

    fn pieces(tiling: Tiling, at: [i32; 2]) -> Vec<Piece> {
        let mut all = Vec::new();
        Outside::Tile(tiling, [at[0], at[1], 0, 0, 0]).pieces(1024, &mut |piece| all.push(piece));
        all
    }

    #[test]
    fn a_box_takes_the_rows_that_the_strides_separate() {
        let all = pieces(matrix(0), [4, 2]);
        let places: Vec<_> = all.iter().map(|piece| (piece.shared, piece.outside, piece.valid)).collect();
        assert_eq!(
            places,
            [(1024, 4096 + 176, 16), (1040, 4096 + 192, 16), (1056, 4096 + 256, 16), (1072, 4096 + 272, 16)]
        );
    }

    #[test]
    fn elements_outside_of_the_tensor_have_no_address() {
        let all = pieces(matrix(0), [-2, 4]);
        assert_eq!((all[0].skipped, all[0].valid, all[0].outside), (8, 8, 4096 + 320));
        assert_eq!((all[1].skipped, all[1].valid), (0, 16));
        assert_eq!([all[2].valid, all[3].valid], [0, 0]);
        let all = pieces(matrix(0), [14, 0]);
        assert_eq!((all[0].skipped, all[0].valid, all[1].valid), (0, 8, 0));
    }

    #[test]
    fn a_box_begins_at_16_bytes_and_is_stored_at_no_negative_coordinate() {
        let of = |element, at: [i32; 2], is_stored| {
            let tiling = Tiling { element, ..matrix(0) };
            tiling.refusal([at[0], at[1], 0, 0, 0], is_stored)
        };
        assert_eq!([of(4, [-4, -3], false), of(2, [8, 1], true), of(1, [-32, 0], false)], [None, None, None]);
        for (coordinate, element) in [(3, 4), (-1, 4), (4, 2), (8, 1), (1, 8)] {
            let fault = BulkFault::MisalignedBox { coordinate, element };
            assert_eq!(of(element, [coordinate, 0], false), Some(fault));
        }
        let negative = |dimension, coordinate| Some(BulkFault::NegativeBox { dimension, coordinate });
        assert_eq!([of(4, [-4, -1], true), of(4, [0, -8], true)], [negative(0, -4), negative(1, -8)]);
    }

    #[test]
    fn steps_leave_rows_out() {
        let tiling = Tiling { steps: [1, 2, 1, 1, 1], tile: [8, 3, 1, 1, 1], ..matrix(0) };
        let all = pieces(tiling, [0, 1]);
        assert_eq!((all.len(), tiling.box_bytes()), (4, 64));
        assert_eq!((all[2].shared, all[2].outside), (1056, 4096 + 3 * 80));
    }

    #[test]
    fn a_swizzle_exchanges_chunks_by_the_number_of_the_row_of_128_bytes() {
        let tiling = matrix(128);
        assert_eq!([0, 16, 128, 144, 1008].map(|address| tiling.swizzled(address)), [0, 16, 144, 128, 896]);
        assert_eq!([128, 256].map(|address| matrix(32).swizzled(address)), [144, 256]);
        assert_eq!([128, 256, 512].map(|address| matrix(64).swizzled(address)), [144, 288, 512]);
        let all = pieces(tiling, [0, 0]);
        assert_eq!([tiling.box_bytes(), tiling.tile_bytes(), matrix(0).tile_bytes()], [64, 256, 64]);
        assert_eq!(all.iter().map(|piece| piece.shared).collect::<Vec<_>>(), [1024, 1040, 1168, 1152]);
        assert_eq!([tiling.alignment(), matrix(64).alignment(), matrix(0).alignment()], [1024, 512, 128]);
    }
}
