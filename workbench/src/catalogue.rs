//! The algorithms, and all kernels with their PTX: the one place that lists them.

/// Gives the list to the macro `$with`: the algorithms, and after `;` the modules of kernels that are none.
macro_rules! catalogue {
    ($with:ident) => {
        $with! { histogram life reduce saxpy scale scan transpose; probe }
    };
}

macro_rules! declare {
    ($($name:ident)+; $($other:ident)*) => {
        /// The algorithms.
        pub const ALGORITHMS: &[&dyn Algorithm] = &[$(&crate::$name::Algorithm),+];

        /// The kernels of these modules, in alphabetical order of the modules.
        pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
            let mut modules = [$((stringify!($name), gpu::$name::KERNELS),)+ $((stringify!($other), gpu::$other::KERNELS),)*];
            modules.sort_unstable_by_key(|(name, _)| *name);
            modules.into_iter().flat_map(|(_, kernels)| kernels).copied()
        }

        /// The path of each module and the purpose of its kernels, in a sentence.
        pub const SUMMARIES: &[(&str, &str)] = &[
            $((concat!("gpu::", stringify!($name)), gpu::$name::SUMMARY),)+
            $((concat!("gpu::", stringify!($other)), gpu::$other::SUMMARY),)*
        ];
    };
}

use launch::{KernelInfo, PtxModule};

use crate::algorithm::Algorithm;
use crate::case::Case;
use crate::scaling::ScalingWork;

catalogue! { declare }

/// The PTX of all kernels, for [`launch::Device::open`].
pub static MODULES: &[PtxModule] = &{
    const PROBE: PtxModule = gridstride::embedded_module!(probe);
    let mut all = [PROBE; life::MODULES.len() + 1];
    let mut i = 0;
    while i < life::MODULES.len() {
        all[i] = life::MODULES[i];
        i += 1;
    }
    all
};

/// Returns the algorithm of that name.
pub fn find(name: &str) -> Option<&'static dyn Algorithm> {
    ALGORITHMS.iter().copied().find(|algorithm| algorithm.name() == name)
}

/// Returns launches that reach each barrier and branch of every algorithm's kernels.
pub fn cases() -> Vec<Case> {
    ALGORITHMS.iter().flat_map(|algorithm| algorithm.cases()).collect()
}

/// Returns the measurements on several devices, each with its algorithm.
pub fn scaling_works() -> Vec<(&'static dyn Algorithm, ScalingWork)> {
    let of =
        |&algorithm: &'static &dyn Algorithm| algorithm.scaling_works().into_iter().map(move |work| (algorithm, work));
    ALGORITHMS.iter().flat_map(of).collect()
}

/// Returns in a sentence what the kernels of the algorithm of that name compute.
pub fn summary(name: &str) -> &'static str {
    SUMMARIES.iter().find(|(path, _)| path.rsplit("::").next() == Some(name)).map_or("", |(_, summary)| summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments that a ladder writes must be those of an instance.
    #[test]
    fn every_kernel_of_a_rung_has_an_instance() {
        for rung in ALGORITHMS.iter().flat_map(|algorithm| algorithm.rungs()) {
            for (kernel, family) in rung.kernels.iter().zip(rung.families) {
                assert!(kernel.entries().next().is_some(), "{} {}: {family}", rung.algorithm, rung.name);
            }
        }
    }

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
