//! The algorithms: the one place that lists them.

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
            images: &[
                ::launch::PtxImage::deflated(
                    70,
                    include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".sm_70.ptx")),
                ),
                ::launch::PtxImage::deflated(
                    90,
                    include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".sm_90.ptx")),
                ),
            ],
        }
    };
}

use launch::PtxModule;

catalogue! { declare }
