//! Faults of bulk copies and of the transaction counts of barriers.

use std::fmt;

use crate::region::Space;

/// A bulk copy that no GPU would make, or whose end no thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum BulkFault {
    /// The address of one side is not a multiple of the required alignment.
    Misaligned {
        /// The memory of this side.
        space: Space,
        /// The address.
        address: usize,
        /// The required alignment in bytes.
        alignment: usize,
    },
    /// The size of the copy is 0 or not a multiple of 16.
    Bytes {
        /// The size in bytes.
        bytes: usize,
    },
    /// A tile whose length is not that of the tensor map's box. With a swizzle, each row takes the swizzle's width.
    Tile {
        /// The number of elements that a tile has.
        elements: usize,
        /// The length of the tile.
        len: usize,
    },
    /// A box that does not begin at a multiple of 16 bytes along the innermost dimension.
    MisalignedBox {
        /// The box's first coordinate.
        coordinate: i32,
        /// The size of an element in bytes.
        element: u8,
    },
    /// A store or a reduction whose box begins at a negative coordinate. Loads may do so.
    NegativeBox {
        /// The dimension, where 0 is the innermost one.
        dimension: usize,
        /// The coordinate.
        coordinate: i32,
    },
    /// A mask of ranks that is empty or names a block that the cluster does not have.
    Ranks {
        /// The mask.
        mask: u32,
        /// The number of blocks of the cluster.
        blocks: u32,
    },
    /// The bytes that a phase of a barrier expects exceed the limit of 2²⁰ − 1.
    TooManyBytes {
        /// The number of bytes.
        count: u64,
    },
    /// A copy may still access the shared memory of a block whose threads have exited.
    NotWaited,
}

impl fmt::Display for BulkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned { space, address, alignment } => {
                write!(
                    f,
                    "a bulk copy whose {space} address {address:#x} is not a multiple of {alignment}: {}",
                    match alignment {
                        16 => "begin at a multiple of 16 bytes",
                        _ =>
                            "a box of a tensor begins at a multiple of 128 bytes, or of eight times the swizzle's \
                              width: take `Shared::aligned` of a larger array",
                    }
                )
            }
            Self::Bytes { bytes } => {
                write!(f, "a bulk copy of {bytes} bytes: copy a multiple of 16 bytes, and at least 16")
            }
            Self::Tile { elements, len } => write!(
                f,
                "a tile of {len} elements for a box that takes {elements} in shared memory: take a part of the shared \
                 array with as many elements (with a swizzle, each row of a box takes the swizzle's width)"
            ),
            Self::MisalignedBox { coordinate, element } => write!(
                f,
                "a box of a tensor at the first coordinate {coordinate}, with elements of {element} bytes: take a \
                 multiple of {}, so that the box begins at a multiple of 16 bytes",
                16 / (*element).max(1)
            ),
            Self::NegativeBox { dimension, coordinate } => write!(
                f,
                "a store to a box at the coordinate {coordinate} in dimension {dimension}: begin it at 0 or later, \
                 because only loads take negative coordinates"
            ),
            Self::Ranks { mask, blocks } => write!(
                f,
                "a multicast to the ranks of the mask {mask:#b} in a cluster of {blocks} blocks: set at least one bit, \
                 and none from bit {blocks} on"
            ),
            Self::TooManyBytes { count } => write!(
                f,
                "a phase of a barrier expects {count} bytes, and 2²⁰ − 1 are allowed: use smaller copies, or a barrier \
                 for each part"
            ),
            Self::NotWaited => f.write_str(
                "the block ends, and nothing orders its end after this bulk copy, which accesses its shared memory: \
                 wait for the phase of the copy's barrier, or, for a store, commit it and call `bulk::wait_read::<0>` \
                 before the kernel returns",
            ),
        }
    }
}
