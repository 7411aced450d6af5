//! The project's CUDA kernels. This crate contains only device code. Each algorithm has a folder with one file per
//! *rung*. A rung is a version of the algorithm: the first is the textbook's, and the last is the fastest.
//!
//! # Design
//!
//! A kernel is written once: there is no second version for the simulator. Only the `ladder!` of an algorithm lists
//! its rungs. The crate is `no_std` and depends only on `cuda_std`.
//!
//! Another crate makes instances of the kernels for its own types and operators by [`instances!`]. For that, it depends
//! on this crate with the feature `instances` and without default features. Its PTX then has the entries of these
//! instances alone.
#![no_std]
// In the PTX of another crate, parts of the modules are not used, nor in that of `by_key`, `segments` and `select`,
// which use parts of other algorithms.
#![cfg_attr(
    any(
        feature = "instances",
        all(
            any(feature = "by_key", feature = "segments", feature = "select"),
            not(all(feature = "scan", feature = "select"))
        )
    ),
    allow(dead_code, unused_imports)
)]

/// Declares the modules of the exported kernels where the ladder is not built: in the PTX of another crate.
#[cfg(any(
    feature = "by_key",
    feature = "histogram",
    feature = "instances",
    feature = "merge_sort",
    feature = "reduce",
    feature = "scan",
    feature = "segments",
    feature = "select"
))]
macro_rules! exported_modules {
    ($feature:tt: $($module:ident)*) => {
        $(
            #[cfg(not(feature = $feature))]
            mod $module;
        )*
    };
}

pub mod accumulate;
#[cfg(any(feature = "by_key", feature = "instances"))]
pub mod by_key;
pub mod collective;
#[cfg(feature = "device_library")]
pub mod device_library;
mod elements;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(any(feature = "histogram", feature = "instances"))]
pub mod histogram;
#[cfg(any(feature = "instances", all(feature = "histogram", feature = "reduce", feature = "scan")))]
#[doc(hidden)]
pub mod instances;
#[cfg(feature = "life")]
pub mod life;
// Also without the feature: the other two modules use its types.
#[cfg(any(feature = "matmul", feature = "matmul_tensor", feature = "matmul_warpgroup", feature = "instances"))]
pub mod matmul;
#[cfg(any(feature = "merge_sort", feature = "instances"))]
pub mod merge_sort;
pub mod operator;
#[cfg(feature = "probe")]
pub mod probe;
#[cfg(any(feature = "reduce", feature = "instances"))]
pub mod reduce;
#[cfg(feature = "saxpy")]
pub mod saxpy;
#[cfg(feature = "scale")]
pub mod scale;
#[cfg(any(feature = "by_key", feature = "scan", feature = "segments", feature = "select", feature = "instances"))]
pub mod scan;
#[cfg(any(feature = "segments", feature = "instances"))]
pub mod segments;
#[cfg(any(feature = "by_key", feature = "select", feature = "instances"))]
pub mod select;
#[cfg(feature = "sort")]
pub mod sort;
#[cfg(feature = "sort_cluster")]
pub mod sort_cluster;
pub mod sort_key;
#[cfg(feature = "tensor_library")]
pub mod tensor_library;
#[cfg(feature = "transpose")]
pub mod transpose;
#[cfg(feature = "warpgroup_library")]
pub mod warpgroup_library;

// On the host, the ladder of `matmul` names kernels of the other two modules.
cuda_std::__private::kernel! { device {
    #[cfg(any(feature = "matmul_tensor", feature = "instances"))]
    pub mod matmul_tensor;
    #[cfg(any(feature = "matmul_warpgroup", feature = "instances"))]
    pub mod matmul_warpgroup;
} host {
    #[cfg(any(feature = "matmul", feature = "matmul_tensor", feature = "instances"))]
    pub mod matmul_tensor;
    #[cfg(any(feature = "matmul", feature = "matmul_warpgroup", feature = "instances"))]
    pub mod matmul_warpgroup;
} }
