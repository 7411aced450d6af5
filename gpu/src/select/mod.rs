//! Select: moves those of *n* elements that a predicate selects to the beginning of another vector, in order.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`select_mark()`], [`select_scatter()`] | mark the selected elements, scan the marks, scatter the elements | memory: 8-byte marks |
//! | [`select_look_back()`] | one pass: a tile looks back at the counts that earlier tiles have published | latency of memory |
//! | [`select_pipelined()`] | persistent blocks: each copies one tile, gathers another and stores a third | memory |
//! | [`select_run_lengths()`] | the same for run-length encoding: the tiles also publish where their last run starts | latency of memory |
//!
//! The predicate reads the element ([`InRange`] or a type of another crate), a flag ([`ByFlag`]), or the element and
//! the one before it ([`RunStart`], which removes repeated elements). The same kernels partition: they move the
//! rejected elements to a third vector, in order too. The number of selected elements stays on the device, as a `u64`.
//!
//! Kernels are built by the width of the elements: 1, 2, 4, 8 or 16 bytes. A number type, such as `f32`, uses the
//! kernel of its width.
//!
//! Floor (the least possible time): the device reads every element once and writes every selected element once, at its
//! copy bandwidth. A partition writes every element.
//!
//! Sources: G. Blelloch, "Prefix Sums and Their Applications", 1990; D. Merrill, M. Garland, "Single-pass Parallel
//! Prefix Scan with Decoupled Look-back", NVIDIA, 2016; CUB's `DeviceSelect` and `DevicePartition`.

pub mod predicate;
pub mod rows;
pub mod tuning;

pub use predicate::{ByFlag, Format, InRange, Predicate, RunStart};

cuda_std::__private::kernel! { device {} host {
    mod element;

    pub use element::{Interval, NumberFormat, RunElement, Runs, SelectElement, Selection};
} }

#[cfg(feature = "select")]
pub use run_lengths::RunEnds;

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, warp};

    pub use super::predicate::{Predicate, Reads};
    pub use super::rows::{load, selected};
    pub use super::tuning::{THREADS, WARPS, max_rows, tile_elements};
    pub use crate::collective::LANES;
    pub use crate::collective::block::warp_prefix;
    pub use crate::collective::compaction::{gather, store_gathered};
    pub use crate::collective::warp::warp_reduce;
    pub use crate::operator::Sum;
    pub use crate::scan::one_pass::{draw_tile, look_back, publish};
}

exported_modules! { "select": look_back }

#[cfg(feature = "select")]
cuda_std::ladder! {
    /// Moves the elements that a predicate selects to another vector, in order, and partitions.
    pub enum SelectRung: select {
        /// Three steps: mark the selected elements, scan the marks, scatter the elements.
        textbook = select_mark + select_scatter,
        /// One pass: a tile looks back at the counts that earlier tiles have published.
        look_back = select_look_back + run_lengths::select_run_lengths,
        /// One pass by persistent blocks: each copies one tile, gathers another and stores a third at the same time.
        pipelined,
    }
}
