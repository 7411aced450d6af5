//! Faults of the instructions of a warpgroup: products (`wgmma`) and registers (`setmaxnreg`).

use std::fmt;

use crate::faults::remedy::Remedy;
use crate::faults::whereabouts::Whereabouts;
use crate::geometry::Dim3;
use crate::source::SourceLocation;

/// A wrong use of the instructions of a warpgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WarpgroupFault {
    /// The descriptor of a factor that no GPU would read as the caller intends.
    Descriptor {
        /// The factor: `A` or `B`.
        factor: char,
        /// The reason.
        problem: DescriptorProblem,
    },
    /// An instruction of a warpgroup that has fewer than 128 threads.
    Incomplete {
        /// The name of the instruction in PTX.
        instruction: String,
    },
    /// Threads of one warpgroup execute different products, or a product of different operands.
    Apart {
        /// The difference.
        difference: Difference,
        /// The source line of the other thread's product.
        other: Box<SourceLocation>,
        /// The other thread.
        other_thread: Dim3,
    },
    /// A product that some warps of the warpgroup have issued and another warp never does.
    Missing {
        /// A thread of the warp that does not execute the product.
        missing: Box<Whereabouts>,
    },
    /// A product whose sums were written to registers without a fence (`wgmma.fence`) in between.
    WithoutFence {
        /// The source line at which the registers got their values.
        written: Box<SourceLocation>,
    },
    /// Sums that are read, although a product may still change them.
    InProgress {
        /// The source line of the product.
        product: Box<SourceLocation>,
        /// `true` if the thread has put the product into a group (`wgmma.commit_group`).
        is_committed: bool,
    },
    /// A product for whose end a warp has not waited when its block ends.
    NotWaited {
        /// `true` if the warp has put the product into a group (`wgmma.commit_group`).
        is_committed: bool,
    },
}

/// The reason why a descriptor of a matrix in shared memory is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DescriptorProblem {
    /// The matrix does not begin where the pattern of its swizzle begins.
    Misaligned {
        /// The address in shared memory.
        address: usize,
        /// The required alignment in bytes.
        alignment: usize,
    },
    /// A base offset, which the simulator does not support.
    BaseOffset(u32),
    /// A part of the matrix is outside of the block's shared memory.
    Outside {
        /// The end of the part that is outside, in bytes.
        end: usize,
        /// The size of the block's shared memory in bytes.
        len: usize,
    },
    /// Contiguous columns of A or rows of B, with elements that do not have 16 bits.
    Transposed,
}

/// The difference between the products of two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Difference {
    /// The instruction: its line, types or shape.
    Instruction,
    /// The matrices in shared memory.
    Descriptors,
    /// The sums.
    Sums,
}

impl WarpgroupFault {
    /// Returns the change that would make the kernel correct, if the message does not say it.
    pub(super) fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Descriptor { .. } => None,
            Self::Incomplete { .. } => Some(Remedy::WholeWarpgroups),
            Self::Apart { .. } | Self::Missing { .. } => Some(Remedy::WholeWarpgroup),
            Self::WithoutFence { .. } => Some(Remedy::ProductFence),
            Self::InProgress { is_committed, .. } | Self::NotWaited { is_committed } => {
                Some(if *is_committed { Remedy::WaitForProduct } else { Remedy::CommitProduct })
            }
        }
    }
}

impl fmt::Display for WarpgroupFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descriptor { factor, problem } => write!(f, "the matrix {factor} of a product {problem}"),
            Self::Incomplete { instruction } => {
                write!(f, "`{instruction}` in a warpgroup that has fewer than 128 threads")
            }
            Self::Apart { difference, other, other_thread } => {
                let difference = match difference {
                    Difference::Instruction => "different products",
                    Difference::Descriptors => "a product of different matrices in shared memory",
                    Difference::Sums => "a product with different sums",
                };
                write!(
                    f,
                    "threads of one warpgroup execute {difference}: this thread here, thread {other_thread} at {other}"
                )
            }
            Self::Missing { missing } => {
                write!(f, "a product that not every warp of the warpgroup executes: {missing}")
            }
            Self::WithoutFence { written } => write!(
                f,
                "a product whose sums the thread has written to registers at {written}, without `wgmma.fence` in between"
            ),
            Self::InProgress { product, is_committed } => write!(
                f,
                "sums are read or moved, which the product at {product} may still change{}",
                without_commit(*is_committed)
            ),
            Self::NotWaited { is_committed } => {
                write!(f, "the block ends, and a warp has not waited for this product{}", without_commit(*is_committed))
            }
        }
    }
}

/// Returns the end of a sentence about a product for which a thread has not waited.
fn without_commit(is_committed: bool) -> &'static str {
    if is_committed { "" } else { "; no `wgmma.commit_group` has put it into a group" }
}

impl fmt::Display for DescriptorProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned { address, alignment } => write!(
                f,
                "begins at the address {address:#x} of shared memory, where the pattern of its swizzle does not begin: \
                 begin at a multiple of {alignment} bytes"
            ),
            Self::BaseOffset(offset) => write!(
                f,
                "has the base offset {offset}: begin the tile where the pattern of its swizzle begins, and pass 0"
            ),
            Self::Outside { end, len } => write!(
                f,
                "reaches byte {end} of shared memory, of which the block has {len}: mend the address and the distances \
                 of the descriptor, or launch with more shared memory (`.shared_bytes(bytes)`)"
            ),
            Self::Transposed => f.write_str(
                "has contiguous columns, which tensor cores read for elements of 16 bits alone: transpose it",
            ),
        }
    }
}
