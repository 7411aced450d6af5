//! Reads the output of `cargo metadata` for the kernel crate.

use std::path::{Path, PathBuf};

use quote::ToTokens;
use serde_json::Value;

use crate::command;
use crate::error::{BuildError, CargoFailure};

/// The kernel crate and its workspace.
#[derive(Debug)]
pub(crate) struct Package {
    /// The package's name, for `cargo rustc --package`.
    pub name: String,
    /// The library's crate name, which is part of the names of its files.
    pub library: String,
    /// The root source file of the library.
    pub root: PathBuf,
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
    pub(crate) fn read(manifest: &Path, cargo: &Path, rustc: &Path) -> Result<Package, BuildError> {
        let unusable = |reason: String| BuildError::KernelCrate { path: manifest.to_owned(), reason };
        let mut command = command::clean(cargo);
        command.env("RUSTC", rustc);
        command.args(["metadata", "--no-deps", "--format-version", "1", "--color", "never", "--manifest-path"]);
        command.arg(manifest);
        let output = command.output().map_err(|source| BuildError::Start { program: cargo.to_owned(), source })?;
        if !output.status.success() {
            return Err(BuildError::Cargo(Box::new(CargoFailure {
                command: command::display(&command),
                status: output.status,
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            })));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| unusable(format!("`cargo metadata` prints no JSON: {error}")))?;
        Package::from_metadata(&metadata, manifest).map_err(unusable)
    }

    fn from_metadata(metadata: &Value, manifest: &Path) -> Result<Package, String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let folder = |key: &str| {
            text(&metadata[key]).map(PathBuf::from).ok_or_else(|| format!("`cargo metadata` prints no `{key}`"))
        };
        let packages = metadata["packages"].as_array().ok_or("`cargo metadata` prints no packages")?;
        let is_ours =
            |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest);
        let package = packages.iter().find(is_ours).ok_or("its manifest is a workspace without a package")?;
        let name = text(&package["name"]).ok_or("it has no name")?;
        let targets = package["targets"].as_array().map_or(&[][..], Vec::as_slice);
        let library = targets
            .iter()
            .find(|target| {
                let kinds = target["kind"].as_array().map_or(&[][..], Vec::as_slice);
                kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "staticlib" | "cdylib")))
            })
            .ok_or("it has no library target: put the kernels into `src/lib.rs`")?;
        Ok(Package {
            name,
            library: text(&library["name"]).ok_or("its library has no name")?.replace('-', "_"),
            root: text(&library["src_path"]).ok_or("its library has no root file")?.into(),
            manifest: manifest.to_owned(),
            workspace_root: folder("workspace_root")?,
            target_directory: folder("target_directory")?,
        })
    }

    /// Returns those of `#![no_std]` and `features` that the library's root file lacks.
    pub(crate) fn missing<'f>(&self, features: &[&'f str]) -> Result<Missing<'f>, BuildError> {
        let root = std::fs::read_to_string(&self.root).map_err(BuildError::io("read", &self.root))?;
        // Invalid Rust is left to the compiler to report.
        let attributes = syn::parse_file(&root).map(|file| file.attrs).unwrap_or_default();
        let says = |word: &str| attributes.iter().any(|attribute| has_word(attribute, word));
        Ok(Missing {
            no_std: !says("no_std"),
            features: features.iter().copied().filter(|feature| !says(feature)).collect(),
        })
    }
}

/// The attributes that the builder must add to a crate's root.
pub(crate) struct Missing<'f> {
    pub no_std: bool,
    pub features: Vec<&'f str>,
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
        assert_eq!(package.library, "my_kernels");
        assert_eq!(package.workspace_root, Path::new("/w"));
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
        let missing = |root: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("lib.rs");
            std::fs::write(&path, root).unwrap();
            let mut package = Package::from_metadata(&metadata("lib"), Path::new("/w/gpu/Cargo.toml")).unwrap();
            package.root = path;
            let missing = package.missing(&["abi_ptx", "stdarch_nvptx"]).unwrap();
            (missing.no_std, missing.features)
        };
        assert_eq!(
            missing("//! It is no_std, without #![feature(abi_ptx)].\n"),
            (true, vec!["abi_ptx", "stdarch_nvptx"])
        );
        assert_eq!(missing("#![no_std]\n#![feature(abi_ptx)]\nfn f() {}\n"), (false, vec!["stdarch_nvptx"]));
        let conditional = "#![cfg_attr(target_arch = \"nvptx64\", no_std, feature(abi_ptx, stdarch_nvptx))]\n";
        assert_eq!(missing(conditional), (false, vec![]));
        assert!(missing("no Rust }").0);
    }
}
