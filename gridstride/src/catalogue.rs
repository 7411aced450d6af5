//! The library's list of algorithms.
//!
//! # Design
//!
//! The library's modules and its PTX follow from this list alone. Everything else about an algorithm is in its own
//! folder. The workbench has its own list, which adds Life and the probes. The program's commands follow from the
//! workbench's list.

/// Calls the macro `$with` with the names of all algorithms.
///
/// For the algorithm `reduce`, the kernels are in `gpu::reduce` and the PTX is in `gpu/ptx/reduce.sm_<arch>.ptx`. The
/// module `reduce` of this crate has an extension trait that adds the algorithm to a device.
macro_rules! catalogue {
    ($with:ident) => {
        $with! { histogram reduce saxpy scale scan transpose }
    };
}

macro_rules! declare {
    ($($name:ident)+) => {
        /// The PTX of the algorithms' kernels, for [`launch::Device::open`].
        pub const MODULES: &[PtxModule] = &[$(embedded_module!($name)),+];
    };
}

/// The `launch::PtxModule` of the kernels in `gpu::$name`, whose PTX the calling crate's build script compressed.
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
