//! Segments: reduces or scans each segment of a vector. A segment consists of consecutive elements, such as a row of a
//! matrix.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`segments_look_back()`] | one pass over tiles of elements, whatever segments they have | instructions |
//!
//! The segments are given by offsets of 32 or 64 bits, one more than segments, or have the same length. A segment may
//! be empty. The operator need not be commutative. It is only called with elements. Minima, maxima and their positions
//! are built by the width of the elements: a kernel encodes numbers as unsigned integers of the same order.
//!
//! The grouping of the operands depends on the segments and not on timing. Two runs with floats have the same result.
//!
//! Floor (the least possible time): the device reads every element and offset once and writes every result once, at its
//! copy bandwidth.
//!
//! Sources: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; S.
//! Sengupta, M. Harris, Y. Zhang, J. Owens, "Scan Primitives for GPU Computing", Graphics Hardware 2007; CUB's
//! `DeviceSegmentedReduce`.

mod bounds;
mod open;
mod scan;
mod tile;
pub mod tuning;
mod work;

pub use bounds::{Bounds, Layout};
pub use look_back::{EXCLUSIVE, INCLUSIVE, REDUCE};
pub use work::{First, Least, Order, Segmented};

cuda_std::__private::kernel! { device {} host {
    mod element;

    pub use element::{SegmentElement, Segments};
} }

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, warp};

    pub use super::bounds::{Bounds, Layout};
    pub use super::look_back::{EXCLUSIVE, REDUCE};
    pub use super::open::open_value;
    pub use super::scan::{heads_of, join_lanes, join_warps, last_value, scan_own};
    pub use super::tile::{Tile, find_tile, load_items, mark_heads, store_reductions, store_scan};
    pub use super::tuning::{GROUP, THREADS, WARPS, max_chunks, states as state_count, tile_elements};
    pub use super::work::{Order, Segmented};
    pub use crate::operator::Operator;
    pub use crate::scan::one_pass::{draw_tile, drawn_tile};
    pub use crate::scan::{AGGREGATE, PREFIX};
}

exported_modules! { "segments": look_back }

#[cfg(feature = "segments")]
cuda_std::ladder! {
    /// Reduces or scans each segment of a vector.
    pub enum SegmentsRung: segments {
        /// One pass over tiles of elements, whatever segments they have.
        look_back = segments_look_back + search::segments_search,
    }
}
