//! Where the workspace stands and what its manifests say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::Arch;
use serde::Deserialize;

/// The architecture that every module is built for.
pub const BASELINE: Arch = Arch::Sm70;

/// The kernel crate's manifest, which says what is built.
pub const GPU_MANIFEST: &str = "gpu/Cargo.toml";

/// Features of the kernel crate that no module is built of: kernels for the tests of the simulator alone.
pub const NEVER_BUILT: [&str; 1] = ["faults"];

/// The workspace, read once.
pub struct Workspace {
    root: PathBuf,
    metadata: Metadata,
}

/// What `cargo metadata --no-deps` says of a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Metadata {
    /// Its packages.
    pub packages: Vec<Package>,
    /// The folder for build results.
    pub target_directory: PathBuf,
}

/// A package of a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The path of its manifest.
    pub manifest_path: String,
    /// Its features, each with those that it turns on.
    pub features: BTreeMap<String, Vec<String>>,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
    /// The tables of its manifest that cargo leaves to other tools.
    #[serde(default)]
    pub metadata: Option<Tables>,
}

/// What `[package.metadata]` of a manifest says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Tables {
    /// The algorithms that are built for an architecture beside the baseline.
    #[serde(default)]
    pub ptx: BTreeMap<String, Vec<String>>,
}

/// A package that another one depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// What it is called there, if that is another name.
    pub rename: Option<String>,
    /// Its folder, if it comes from one.
    pub path: Option<PathBuf>,
    /// `dev` or `build`, if it is not needed by the package itself.
    pub kind: Option<String>,
    /// The condition on the target, if there is one.
    pub target: Option<String>,
}

impl Metadata {
    /// That of the workspace in a folder.
    ///
    /// # Errors
    /// If `cargo metadata` does not run there.
    pub fn of(folder: &Path) -> Result<Metadata> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(folder)
            .output()
            .context("cannot run cargo")?;
        ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("cargo metadata gives JSON of another form")
    }
}

/// The cargo that runs this program, or else the one in PATH.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// The workspace that this program belongs to.
    ///
    /// # Errors
    /// If `cargo metadata` does not run there.
    pub fn open() -> Result<Workspace> {
        // `cargo run` names the package's folder; the folder of the build is right as well unless somebody moved it.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let package = package.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = package.parent().context("the package's folder has no parent")?.to_owned();
        let metadata = Metadata::of(&root)?;
        Ok(Workspace { root, metadata })
    }

    /// The workspace's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `cargo metadata --no-deps` says.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The folder for build results.
    pub fn target_dir(&self) -> &Path {
        &self.metadata.target_directory
    }

    /// The kernel crate's folder.
    pub fn gpu(&self) -> PathBuf {
        self.root.join("gpu")
    }

    /// The folder of the built modules.
    pub fn ptx(&self) -> PathBuf {
        self.gpu().join("ptx")
    }

    /// The kernel crate's algorithms.
    ///
    /// # Errors
    /// If `cargo metadata` does not know the kernel crate.
    pub fn algorithms(&self) -> Result<Algorithms> {
        Algorithms::from_metadata(&self.metadata)
    }
}

/// The kernel crate's features: one per algorithm. Those of [`NEVER_BUILT`] are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Algorithms {
    /// Each algorithm with the features it turns on.
    features: BTreeMap<String, Vec<String>>,
    /// The architectures beside the baseline, each with the algorithms that are built for it.
    archs: BTreeMap<Arch, BTreeSet<String>>,
}

impl Algorithms {
    fn from_metadata(metadata: &Metadata) -> Result<Algorithms> {
        let gpu =
            metadata.packages.iter().find(|package| package.name == "gpu").context("there is no package `gpu`")?;
        let mut features = gpu.features.clone();
        features.retain(|name, _| !NEVER_BUILT.contains(&name.as_str()));
        for (name, list) in &features {
            if let Some(never) = list.iter().find(|feature| NEVER_BUILT.contains(&feature.as_str())) {
                bail!("the feature `{name}` of gpu/Cargo.toml turns on `{never}`, of which no PTX is built");
            }
        }
        features.remove("default");
        ensure!(!features.is_empty(), "the package `gpu` has no feature beside `default`: there is nothing to build");
        let mut archs = BTreeMap::new();
        for (arch, names) in gpu.metadata.iter().flat_map(|tables| &tables.ptx) {
            let parsed = arch.parse::<Arch>().with_context(|| format!("[package.metadata.ptx] of {GPU_MANIFEST}"))?;
            ensure!(parsed > BASELINE, "[package.metadata.ptx] of {GPU_MANIFEST}: every module is built for {arch}");
            if let Some(name) = names.iter().find(|name| !features.contains_key(*name)) {
                bail!("[package.metadata.ptx] of {GPU_MANIFEST}: `{name}` is no feature of it");
            }
            archs.insert(parsed, names.iter().cloned().collect());
        }
        Ok(Algorithms { features, archs })
    }

    /// The architectures that an algorithm's module is built for, in their order.
    pub fn archs(&self, name: &str) -> Vec<Arch> {
        let others = self.archs.iter().filter(|(_, names)| names.contains(name)).map(|(arch, _)| *arch);
        std::iter::once(BASELINE).chain(others).collect()
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.features.keys().map(String::as_str).collect()
    }

    /// Whether there is such an algorithm.
    pub fn contains(&self, name: &str) -> bool {
        self.features.contains_key(name)
    }

    /// An algorithm and all those which it turns on.
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

    /// `chosen` if all of them are algorithms, all algorithms if none is chosen.
    ///
    /// # Errors
    /// If one of them is no algorithm.
    pub fn choose<'a>(&'a self, chosen: &'a [String]) -> Result<Vec<&'a str>> {
        if chosen.is_empty() {
            return Ok(self.names());
        }
        for name in chosen {
            if NEVER_BUILT.contains(&name.as_str()) {
                bail!("no PTX is built of `{name}`: its kernels are faulty, and run in the simulator's tests alone");
            }
            if !self.contains(name) {
                bail!("`{name}` is no feature of gpu/Cargo.toml; there are {}", self.names().join(", "));
            }
        }
        Ok(chosen.iter().map(String::as_str).collect())
    }
}

/// The name of a module's file in `gpu/ptx`.
pub fn file_name(algorithm: &str, arch: Arch) -> String {
    format!("{algorithm}.{arch}.ptx")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The algorithms of a kernel crate with these features.
    fn of(features: &[(&str, &[&str])]) -> Result<Algorithms> {
        let owned =
            |&(name, list): &(&str, &[&str])| (name.to_owned(), list.iter().map(|&one| one.to_owned()).collect());
        let gpu =
            Package { name: "gpu".to_owned(), features: features.iter().map(owned).collect(), ..Package::default() };
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
            let gpu = Package { name: "gpu".to_owned(), features, metadata, ..Package::default() };
            Algorithms::from_metadata(&Metadata { packages: vec![gpu], ..Metadata::default() })
        };
        let algorithms = with("sm_90", "life").unwrap();
        assert_eq!(algorithms.archs("life"), [Arch::Sm70, Arch::Sm90]);
        assert_eq!(algorithms.archs("scan"), [Arch::Sm70]);
        for (arch, name, expected) in [
            ("sm_90", "lief", "`lief` is no feature"),
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
        assert!(error.contains("no PTX is built of `faults`"), "{error}");
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
