//! Reads the output of `cargo metadata` for the kernel crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use serde_json::Value;

use crate::TARGET;
use crate::command;
use crate::error::{BuildError, CargoFailure};
use crate::options::Options;
use crate::sources::{Kernels, SourceFile};

/// The crate name of the library whose attribute makes kernels.
const KERNELS_NEED: &str = "cuda_std";

/// The kernel crate and its workspace.
#[derive(Debug)]
pub(crate) struct Package {
    /// The package's name, for `cargo rustc --package`.
    pub name: String,
    pub library: Library,
    /// The libraries that the crate depends on and that may contain kernels, because they depend on `cuda_std`.
    pub libraries: Vec<KernelLibrary>,
    /// `cuda_std`, if the crate depends on it, directly or not.
    pub device_library: Option<KernelLibrary>,
    pub manifest: PathBuf,
    /// The workspace's folder, to which the paths of the crate's files and dependencies are relative.
    pub workspace_root: PathBuf,
    pub target_directory: PathBuf,
}

impl Package {
    /// Returns the manifest of the crate in folder `path`, or `path` itself if it is a manifest.
    pub(crate) fn manifest(path: &Path) -> Result<PathBuf, BuildError> {
        let manifest = if path.ends_with("Cargo.toml") { path.to_owned() } else { path.join("Cargo.toml") };
        manifest.canonicalize().map_err(|error| BuildError::KernelCrate {
            path: path.to_owned(),
            reason: format!("{}: {error}", manifest.display()),
        })
    }

    /// Reads the crate with this manifest by running `cargo`.
    pub(crate) fn read(manifest: &Path, cargo: &Path, rustc: &Path, options: &Options) -> Result<Package, BuildError> {
        let unusable = |reason: String| BuildError::KernelCrate { path: manifest.to_owned(), reason };
        let metadata = |arguments: &[&str]| {
            let mut command = command::clean(cargo);
            command.env("RUSTC", rustc);
            command.args(["metadata", "--format-version", "1", "--color", "never", "--manifest-path"]);
            command.arg(manifest).args(arguments);
            let output = command.output().map_err(|source| BuildError::Start { program: cargo.to_owned(), source })?;
            if !output.status.success() {
                return Err(BuildError::Cargo(Box::new(CargoFailure {
                    command: command::display(&command),
                    status: output.status,
                    stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
                })));
            }
            serde_json::from_slice::<Value>(&output.stdout)
                .map_err(|error| unusable(format!("`cargo metadata` prints no JSON: {error}")))
        };
        let mut arguments = vec!["--filter-platform", TARGET];
        arguments.extend(options.resolution());
        // Without a network, dependencies of other members of the workspace may be missing. They are not compiled.
        let metadata = metadata(&arguments).or_else(|_| metadata(&["--no-deps"]))?;
        Package::from_metadata(&metadata, manifest).map_err(unusable)
    }

    /// Returns the kernels of the crate and of each library that may contain kernels, in this order.
    pub(crate) fn kernels(&self) -> Vec<Kernels> {
        let others = self.libraries.iter().map(|found| &found.library);
        std::iter::once(&self.library).chain(others).map(|library| Kernels::search(&library.files())).collect()
    }

