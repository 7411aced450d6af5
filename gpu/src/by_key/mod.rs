//! By key: scans or reduces the values of each run of equal keys.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`by_key_step()`], [`by_key_store()`] | number the runs, scan each run in one launch per step, store the results | ⌈log₂ n⌉ passes over memory |
//! | [`by_key_look_back()`] | one pass: a tile looks back at the runs and values that earlier tiles have published | latency of memory |
//!
//! A run consists of consecutive equal keys. Keys are numbers of 4 or 8 bytes, compared as by `==`. Values are numbers
//! with the operator `Sum`, or a type and operator of another crate. The operator need not be commutative. It is only
//! called with values, never with its identity.
//!
//! Timing determines at which tile a warp finds a prefix, so the results of two runs with floats may differ by
//! rounding.
//!
//! Floor (the least possible time): the device reads every key and value once and writes every result once, at its copy
//! bandwidth.
//!
//! Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", 1986; S. Sengupta et al., "Scan Primitives for GPU
//! Computing", 2007; D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016;
//! CUB's `DeviceReduce::ReduceByKey` and `DeviceScan::ExclusiveSumByKey`.

mod before;
mod carry;
mod tile;
pub mod tuning;

pub use carry::{Carry, Part};

cuda_std::__private::kernel! { device {} host {
    mod element;

    #[cfg(all(feature = "by_key", feature = "select"))]
    pub use element::mark_runs;
    pub use element::{ByKey, ByKeyElement, RunKey, as_key};
} }

pub use look_back::{EXCLUSIVE, INCLUSIVE, REDUCE};

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, unroll, warp};

    pub use super::before::carry_before;
    pub use super::look_back::{EXCLUSIVE, INCLUSIVE, REDUCE};
    pub use super::tile::{Runs, edge_key, join_lanes, load_values, starts, store_rows, store_scan};
    pub use super::tuning::{THREADS, WARPS, max_rows, rows_of, tile_elements};
    pub use super::{Carry, Part};
    pub use crate::collective::LANES;
    pub use crate::collective::tile::left;
    pub use crate::operator::{Operator, Sum};
    pub use crate::scan::one_pass::{draw_tile_while, drawn_tile, prefetch_tile};
    pub use crate::scan::{AGGREGATE, PREFIX};
    pub use crate::select::predicate::{Predicate, RunStart};
    pub use crate::select::rows::load;
}

exported_modules! { "by_key": look_back }

#[cfg(feature = "by_key")]
cuda_std::ladder! {
    /// Scans or reduces the values of each run of equal keys.
    pub enum ByKeyRung: by_key {
        /// Four steps: mark where runs begin, scan the marks, scan the values of each run, store the results.
        textbook = by_key_step + by_key_store,
        /// One pass: a tile looks back at the runs and values that earlier tiles have published.
        look_back,
    }
}
