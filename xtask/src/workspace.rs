//! Describes the workspace: its folders, its packages, and the algorithms of the kernel crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::Arch;
use serde::Deserialize;

/// The architecture for which every module is built.
pub const BASELINE: Arch = Arch::Sm70;

/// The manifest of the kernel crate, which lists the modules.
pub const GPU_MANIFEST: &str = "gpu/Cargo.toml";

/// The package of the kernel crate.
pub const GPU_PACKAGE: &str = "gridstride-gpu";

/// The features of the kernel crate that have no PTX module: kernels that run only in tests of the simulator, and the
/// kernels that other crates make instances of.
pub const NEVER_BUILT: [&str; 2] = ["faults", "instances"];

/// The workspace that this program belongs to.
pub struct Workspace {
    root: PathBuf,
    metadata: Metadata,
}

/// The output of `cargo metadata` for a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Metadata {
    /// The packages of the workspace.
    pub packages: Vec<Package>,
    /// The folder for build results.
    pub target_directory: PathBuf,
}

/// A package in the output of `cargo metadata`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Package {
    /// The name of the package.
    pub name: String,
    /// The version of the package.
    pub version: String,
    /// The registries to which the package may be published; `None` for any.
    pub publish: Option<Vec<String>>,
    /// The licence as an SPDX expression.
    pub license: Option<String>,
    /// The registry or repository of the package; `None` for a local folder.
    pub source: Option<String>,
    /// The path of the package's manifest.
    pub manifest_path: String,
    /// The features of the package, each with the features that it turns on.
    pub features: BTreeMap<String, Vec<String>>,
    /// The dependencies of the package.
    pub dependencies: Vec<Dependency>,
    /// The table `[package.metadata]`, which cargo ignores.
    #[serde(default)]
    pub metadata: Option<Tables>,
}

/// The table `[package.metadata]` of a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Tables {
    /// The architectures other than the baseline, each with the algorithms that are also built for it.
    #[serde(default)]
    pub ptx: BTreeMap<String, Vec<String>>,
}

/// A dependency of a package.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Dependency {
    /// The name of the package.
    pub name: String,
    /// The name under which the package is imported, if it differs from the package's name.
    pub rename: Option<String>,
    /// The folder of a local package.
    pub path: Option<PathBuf>,
    /// The kind of dependency: `dev` or `build`; `None` for an ordinary one.
    pub kind: Option<String>,
    /// The condition on the target for which the dependency is needed.
    pub target: Option<String>,
}

/// Returns the name of a package's library: `cuda_std` for `gridstride-cuda-std`.
pub fn crate_name(package: &str) -> String {
    package.strip_prefix("gridstride-").map_or_else(|| package.to_owned(), |name| name.replace('-', "_"))
}

impl Metadata {
    /// Runs `cargo metadata` with `arguments` in a folder.
    ///
    /// # Errors
    /// If cargo fails.
    pub fn read(folder: &Path, arguments: &[&str]) -> Result<Metadata> {
        let output = cargo()
            .args(["metadata", "--format-version", "1"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .context("cannot run cargo")?;
        ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("cannot read the output of cargo metadata")
    }
}

/// Returns the command of the cargo that runs this program, or else of the cargo in PATH.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// Opens the workspace that this program belongs to.
    ///
    /// # Errors
    /// If `cargo metadata` fails.
    pub fn open() -> Result<Workspace> {
        // `cargo run` sets the variable. Without it, the folder at compile time is used.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let package = package.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = package.parent().context("the package's folder has no parent")?.to_owned();
        let metadata = Metadata::read(&root, &["--no-deps"])?;
        Ok(Workspace { root, metadata })
    }

    /// Returns the workspace's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the output of `cargo metadata --no-deps`.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the folder for build results.
    pub fn target_dir(&self) -> &Path {
        &self.metadata.target_directory
    }

    /// Returns the folder of the kernel crate.
    pub fn gpu(&self) -> PathBuf {
        self.root.join("gpu")
    }

    /// Returns the folder of the built modules.
    pub fn ptx(&self) -> PathBuf {
        self.gpu().join("ptx")
    }

    /// Returns the algorithms of the kernel crate.
    ///
    /// # Errors
    /// If the kernel crate is missing, or its manifest names no algorithm, an unknown one or a wrong architecture.
    pub fn algorithms(&self) -> Result<Algorithms> {
        Algorithms::from_metadata(&self.metadata)
    }
}

/// The algorithms: the features of the kernel crate, except `default` and [`NEVER_BUILT`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Algorithms {
    /// Each algorithm with the features that it turns on.
    features: BTreeMap<String, Vec<String>>,
    /// The architectures other than the baseline, each with the algorithms that are built for it.
    archs: BTreeMap<Arch, BTreeSet<String>>,
}

impl Algorithms {
    fn from_metadata(metadata: &Metadata) -> Result<Algorithms> {
        let gpu = metadata.packages.iter().find(|package| package.name == GPU_PACKAGE);
        let gpu = gpu.with_context(|| format!("there is no package `{GPU_PACKAGE}`"))?;
        let mut features = gpu.features.clone();
        features.retain(|name, _| !NEVER_BUILT.contains(&name.as_str()));
        for (name, list) in &features {
            if let Some(never) = list.iter().find(|feature| NEVER_BUILT.contains(&feature.as_str())) {
                bail!("the feature `{name}` of gpu/Cargo.toml turns on `{never}`, which has no PTX module");
            }
        }
        features.remove("default");
        ensure!(
            !features.is_empty(),
            "the package `{GPU_PACKAGE}` has no feature other than `default`: there is nothing to build"
        );
        let mut archs = BTreeMap::new();
        for (arch, names) in gpu.metadata.iter().flat_map(|tables| &tables.ptx) {
            let parsed = arch.parse::<Arch>().with_context(|| format!("[package.metadata.ptx] of {GPU_MANIFEST}"))?;
            ensure!(
                parsed > BASELINE,
                "[package.metadata.ptx] of {GPU_MANIFEST}: every module is built for {arch} anyway: remove it"
            );
            if let Some(name) = names.iter().find(|name| !features.contains_key(*name)) {
                bail!("[package.metadata.ptx] of {GPU_MANIFEST}: `{name}` is not a feature: correct or remove it");
            }
            archs.insert(parsed, names.iter().cloned().collect());
        }
        Ok(Algorithms { features, archs })
    }

