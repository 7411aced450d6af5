//! By key: scans or reduces the values of each run of equal keys.
//!
//! | rung | idea | limited by |
//! |---|---|---|
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
//! Sources: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; CUB's
//! `DeviceReduce::ReduceByKey` and `DeviceScan::ExclusiveSumByKey`.

mod carry;
pub mod tuning;

pub use carry::{Carry, Segmented};

cuda_std::__private::kernel! { device {} host {
    mod element;

    pub use element::{ByKey, ByKeyElement, RunKey, as_key};
} }

pub use look_back::{EXCLUSIVE, INCLUSIVE, REDUCE};

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Element, Global, GlobalMut, shared_array, thread, unroll, warp};

    pub use super::look_back::{EXCLUSIVE, REDUCE, scan_rows};
    pub use super::tuning::{THREADS, WARPS, max_rows, tile_elements};
    pub use super::{Carry, Segmented};
    pub use crate::collective::LANES;
    pub use crate::collective::block::warp_prefix;
    pub use crate::collective::compaction::{gather, store_gathered};
    pub use crate::collective::warp::warp_reduce;
    pub use crate::operator::{Operator, Sum};
    pub use crate::scan::one_pass::{draw_tile, look_back, publish};
    pub use crate::select::predicate::{Predicate, RunStart};
    pub use crate::select::rows::{ends, load, padded_starts};
}

exported_modules! { "by_key": look_back }

#[cfg(feature = "by_key")]
cuda_std::ladder! {
    /// Scans or reduces the values of each run of equal keys.
    pub enum ByKeyRung: by_key {
        /// One pass: a tile looks back at the runs and values that earlier tiles have published.
        look_back,
    }
}
