//! Prefix scan of *n* elements by an associative operator, for any *n*. In the inclusive scan, `y[i]` combines `x[0]`
//! to `x[i]` in order. In the exclusive scan, `y[i]` combines `x[0]` to `x[i − 1]`, and `y[0]` is the identity.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`scan_naive_block()`] | in step *k*, each element is combined with the one 2ᵏ before it, in one block | n ≤ 1024; n log₂ n operations |
//! | [`scan_naive_step()`] | the same over any length, one launch per step | ⌈log₂ n⌉ passes over memory |
//! | [`scan_shifted_copy()`], [`scan_up_sweep()`], [`scan_down_sweep()`] | up and down a tree, one launch per level: 2n operations | 2 log₂ n launches, strided accesses |
//! | [`scan_look_back()`] | one pass: a tile looks back at the values that earlier tiles have published | memory |
//! | [`scan_widened()`] | the same for types with an accumulator, such as `f16`, and for operators that propagate NaN | memory |
//! | [`scan_pipelined()`] | persistent blocks: each copies one tile, sums another and scans a third at the same time | memory |
//!
//! The operator need not be commutative: in every rung, the earlier element is the left operand.
//!
//! Floor (the least possible time): the device reads and writes every element once, at its copy bandwidth. These are 8
//! bytes per `f32` element.
//!
//! Sources: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, for the first three (after Hillis and
//! Steele, and Blelloch); D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA,
//! 2016, for the last two.
//!
//! # Design
//!
//! The single-pass scans ([`scan_look_back()`], [`scan_pipelined()`]) need no memset between launches, which would take
//! 2 µs. They also work in graphs. One word counts tickets and launches, and every flag contains the number of its
//! launch (`tile_states`). These scans need no fence for any element size
//! ([`flagged_words`](crate::collective::flagged_words)).
//!
//! In the pipelined scan, the blocks that share the tiles are called the team. The first block polls a fixed number of
//! times for started blocks, and only these blocks join the team. No block of the team then waits for a block that is
//! not resident. Two scans may therefore share a device.

mod head;
pub mod one_pass;
mod tile_states;
pub mod tuning;

pub use head::head_of;
#[cfg(feature = "scan")]
pub use naive_block::BLOCK_ELEMENTS;
pub use pipelined::{Gap, MAX_TILES, NO_TILE, Ring, TEAM, team};
pub use tile_states::{AGGREGATE, PREFIX, TICKET, TileStates, first_word, state_words};
pub use tuning::{
    BLOCKS, CHUNKS, PIPELINED_THREADS, RING_BYTES, STAGES, THREADS, WARPS, pipelined_tile_elements, tile_elements,
};
#[cfg(feature = "scan")]
pub use widened::Widen;
#[cfg(feature = "scan")]
pub use work_efficient::{down_sweep_nodes, up_sweep_nodes};

use cuda_std::{Element, Global};

use crate::operator::Operator;

cuda_std::__private::kernel! { device {} host {
    mod element;

    #[cfg(feature = "scan")]
    #[doc(hidden)]
    pub use element::LISTED;
    pub use element::ScanElement;
} }

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, opaque, shared_array, thread, warp};

    pub use super::tile_states::{AGGREGATE, PREFIX, Ticket, TileStates, state_words};
    pub use crate::collective::LANES;
    pub use crate::collective::block::warp_prefix;
    pub use crate::collective::tile::{load, scan_vectors, store, warp_aggregate, warp_scan};
    pub use crate::operator::Operator;

    /// The names in the body of [`scan_look_back()`](super::scan_look_back()).
    pub mod look_back {
        pub use super::*;
        pub use crate::collective::vectors::is_aligned;
        pub use crate::scan::look_back::{Before, LINE};
        pub use crate::scan::tuning::{CHUNKS, THREADS, WARPS, tile_elements};
    }

    /// The names in the body of [`scan_pipelined()`](super::scan_pipelined()).
    pub mod pipelined {
        pub use super::*;
        pub use crate::scan::head::scan_head;
        pub use crate::scan::pipelined::{Gap, MAX_TILES, Ring, Summed, team};
        pub use crate::scan::tuning::{
            PIPELINED_CHUNKS as CHUNKS, PIPELINED_THREADS, PIPELINED_WARPS as WARPS, STAGES, pipelined_tile_elements,
        };
    }
}

exported_modules! { "scan": look_back pipelined }

#[cfg(feature = "scan")]
cuda_std::ladder! {
    /// Prefix sums, and prefixes by any associative operator.
    pub enum ScanRung: scan {
        /// In step k, each element is combined with the one 2ᵏ before it, in one block of up to 1024 elements.
        naive_block,
        /// In step k, each element is combined with the one 2ᵏ before it, over any length, one launch per step.
        naive = scan_naive_step,
        /// An up-sweep and a down-sweep over a tree, for any length, with one launch per level.
        work_efficient = scan_shifted_copy + scan_up_sweep + scan_down_sweep,
        /// One pass: a tile looks back at the values that earlier tiles have published.
        look_back = scan_look_back + widened::scan_widened,
        /// One pass by persistent blocks: each copies one tile, sums another and scans a third at the same time.
        pipelined,
    }
}

/// Returns true if the pipelined scan takes elements of type `T`: if asynchronous copies can move them one by one, and
/// 16 bytes of them together.
pub const fn is_pipelined<T>() -> bool {
    matches!(size_of::<T>(), 4 | 8 | 16) && align_of::<T>() >= 4
}

/// Returns `x[i − shift]`, or the identity if `i` is below `shift`.
#[cfg(feature = "scan")]
#[inline(always)]
fn shifted<T: Element, O: Operator<T>>(x: Global<T>, i: usize, shift: usize) -> T {
    if i < shift { O::IDENTITY } else { x.load(i - shift) }
}
