//! Histogram: counts how many of *n* keys are in each bin.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`histogram_global()`] | every key adds one to the count of its bin, in global memory | the L2 cache: additions to one word are serialised |
//! | [`histogram_privatised()`] | each block counts in shared memory, and adds its counts to the result once | shared memory: bins in one bank conflict |
//! | [`histogram_replicated()`] | copies of each counter in different banks, 16-byte loads, one launch | memory |
//!
//! Keys are `u8`, `u32`, or a type of another crate that converts to `u32` ([`ToKey`]). Bins are [`EvenBins`]: 1 to
//! 65536 bins of equal width. A key outside all bins is not counted. The first two rungs add to the counts, which the
//! host sets to 0 before. The last rung sets them itself.
//!
//! Counts are `u32`. They wrap if a bin has 2³² keys or more.
//!
//! Floor (the least possible time): the device reads every key once, at its read bandwidth. An H200 reads 17 bytes per
//! cycle and multiprocessor. Without bank conflicts, a multiprocessor adds to at least 16 counters in shared memory per
//! cycle. With keys of one byte, any bank conflict therefore costs time. With keys of four bytes, some conflicts cost
//! nothing. For additions in global memory, the L2 cache determines the least time.
//!
//! Sources: V. Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA, 2007; J. Gómez-Luna, J. M. González-Linares, J. I.
//! Benavides, N. Guil, "An optimized approach to histogram computation on GPU", Machine Vision and Applications 24,
//! 2013; CUB's `DeviceHistogram`.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod bins;
mod key;
pub mod tuning;

pub use bins::EvenBins;
pub use key::{Key, ToKey, fits_word};
pub use replicated::{MAX_REPLICAS, STATE_WORDS, VALUES};

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::{Global, GlobalMut, dynamic_shared, opaque, thread, warp};

    pub use super::replicated::{CLEARED, Counters, FINISHED, STARTED, load, vectors};
    pub use super::tuning::VECTORS;
    pub use super::{EvenBins, Key, MAX_REPLICAS, STATE_WORDS, VALUES};
}

exported_modules! { "histogram": privatised replicated }

#[cfg(feature = "histogram")]
cuda_std::ladder! {
    /// Counts how many of *n* keys, of 8 or 32 bits, are in each of 1 to 65536 bins of equal width.
    pub enum HistogramRung: histogram {
        /// Every key adds one to the count of its bin, in global memory.
        global,
        /// Each block counts in shared memory, and adds its counts to the result once.
        privatised,
        /// Copies of each counter in different banks, 16-byte loads, one launch.
        replicated,
    }
}
