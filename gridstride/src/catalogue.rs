//! The library's list of algorithms.
//!
//! # Design
//!
//! This is the library's only list: its modules and its PTX follow from it. Everything else about an algorithm is in
//! its own folder. The workbench has its own list, which adds Life and the probes. The program's commands follow from
//! that one.

/// Calls the macro `$with` with the list.
///
/// For an algorithm `reduce`, the kernels are in `gpu::reduce` and the PTX is in `gpu/ptx/reduce.sm_<arch>.ptx`. Its
/// module here has an extension trait that adds the algorithm to a device.
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
