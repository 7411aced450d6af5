//! Where the workspace stands and what its manifests say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::Arch;
use serde_json::Value;

/// The architectures that modules are built for: the baseline, and the first whose instructions the last rungs use.
pub const ARCHS: [Arch; 2] = [Arch::Sm70, Arch::Sm90];

/// Features of the kernel crate that no module is built of: kernels for the tests of the simulator alone.
pub const NEVER_BUILT: [&str; 1] = ["faults"];

/// The workspace, read once.
pub struct Workspace {
    root: PathBuf,
    metadata: Value,
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
        let root = package.parent().context("xtask's folder has no parent")?.to_owned();
        let metadata = metadata_of(&root)?;
        Ok(Workspace { root, metadata })
    }

    /// The workspace's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `cargo metadata --no-deps` says.
    pub fn metadata(&self) -> &Value {
        &self.metadata
    }

    /// The folder for build results.
    ///
    /// # Errors
    /// If `cargo metadata` does not name it.
    pub fn target_dir(&self) -> Result<PathBuf> {
        let folder = self.metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
        Ok(PathBuf::from(folder))
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

/// The kernel crate's features: one an algorithm. Those of [`NEVER_BUILT`] are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Algorithms {
    /// Each algorithm with the features it turns on.
    features: BTreeMap<String, Vec<String>>,
}

impl Algorithms {
    fn from_metadata(metadata: &Value) -> Result<Algorithms> {
        let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let gpu = packages.iter().find(|package| package["name"] == "gpu").context("there is no package `gpu`")?;
        let listed = gpu["features"].as_object().context("the package `gpu` lists no features")?;
        let turns_on = |list: &Value| {
            let names = list.as_array().map_or(&[][..], Vec::as_slice);
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let features: BTreeMap<String, Vec<String>> = listed
            .iter()
            .filter(|(name, _)| !NEVER_BUILT.contains(&name.as_str()))
            .map(|(name, list)| (name.clone(), turns_on(list)))
            .collect();
        for (name, list) in &features {
            if let Some(never) = list.iter().find(|feature| NEVER_BUILT.contains(&feature.as_str())) {
                bail!("the feature `{name}` of gpu/Cargo.toml turns on `{never}`, of which no PTX is built");
            }
        }
        let features: BTreeMap<_, _> = features.into_iter().filter(|(name, _)| name != "default").collect();
        ensure!(!features.is_empty(), "the package `gpu` has no feature beside `default`: there is nothing to build");
        Ok(Algorithms { features })
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

/// What `cargo metadata --no-deps` says of the workspace in a folder.
///
/// # Errors
/// If `cargo metadata` does not run there.
pub fn metadata_of(folder: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(folder)
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("cargo metadata gives no JSON")
}

/// The name of a module's file in `gpu/ptx`.
pub fn file_name(algorithm: &str, arch: Arch) -> String {
    format!("{algorithm}.{arch}.ptx")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithms() -> Algorithms {
        let metadata = serde_json::json!({"packages": [{"name": "gpu", "features": {
            "default": ["life", "scan"], "life": [], "reduce": [], "scan": ["reduce", "dep:other"],
        }}]});
        Algorithms::from_metadata(&metadata).unwrap()
    }

    #[test]
    fn an_algorithm_is_a_feature_other_than_default() {
        assert_eq!(algorithms().names(), ["life", "reduce", "scan"]);
        let none = serde_json::json!({"packages": [{"name": "gpu", "features": {"default": []}}]});
        assert!(Algorithms::from_metadata(&none).unwrap_err().to_string().contains("nothing to build"));
    }

    #[test]
    fn faulty_kernels_are_never_built() {
        let of = |features| {
            Algorithms::from_metadata(&serde_json::json!({"packages": [{"name": "gpu", "features": features}]}))
        };
        let apart = of(serde_json::json!({"default": ["life"], "life": [], "faults": ["life"]})).unwrap();
        assert_eq!(apart.names(), ["life"]);
        let error = apart.choose(&["faults".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no PTX is built of `faults`"), "{error}");
        for features in [
            serde_json::json!({"default": ["life", "faults"], "life": [], "faults": []}),
            serde_json::json!({"default": ["life"], "life": ["faults"], "faults": []}),
        ] {
            assert!(of(features).unwrap_err().to_string().contains("turns on `faults`"));
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
