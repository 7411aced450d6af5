//! The algorithms: the one place that lists them.
//!
//! # Design
//!
//! The algorithms are listed only here; everything else about one is in its own folder. The PTX modules and the prelude
//! follow from the list. The workbench has a list of the same kind, which adds Life and the probes and from which the
//! program's commands follow.

/// Gives the list to the macro `$with`.
///
/// An algorithm `reduce` has its kernels in `gpu::reduce`, its PTX in `gpu/ptx/reduce.sm_<arch>.ptx`, and a module of
/// that name here, with an extension trait that adds it to a device.
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