    /// Returns the architectures for which an algorithm's module is built, in ascending order.
    pub fn archs(&self, name: &str) -> Vec<Arch> {
        let others = self.archs.iter().filter(|(_, names)| names.contains(name)).map(|(arch, _)| *arch);
        std::iter::once(BASELINE).chain(others).collect()
    }

    /// Returns the names of the algorithms, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.features.keys().map(String::as_str).collect()
    }

    /// Returns true if `name` is an algorithm.
    pub fn contains(&self, name: &str) -> bool {
        self.features.contains_key(name)
    }

    /// Returns the algorithm `name` and all algorithms whose features it turns on.
    pub fn with_needed<'a>(&'a self, name: &'a str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            if reached.insert(name) {
                let needed = self.features.get(name).into_iter().flatten().map(String::as_str);
                open.extend(needed.filter(|needed| self.contains(needed)));
            }
        }
        reached
    }

    /// Returns the `chosen` algorithms, or all algorithms if `chosen` is empty.
    ///
    /// # Errors
    /// If a name is not an algorithm.
    pub fn choose<'a>(&'a self, chosen: &'a [String]) -> Result<Vec<&'a str>> {
        if chosen.is_empty() {
            return Ok(self.names());
        }
        for name in chosen {
            if NEVER_BUILT.contains(&name.as_str()) {
                bail!("`{name}` has no PTX module; choose from {}", self.names().join(", "));
            }
            if !self.contains(name) {
                bail!("`{name}` is not a feature of gpu/Cargo.toml; choose from {}", self.names().join(", "));
            }
        }
        Ok(chosen.iter().map(String::as_str).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the algorithms of a kernel crate with these features.
    fn of(features: &[(&str, &[&str])]) -> Result<Algorithms> {
        let owned =
            |&(name, list): &(&str, &[&str])| (name.to_owned(), list.iter().map(|&one| one.to_owned()).collect());
        let features = features.iter().map(owned).collect();
        let gpu = Package { name: GPU_PACKAGE.to_owned(), features, ..Package::default() };
        Algorithms::from_metadata(&Metadata { packages: vec![gpu], ..Metadata::default() })
    }

    fn algorithms() -> Algorithms {
        of(&[("default", &["life", "scan"]), ("life", &[]), ("reduce", &[]), ("scan", &["reduce", "dep:other"])])
            .unwrap()
    }

    #[test]
    fn an_algorithm_is_a_feature_other_than_default() {
        assert_eq!(algorithms().names(), ["life", "reduce", "scan"]);
        assert!(of(&[("default", &[])]).unwrap_err().to_string().contains("nothing to build"));
    }

    #[test]
    fn a_module_is_built_for_the_baseline_and_for_what_the_manifest_adds() {
        let with = |arch: &str, name: &str| {
            let ptx = BTreeMap::from([(arch.to_owned(), vec![name.to_owned()])]);
            let features = BTreeMap::from(["life", "scan"].map(|name| (name.to_owned(), Vec::new())));
            let metadata = Some(Tables { ptx });
            let gpu = Package { name: GPU_PACKAGE.to_owned(), features, metadata, ..Package::default() };
            Algorithms::from_metadata(&Metadata { packages: vec![gpu], ..Metadata::default() })
        };
        let algorithms = with("sm_90", "life").unwrap();
        assert_eq!(algorithms.archs("life"), [Arch::Sm70, Arch::Sm90]);
        assert_eq!(algorithms.archs("scan"), [Arch::Sm70]);
        for (arch, name, expected) in [
            ("sm_90", "lief", "`lief` is not a feature"),
            ("sm_70", "life", "every module is built for sm_70"),
            ("ninety", "life", "[package.metadata.ptx]"),
        ] {
            let error = with(arch, name).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn faulty_kernels_are_never_built() {
        let apart = of(&[("default", &["life"]), ("life", &[]), ("faults", &["life"])]).unwrap();
        assert_eq!(apart.names(), ["life"]);
        let error = apart.choose(&["faults".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("`faults` has no PTX module"), "{error}");
        for (default, life) in [(&["life", "faults"][..], &[][..]), (&["life"], &["faults"])] {
            let error = of(&[("default", default), ("life", life), ("faults", &[])]).unwrap_err().to_string();
            assert!(error.contains("turns on `faults`"), "{error}");
        }
    }

    #[test]
    fn needed_algorithms_are_followed() {
        let algorithms = algorithms();
        assert_eq!(algorithms.with_needed("life"), BTreeSet::from(["life"]));
        assert_eq!(algorithms.with_needed("scan"), BTreeSet::from(["reduce", "scan"]));
    }

    #[test]
    fn a_choice_is_checked() {
        let algorithms = algorithms();
        assert_eq!(algorithms.choose(&[]).unwrap(), ["life", "reduce", "scan"]);
        assert_eq!(algorithms.choose(&["scan".to_owned()]).unwrap(), ["scan"]);
        let error = algorithms.choose(&["lief".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("`lief`") && error.contains("life, reduce, scan"), "{error}");
    }
}
