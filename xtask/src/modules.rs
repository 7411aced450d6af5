//! Reads the checked-in modules in `gpu/ptx`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cuda_builder::{Arch, Header};

use crate::workspace::{Algorithms, Workspace};

/// A checked-in PTX module.
pub struct Module {
    /// The name of the module's file in `gpu/ptx`.
    pub file: String,
    /// The path of the module's file.
    pub path: PathBuf,
    /// The algorithm whose kernels the module contains.
    pub algorithm: String,
    /// The architecture for which the module was built.
    pub arch: Arch,
    /// The text of the module, including the header. Lines end with a line feed.
    pub text: String,
    /// The parsed header of the module.
    pub header: Header,
}

impl Module {
    /// Reads the module of an algorithm for an architecture.
    ///
    /// # Errors
    /// If the file cannot be read or has no header.
    pub fn read(workspace: &Workspace, algorithm: &str, arch: Arch) -> Result<Module> {
        let file = file_name(algorithm, arch);
        let path = workspace.ptx().join(&file);
        let text = fs::read_to_string(&path).map(|text| text.replace("\r\n", "\n"));
        let text = text.with_context(|| format!("cannot read {file}; `cargo xtask build-ptx` makes it"))?;
        let header = Header::parse(&text).with_context(|| {
            format!("{file} has no header, so `cargo xtask build-ptx` did not write it: run that command")
        })?;
        Ok(Module { file, path, algorithm: algorithm.to_owned(), arch, text, header })
    }
}

/// Returns the algorithm and the architecture of every module that must exist.
pub fn expected(algorithms: &Algorithms) -> Vec<(String, Arch)> {
    let modules = |name: &str| algorithms.archs(name).into_iter().map(|arch| (name.to_owned(), arch)).collect();
    algorithms.names().into_iter().flat_map(|name| -> Vec<_> { modules(name) }).collect()
}

/// Returns the PTX files in `folder` that are not modules of the present algorithms.
///
/// # Errors
/// If the folder cannot be listed.
pub fn unexpected(folder: &Path, algorithms: &Algorithms) -> Result<Vec<String>> {
    let expected: Vec<String> = expected(algorithms).iter().map(|(name, arch)| file_name(name, *arch)).collect();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let name = entry.context("cannot list the modules")?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".ptx") && !expected.contains(&name) {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the name of a module's file in `gpu/ptx`.
pub fn file_name(algorithm: &str, arch: Arch) -> String {
    format!("{algorithm}.{arch}.ptx")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unexpected_modules_are_found() {
        let algorithms = Workspace::open().unwrap().algorithms().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), "").unwrap();
        expected(&algorithms).iter().for_each(|(name, arch)| write(&file_name(name, *arch)));
        write("README.md");
        assert!(unexpected(folder.path(), &algorithms).unwrap().is_empty());
        let files = ["faults.sm_70.ptx", "life.sm_35.ptx", "old.sm_70.ptx"];
        files.iter().for_each(|name| write(name));
        assert_eq!(unexpected(folder.path(), &algorithms).unwrap(), files);
    }
}