    fn from_metadata(metadata: &Value, manifest: &Path) -> Result<Package, String> {
        let folder = |key: &str| {
            text(&metadata[key]).map(PathBuf::from).ok_or_else(|| format!("`cargo metadata` prints no `{key}`"))
        };
        let packages = metadata["packages"].as_array().ok_or("`cargo metadata` prints no packages")?;
        let is_ours =
            |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest);
        let package = packages.iter().find(is_ours).ok_or("its manifest is a workspace without a package")?;
        let (device_libraries, libraries) = kernel_libraries(metadata, packages, &package["id"])
            .into_iter()
            .partition(KernelLibrary::is_device_library);
        let device_libraries: Vec<KernelLibrary> = device_libraries;
        Ok(Package {
            name: text(&package["name"]).ok_or("it has no name")?,
            library: Library::of(package).ok_or("it has no library target: put the kernels into `src/lib.rs`")?,
            libraries,
            device_library: device_libraries.into_iter().next(),
            manifest: manifest.to_owned(),
            workspace_root: folder("workspace_root")?,
            target_directory: folder("target_directory")?,
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns the elements of a JSON array, or none if `value` is something else.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the libraries on which the package `id` depends, directly or not, and which depend on `cuda_std` or are
/// `cuda_std` itself.
fn kernel_libraries(metadata: &Value, packages: &[Value], id: &Value) -> Vec<KernelLibrary> {
    let nodes = elements(&metadata["resolve"]["nodes"]);
    let dependencies = |id: &Value| {
        let node = nodes.iter().find(|node| node["id"] == *id);
        elements(node.map_or(&Value::Null, |node| &node["deps"]))
            .iter()
            .filter(|dependency| elements(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()))
    };
    let mut seen = BTreeSet::from([id.as_str()]);
    let mut todo = vec![id];
    let mut libraries = Vec::new();
    while let Some(id) = todo.pop() {
        let new = dependencies(id).map(|dependency| &dependency["pkg"]).filter(|package| seen.insert(package.as_str()));
        for found in new {
            todo.push(found);
            let package = packages.iter().find(|package| package["id"] == *found);
            let Some(library) = package.and_then(|package| KernelLibrary::of(metadata, package)) else { continue };
            let may_have_kernels = dependencies(found).any(|dependency| dependency["name"] == KERNELS_NEED);
            if may_have_kernels || library.is_device_library() {
                libraries.push(library);
            }
        }
    }
    libraries
}

/// A library that may contain kernels, on which the kernel crate depends.
#[derive(Debug)]
pub(crate) struct KernelLibrary {
    /// `name@version`, which selects the package in the settings of a profile.
    pub package: String,
    pub library: Library,
    pub is_in_workspace: bool,
}

impl KernelLibrary {
    fn of(metadata: &Value, package: &Value) -> Option<KernelLibrary> {
        Some(KernelLibrary {
            package: format!("{}@{}", package["name"].as_str()?, package["version"].as_str()?),
            library: Library::of(package)?,
            is_in_workspace: elements(&metadata["workspace_members"]).contains(&package["id"]),
        })
    }

    fn is_device_library(&self) -> bool {
        self.library.name == KERNELS_NEED
    }
}

/// The library target of a package.
#[derive(Debug)]
pub(crate) struct Library {
    /// The crate name, which is part of the names of its files.
    pub name: String,
    /// The root source file.
    pub root: PathBuf,
}

impl Library {
    /// Returns the library of a package, or `None` if it has none.
    fn of(package: &Value) -> Option<Library> {
        let is_library = |target: &&Value| {
            let kinds = elements(&target["kind"]);
            kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "staticlib" | "cdylib")))
        };
        let target = elements(&package["targets"]).iter().find(is_library)?;
        Some(Library { name: text(&target["name"])?.replace('-', "_"), root: text(&target["src_path"])?.into() })
    }

    /// Returns the Rust files in the folder of the root source file.
    pub(crate) fn files(&self) -> Vec<SourceFile> {
        self.root.parent().map(SourceFile::read_all).unwrap_or_default()
    }

    /// Returns the compiler flags that add crate attributes to the library: `#![no_std]` and each of `features`, unless
    /// the library's root file already has them.
    pub(crate) fn attributes(&self, features: &[&str]) -> Result<Vec<String>, BuildError> {
        let root = std::fs::read_to_string(&self.root).map_err(BuildError::io("read", &self.root))?;
        // Invalid Rust is left to the compiler to report.
        let attributes = syn::parse_file(&root).map(|file| file.attrs).unwrap_or_default();
        let says = |word: &str| attributes.iter().any(|attribute| has_word(attribute, word));
        let mut flags = Vec::new();
        if !says("no_std") {
            flags.push("-Zcrate-attr=no_std".to_owned());
        }
        let missing: Vec<&str> = features.iter().copied().filter(|feature| !says(feature)).collect();
        if !missing.is_empty() {
            flags.push(format!("-Zcrate-attr=feature({})", missing.join(", ")));
        }
        Ok(flags)
    }
}

