//! The list of the algorithms, and of all kernels with their PTX.

/// Calls the macro `$with` with three lists, which semicolons separate: the algorithms; the modules here and in `gpu`
/// that have other kernels; and the modules of `gpu` whose kernels the algorithms also launch.
macro_rules! catalogue {
    ($with:ident) => {
        $with! {
            by_key histogram life matmul merge_sort reduce saxpy scale scan segments select sort transpose;
            probe;
            matmul_tensor matmul_warpgroup sort_cluster
        }
    };
}

macro_rules! declare {
    ($($name:ident)+; $($other:ident)*; $($launched:ident)*) => {
        /// All algorithms of the workbench.
        pub const ALGORITHMS: &[&dyn Algorithm] = &[$(&crate::$name::Algorithm),+];

        /// Returns the cases that together reach each barrier and branch of every algorithm's kernels.
        pub fn cases() -> Vec<Case> {
            [$(crate::$name::cases()),+].into_iter().flatten().collect()
        }

        /// Returns the kernels of all modules, in alphabetical order of the modules.
        pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
            let mut modules = [
                $((stringify!($name), gpu::$name::KERNELS),)+
                $((stringify!($other), gpu::$other::KERNELS),)*
                $((stringify!($launched), gpu::$launched::KERNELS),)*
            ];
            modules.sort_unstable_by_key(|(name, _)| *name);
            modules.into_iter().flat_map(|(_, kernels)| kernels).copied()
        }

        /// The path of each kernel module, with a sentence about the purpose of its kernels.
        pub const SUMMARIES: &[(&str, &str)] = &[
            $((concat!("gpu::", stringify!($name)), gpu::$name::SUMMARY),)+
            $((concat!("gpu::", stringify!($other)), gpu::$other::SUMMARY),)*
            $((concat!("gpu::", stringify!($launched)), gpu::$launched::SUMMARY),)*
        ];
    };
}

use launch::{KernelInfo, PtxModule};

use crate::algorithm::Algorithm;
use crate::case::Case;
use crate::scaling::ScalingMeasurement;

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

/// Returns the algorithm with the name `name`.
pub fn find(name: &str) -> Option<&'static dyn Algorithm> {
    ALGORITHMS.iter().copied().find(|algorithm| algorithm.name() == name)
}

/// Returns all measurements on several devices, each with its algorithm.
pub fn scaling_measurements() -> Vec<(&'static dyn Algorithm, ScalingMeasurement)> {
    let of = |&algorithm: &'static &dyn Algorithm| {
        algorithm.scaling_measurements().into_iter().map(move |work| (algorithm, work))
    };
    ALGORITHMS.iter().flat_map(of).collect()
}

/// Returns the sentence about the kernels of the algorithm `name`, or an empty text for an unknown name.
pub fn summary(name: &str) -> &'static str {
    SUMMARIES.iter().find(|(path, _)| path.rsplit("::").next() == Some(name)).map_or("", |(_, summary)| summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every kernel of a rung has an instance. Otherwise a ladder would name generic arguments that no
    /// kernel is built for.
    #[test]
    fn every_kernel_of_a_rung_has_an_instance() {
        for rung in ALGORITHMS.iter().flat_map(|algorithm| algorithm.rungs()) {
            for (kernel, family) in rung.kernels.iter().zip(rung.families) {
                assert!(kernel.entries().next().is_some(), "{} {}: {family}", rung.algorithm, rung.name);
            }
        }
    }

    /// Checks that every kernel is in the PTX of a listed module. Otherwise it could only run in the simulator.
    #[test]
    fn every_kernel_has_a_module() {
        let mut missing: Vec<_> = kernels().map(|kernel| kernel.name).collect();
        for module in MODULES {
            for image in module.images {
                let text = image.text();
                for kernel in kernels().filter(|kernel| module.contains(kernel.module)) {
                    let entry = format!(".entry {}(", kernel.name);
                    assert!(text.contains(&entry), "{} is not in {} for sm_{}", kernel.name, module.path, image.arch);
                    missing.retain(|name| *name != kernel.name);
                }
            }
        }
        assert!(missing.is_empty(), "in no module: {missing:?}");
    }
}
