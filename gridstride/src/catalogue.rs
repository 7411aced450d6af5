//! The algorithms: the one place that lists them.

/// Gives the list to the macro `$with`: the algorithms, and after `;` the modules of kernels that are none.
///
/// An algorithm `reduce` has its kernels in `gpu::reduce`, its PTX in `gpu/ptx/reduce.sm_<arch>.ptx`, and a module of that
/// name here, with an [`Algorithm`](crate::algorithm::Algorithm) and the `Face` that it adds to a device.
macro_rules! catalogue {
    ($with:ident) => {
        $with! { histogram life reduce saxpy scale scan transpose; probe }
    };
}

macro_rules! declare {
    ($($name:ident)+; $($other:ident)*) => {
        /// The PTX of the kernels of the crate `gpu`, for [`launch::Device::open`].
        pub static MODULES: &[PtxModule] = &[$(module!($name),)+ $(module!($other),)*];

        /// The algorithms.
        pub const ALGORITHMS: &[&dyn Algorithm] = &[$(&crate::$name::Algorithm),+];

        /// The kernels of these modules, in alphabetical order of the modules.
        pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
            let mut modules = [$((stringify!($name), gpu::$name::KERNELS),)+ $((stringify!($other), gpu::$other::KERNELS),)*];
            modules.sort_unstable_by_key(|(name, _)| *name);
            modules.into_iter().flat_map(|(_, kernels)| kernels).copied()
        }

        /// What each module's kernels are for: the module's path, and a sentence.
        pub const SUMMARIES: &[(&str, &str)] = &[
            $((concat!("gpu::", stringify!($name)), gpu::$name::SUMMARY),)+
            $((concat!("gpu::", stringify!($other)), gpu::$other::SUMMARY),)*
        ];
    };
}

macro_rules! module {
    ($name:ident) => {
        PtxModule {
            path: concat!("gpu::", stringify!($name)),
            images: &[
                PtxImage::deflated(70, include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".sm_70.ptx"))),
                PtxImage::deflated(90, include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".sm_90.ptx"))),
            ],
        }
    };
}

use launch::{KernelInfo, PtxImage, PtxModule};

use crate::algorithm::Algorithm;
use crate::case::Case;
use crate::split::scaling::ScalingWork;

catalogue! { declare }

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static dyn Algorithm> {
    ALGORITHMS.iter().copied().find(|algorithm| algorithm.name() == name)
}

/// Launches that reach each barrier and branch of every algorithm's kernels.
pub fn cases() -> Vec<Case> {
    ALGORITHMS.iter().flat_map(|algorithm| algorithm.cases()).collect()
}

/// What is measured on several devices, and of which algorithm.
pub fn scaling_works() -> Vec<(&'static dyn Algorithm, ScalingWork)> {
    let of =
        |&algorithm: &'static &dyn Algorithm| algorithm.scaling_works().into_iter().map(move |work| (algorithm, work));
    ALGORITHMS.iter().flat_map(of).collect()
}

/// What the kernels of the algorithm of that name compute, in a sentence.
pub fn summary(name: &str) -> &'static str {
    SUMMARIES.iter().find(|(path, _)| path.rsplit("::").next() == Some(name)).map_or("", |(_, summary)| summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose module is in no list could be launched in the simulator alone.
    #[test]
    fn every_kernel_has_a_module() {
        let mut missing: Vec<_> = kernels().map(|kernel| kernel.name).collect();
        for module in MODULES {
            for image in module.images {
                let text = image.text();
                for kernel in kernels().filter(|kernel| kernel.module.starts_with(module.path)) {
                    let entry = format!(".entry {}(", kernel.name);
                    assert!(text.contains(&entry), "{} is not in {} for sm_{}", kernel.name, module.path, image.arch);
                    missing.retain(|name| *name != kernel.name);
                }
            }
        }
        assert!(missing.is_empty(), "in no module: {missing:?}");
    }
}