/// Returns true if the attribute contains `word`, also inside `cfg_attr`. Documentation attributes do not count.
fn has_word(attribute: &syn::Attribute, word: &str) -> bool {
    if attribute.path().is_ident("doc") {
        return false;
    }
    let tokens = attribute.meta.to_token_stream().to_string();
    tokens.split(|c: char| !c.is_alphanumeric() && c != '_').any(|token| token == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(kind: &str) -> Value {
        serde_json::json!({
            "packages": [
                {"name": "other", "manifest_path": "/w/other/Cargo.toml", "targets": []},
                {"name": "my-kernels", "manifest_path": "/w/gpu/Cargo.toml", "targets": [
                    {"kind": ["example"], "name": "shown"},
                    {"kind": [kind], "name": "my-kernels", "src_path": "/w/gpu/src/lib.rs"},
                ]},
            ],
            "workspace_root": "/w",
            "target_directory": "/w/target",
        })
    }

    #[test]
    fn finds_the_library_of_the_crate_asked_for() {
        let package = Package::from_metadata(&metadata("lib"), Path::new("/w/gpu/Cargo.toml")).unwrap();
        assert_eq!(package.name, "my-kernels");
        assert_eq!(package.library.name, "my_kernels");
        assert_eq!(package.workspace_root, Path::new("/w"));
        assert!(package.libraries.is_empty());
    }

    #[test]
    fn libraries_that_depend_on_cuda_std_may_have_kernels() {
        let package = |name: &str| {
            let root = format!("/w/{name}/src/lib.rs");
            serde_json::json!({
                "name": name, "id": name, "version": "1.2.0", "manifest_path": format!("/w/{name}/Cargo.toml"),
                "targets": [{"kind": ["lib"], "name": name, "src_path": root}],
            })
        };
        let dependency = |name: &str, kind: Value| {
            serde_json::json!({
                "name": name.replace('-', "_"), "pkg": name, "dep_kinds": [{"kind": kind}],
            })
        };
        let normal = |name: &str| dependency(name, Value::Null);
        let packages = ["mine", "direct", "deep", "plain", "of-tests", "cuda_std"].map(package);
        let metadata = serde_json::json!({
            "packages": packages,
            "workspace_members": ["mine", "direct"],
            "resolve": {"nodes": [
                {"id": "mine", "deps": [
                    normal("cuda_std"), normal("direct"), normal("plain"), dependency("of-tests", "dev".into()),
                ]},
                {"id": "direct", "deps": [normal("cuda_std")]},
                {"id": "plain", "deps": [normal("deep")]},
                {"id": "deep", "deps": [normal("cuda_std"), normal("direct")]},
                {"id": "of-tests", "deps": [normal("cuda_std")]},
                {"id": "cuda_std", "deps": []},
            ]},
            "workspace_root": "/w",
            "target_directory": "/w/target",
        });
        let package = Package::from_metadata(&metadata, Path::new("/w/mine/Cargo.toml")).unwrap();
        let mut libraries: Vec<_> =
            package.libraries.iter().map(|found| (found.package.as_str(), found.is_in_workspace)).collect();
        libraries.sort_unstable();
        assert_eq!(libraries, [("deep@1.2.0", false), ("direct@1.2.0", true)]);
        assert_eq!(package.device_library.unwrap().package, "cuda_std@1.2.0");
    }

    #[test]
    fn says_what_is_missing() {
        let error = Package::from_metadata(&metadata("bin"), Path::new("/w/gpu/Cargo.toml")).unwrap_err();
        assert!(error.contains("no library target"), "{error}");
        let error = Package::from_metadata(&metadata("lib"), Path::new("/w/Cargo.toml")).unwrap_err();
        assert!(error.contains("without a package"), "{error}");
    }

    #[test]
    fn what_the_root_says_is_not_said_again() {
        let attributes = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("lib.rs");
            std::fs::write(&root, text).unwrap();
            Library { name: "kernels".to_owned(), root }.attributes(&["abi_ptx", "stdarch_nvptx"]).unwrap()
        };
        assert_eq!(
            attributes("//! It is no_std, without #![feature(abi_ptx)].\n"),
            ["-Zcrate-attr=no_std", "-Zcrate-attr=feature(abi_ptx, stdarch_nvptx)"]
        );
        let one = attributes("#![no_std]\n#![feature(abi_ptx)]\nfn f() {}\n");
        assert_eq!(one, ["-Zcrate-attr=feature(stdarch_nvptx)"]);
        let conditional = "#![cfg_attr(target_arch = \"nvptx64\", no_std, feature(abi_ptx, stdarch_nvptx))]\n";
        assert!(attributes(conditional).is_empty());
        assert_eq!(attributes("no Rust }").len(), 2);
    }
}
