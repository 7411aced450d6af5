//! The library's list of algorithms.
//!
//! # Design
//!
//! The library generates its modules and its embedded PTX from this list. Everything else about an algorithm is in the
//! folder of the algorithm. The crate `workbench` has another list, which also contains Life and the probes. The
//! program `host` generates its commands from that list.

/// Calls the macro `$with` with the names of all algorithms, a semicolon, and the names of modules with kernels that
/// these algorithms also launch.
///
/// For an algorithm such as `reduce`, the kernels must be in `gpu::reduce` and the PTX in
/// `gpu/ptx/reduce.sm_<arch>.ptx`. The module `reduce` of this crate must have an extension trait that adds the
/// algorithm to a device.
macro_rules! catalogue {
    ($with:ident) => {
        $with! {
            by_key histogram matmul merge_sort reduce saxpy scale scan segments select sort transpose;
            matmul_tensor matmul_warpgroup sort_cluster
        }
    };
}

macro_rules! declare {
    ($($name:ident)+; $($other:ident)*) => {
        /// The PTX of the algorithms' kernels, as an argument of [`launch::Device::open`].
        pub const MODULES: &[PtxModule] = &[$(embedded_module!($name),)+ $(embedded_module!($other)),*];
    };
}

/// Expands to the `launch::PtxModule` of the kernels in `gpu::$name`. The build script of the calling crate must have
/// compressed the PTX.
#[doc(hidden)]
#[macro_export]
macro_rules! embedded_module {
    ($name:ident) => {
        ::launch::PtxModule {
            path: concat!("gpu::", stringify!($name)),
            images: include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs")),
        }
    };
}

use launch::PtxModule;

catalogue! { declare }
