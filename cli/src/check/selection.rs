//! Selects cases and kernels by the names on the command line.

use std::collections::BTreeSet;

use launch::KernelInfo;

use units::alternatives;
use workbench::case::Case;
use workbench::cases::kernels;

/// The number of known names that an error suggests.
const SUGGESTIONS: usize = 3;

/// The module of kernels that are wrong on purpose. `all` does not include it.
const FAULTS: &str = "faults";

/// The cases to run and the kernels to report on.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Selection {
    /// The indices of the cases.
    cases: BTreeSet<usize>,
    /// The kernels to report on, in the order of their modules.
    pub kernels: Vec<Family>,
}

/// A kernel with all its instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Family {
    /// The name of the kernel.
    pub name: &'static str,
    /// The name of the kernel's algorithm.
    pub algorithm: &'static str,
}

impl Family {
    fn of(kernel: &KernelInfo) -> Self {
        Self { name: kernel.family, algorithm: kernel.module.split("::").nth(1).unwrap_or(kernel.module) }
    }

    /// Returns all kernels, in the order of their modules.
    pub(super) fn all() -> Vec<Self> {
        let mut all: Vec<Self> = kernels().map(Self::of).collect();
        all.dedup();
        all
    }
}

impl Selection {
    /// Selects cases and kernels by `names`. A name is a kernel, an instance, a rung, an algorithm, or `all`, which
    /// leaves out the faulty kernels.
    ///
    /// # Errors
    /// If a name is unknown. The error suggests known names.
    pub(super) fn new(names: &[String], cases: &[Case]) -> Result<Self, String> {
        let families = Family::all();
        let (mut chosen_cases, mut chosen_kernels) = (BTreeSet::new(), BTreeSet::new());
        for name in names {
            let kernels = meant(name, &families, cases);
            let is_rung = |case: &Case| case.rung() == name || case.group() == name;
            let with_kernel = |case: &Case| case.kernels().iter().any(|kernel| kernels.contains(kernel));
            let chosen: Vec<usize> =
                (0..cases.len()).filter(|&case| is_rung(&cases[case]) || with_kernel(&cases[case])).collect();
            if chosen.is_empty() {
                return Err(unknown(name, &families, cases));
            }
            if kernels.is_empty() {
                chosen_kernels.extend(chosen.iter().flat_map(|&case| cases[case].kernels()));
            }
            // An algorithm's rungs may have kernels in other modules.
            let of_algorithm = chosen.iter().map(|&case| &cases[case]).filter(|case| case.group() == name);
            chosen_kernels.extend(of_algorithm.filter_map(|case| case.kernels().first()));
            chosen_kernels.extend(kernels);
            chosen_cases.extend(chosen);
        }
        let kernels = families.into_iter().filter(|family| chosen_kernels.contains(family.name)).collect();
        Ok(Self { cases: chosen_cases, kernels })
    }

    /// Returns the selected cases among `cases`.
    pub(super) fn cases(&self, cases: Vec<Case>) -> Vec<Case> {
        cases.into_iter().enumerate().filter(|(index, _)| self.cases.contains(index)).map(|(_, case)| case).collect()
    }
}

/// Returns the kernels that `name` selects. `name` may be a kernel, an instance, an algorithm or `all`.
fn meant(name: &str, families: &[Family], cases: &[Case]) -> BTreeSet<&'static str> {
    let tested = |family: &str| cases.iter().any(|case| case.kernels().contains(&family));
    let of_instance = kernels().find(|kernel| kernel.name == name).map(|kernel| kernel.family);
    let is_meant = |family: &Family| {
        (name == "all" && family.algorithm != FAULTS)
            || family.name == name
            || family.algorithm == name
            || of_instance == Some(family.name)
    };
    families.iter().filter(|family| is_meant(family) && tested(family.name)).map(|family| family.name).collect()
}

fn unknown(name: &str, families: &[Family], cases: &[Case]) -> String {
    let mut algorithms: Vec<&str> = Vec::new();
    for algorithm in families.iter().map(|family| family.algorithm).chain(cases.iter().map(Case::group)) {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let names = families.iter().map(|family| family.name).chain(cases.iter().map(Case::rung));
    let known: BTreeSet<&str> = names.chain(algorithms.iter().copied()).collect();
    let similarity = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), known);
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)));
    known.truncate(SUGGESTIONS);
    algorithms.push("all");
    format!(
        "no kernel, rung or algorithm is called '{name}': did you mean {}? Use an algorithm ({}), a rung of \
         `{program} list`, or a kernel of `{program} list ALGORITHM`",
        alternatives(&known),
        alternatives(&algorithms),
        program = units::program()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::cases::{catalogue, faults};

    fn all_cases() -> Vec<Case> {
        catalogue().into_iter().chain(faults()).collect()
    }

    fn select(names: &[&str]) -> Result<(usize, Vec<&'static str>), String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let cases = all_cases();
        let selection = Selection::new(&names, &cases)?;
        Ok((selection.cases.len(), selection.kernels.iter().map(|family| family.name).collect()))
    }

    #[test]
    fn all_is_every_case_and_kernel() {
        let (cases, kernels) = select(&["all"]).unwrap();
        assert_eq!(
            (cases, kernels.len()),
            (catalogue().len(), Family::all().len() - select(&["faults"]).unwrap().1.len())
        );
    }

    #[test]
    fn kernels_rungs_and_algorithms_are_meant_by_their_names() {
        assert_eq!(select(&["reduce_shuffle"]).unwrap().1, ["reduce_shuffle"]);
        assert_eq!(select(&["reduce_shuffle_f32_sum"]).unwrap().1, ["reduce_shuffle"]);
        assert_eq!(select(&["unrolled_4"]).unwrap().1, ["reduce_unrolled", "saxpy_unrolled"]);
        assert_eq!(select(&["work_efficient"]).unwrap().1, ["scan_shifted_copy", "scan_up_sweep", "scan_down_sweep"]);
        assert_eq!(
            select(&["scale"]).unwrap().1,
            ["scale_one_block", "scale_grid", "scale_vectorised", "scale_unaligned"]
        );
        let (_, matmul) = select(&["matmul"]).unwrap();
        assert!(["matmul_naive", "matmul_pack", "matmul_mma_sync"].iter().all(|kernel| matmul.contains(kernel)));
        assert_eq!(select(&["stream"]).unwrap(), (4, vec!["saxpy_grid_stride"]));
        let (both, _) = select(&["scale", "stream"]).unwrap();
        assert_eq!(both, select(&["scale"]).unwrap().0 + 4);
    }

    #[test]
    fn a_kernel_s_cases_are_all_that_launch_it() {
        let (cases, kernels) = select(&["life_unpack"]).unwrap();
        let launching = catalogue().iter().filter(|case| case.kernels().contains(&"life_unpack")).count();
        assert_eq!((cases, kernels), (launching, vec!["life_unpack"]));
        assert!(cases > 3);
    }

    #[test]
    fn what_is_unknown_is_answered_with_what_there_is() {
        let message = select(&["reduce_shufle"]).unwrap_err();
        for part in ["'reduce_shufle'", "did you mean reduce_shuffle", "probe, reduce", "stream", "all", "host list"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}
