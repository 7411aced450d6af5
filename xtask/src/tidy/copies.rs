//! Checks the copies of files: a package must have some files in its own folder that are the same elsewhere in the
//! repository.
//!
//! `cargo package` takes only files below a package's folder. Symbolic links would be text files on Windows, so the
//! packages have copies.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Finding, finding};
use crate::workspace::{Package, Workspace};

/// The files of the root that each published package has.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// The project whose files the command `new` writes, and the folder of their copies. A copied manifest has another
/// name, because a package leaves out each folder that has a manifest.
const PROJECT: (&str, &str, &str) = ("examples/own-kernel", "cli/template", ".txt");

/// A file and its copy, as paths from the root.
struct Pair {
    original: PathBuf,
    copy: PathBuf,
}

/// Returns a finding for each copy that differs, and for each published package without a README.md.
///
/// # Errors
/// If a folder or a file cannot be read.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let root = workspace.root();
    let mut findings = Vec::new();
    for Pair { original, copy } in pairs(workspace)? {
        if fs::read(root.join(&copy)).ok() != Some(read(root, &original)?) {
            let message = format!("differs from {}: run `cargo xtask tidy --fix`", original.display());
            findings.push(finding(&copy.to_string_lossy().replace('\\', "/"), 1, message));
        }
    }
    for folder in published(workspace) {
        if !folder.join("README.md").exists() {
            let manifest = folder.join("Cargo.toml");
            findings.push(finding(&manifest.to_string_lossy(), 1, "the package has no README.md: write one"));
        }
    }
    Ok(findings)
}

/// Writes the copies that differ.
///
/// # Errors
/// If a file cannot be read or written.
pub(super) fn fix(workspace: &Workspace) -> Result<()> {
    let root = workspace.root();
    for Pair { original, copy } in pairs(workspace)? {
        let text = read(root, &original)?;
        if fs::read(root.join(&copy)).ok().as_ref() != Some(&text) {
            fs::write(root.join(&copy), text).with_context(|| format!("cannot write {}", copy.display()))?;
            println!("{}: copied", copy.display());
        }
    }
    Ok(())
}

fn read(root: &Path, file: &Path) -> Result<Vec<u8>> {
    fs::read(root.join(file)).with_context(|| format!("cannot read {}", file.display()))
}

/// Returns the folders of the packages that may be published.
fn published(workspace: &Workspace) -> impl Iterator<Item = &Path> {
    let is_published = |package: &&Package| package.publish.is_none();
    workspace.metadata().packages.iter().filter(is_published).filter_map(|one| Path::new(&one.manifest_path).parent())
}

fn pairs(workspace: &Workspace) -> Result<Vec<Pair>> {
    let root = workspace.root();
    let mut pairs = Vec::new();
    for folder in published(workspace) {
        let folder = folder.strip_prefix(root).context("a package is outside of the workspace's folder")?;
        pairs.extend(LICENCES.map(|name| Pair { original: name.into(), copy: folder.join(name) }));
    }
    let (original, copy, suffix) = PROJECT;
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let folder = root.join(copy).join(&below);
        let context = || format!("cannot read {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(context)? {
            let entry = entry.with_context(context)?;
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
                continue;
            }
            let name = path.to_string_lossy();
            let name = Path::new(name.strip_suffix(suffix).unwrap_or(&name));
            pairs.push(Pair { original: Path::new(original).join(name), copy: Path::new(copy).join(&path) });
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_and_the_project_are_copied() {
        let workspace = Workspace::open().unwrap();
        let copies: Vec<_> = pairs(&workspace).unwrap().into_iter().map(|pair| pair.copy).collect();
        for path in ["gpu/LICENSE-MIT", "crates/cuda_std/LICENSE-APACHE", "cli/template/kernels/Cargo.toml.txt"] {
            assert!(copies.iter().any(|copy| copy == Path::new(path)), "{path}: {copies:?}");
        }
        assert!(!copies.iter().any(|copy| copy.starts_with("host") || copy.starts_with("xtask")), "{copies:?}");
    }
}
