//! `build-ptx`: compiles the kernels to PTX in `gpu/ptx`.
//!
//! # Design
//!
//! The PTX is checked in, so that the program builds without a PTX compiler. This crate must not depend on
//! `gridstride`, because `gridstride` embeds the PTX. `check-ptx` compares the hashes of the sources and of each
//! module's text with the recorded hashes. If it finds the compiler that built the modules, it also builds them again
//! and compares the texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use cuda_builder::{Arch, CudaBuilder, Header, Toolchain};

use crate::modules::{file_name, unexpected};
use crate::parallel;
use crate::sources;
use crate::stamps::Stamps;
use crate::workspace::Workspace;

/// A module that was just built: the name of its file in `gpu/ptx`, and its text.
struct Built {
    file: String,
    ptx: String,
}

/// Builds the module of an algorithm for an architecture and returns its text.
///
/// # Errors
/// If the sources do not compile.
pub fn build(workspace: &Workspace, toolchain: &Toolchain, algorithm: &str, arch: Arch) -> Result<String> {
    let output = CudaBuilder::new(workspace.gpu())
        .toolchain(toolchain.clone())
        .arch(arch)
        .default_features(false)
        .features([algorithm])
        // Without contraction, a GPU and the simulator return the same bits.
        .fma_contraction(false)
        .locked(true)
        .target_dir(workspace.target_dir().join("ptx"))
        .build()
        .with_context(|| format!("cannot build {algorithm} for {arch}"))?;
    with_text_hash(&output.ptx).context("the built PTX has no header")
}

/// Returns the module `ptx` with the hash of its text added to its header. The hash covers the text below the header.
/// Returns `None` if the module has no header.
pub fn with_text_hash(ptx: &str) -> Option<String> {
    let (header, text) = Header::split(ptx)?;
    let header = Header { text: Some(sources::text_hash(text)), ..header };
    Some(format!("{header}{text}"))
}

/// Builds the `chosen` algorithms, or all algorithms if `chosen` is empty. If every build succeeds, writes the modules
/// whose text has changed. If all algorithms are built, removes the modules of algorithms that no longer exist.
///
/// # Errors
/// If no compiler can build PTX, a name is not an algorithm, the sources do not compile, or a file cannot be written.
pub fn run(workspace: &Workspace, chosen: &[String]) -> Result<()> {
    let algorithms = workspace.algorithms()?;
    let names = algorithms.choose(chosen)?;
    let toolchain = Toolchain::find(&workspace.gpu())?;
    println!("{}", toolchain.version());
    // The sources are hashed before the build, so that a change during the build leaves the modules outdated.
    let present = sources::hashes(workspace, &algorithms)?;
    let folder = workspace.ptx();

    // Builds for one architecture share a folder and wait for each other, so only architectures are built in parallel.
    let archs: BTreeSet<Arch> = names.iter().flat_map(|name| algorithms.archs(name)).collect();
    let of_archs = parallel::map(&Vec::from_iter(archs), |&arch| {
        let build = |name: &&str| {
            let start = Instant::now();
            let built = Built { file: file_name(name, arch), ptx: build(workspace, &toolchain, name, arch)? };
            let seconds = start.elapsed().as_secs_f64();
            let note = if is_changed(&folder, &built) { "" } else { ", unchanged" };
            println!("{:<24} {:>8} bytes {seconds:>6.1} s{note}", built.file, built.ptx.len());
            Ok(built)
        };
        names.iter().filter(|name| algorithms.archs(name).contains(&arch)).map(build).collect::<Result<Vec<Built>>>()
    });
    let modules = of_archs.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>();

    replace(&folder, &modules)?;
    let mut stamps = Stamps::read(&folder)?;
    stamps.0.extend(present.into_iter().filter(|(name, _)| names.contains(&name.as_str())));
    stamps.0.retain(|name, _| algorithms.contains(name));
    stamps.write(&folder)?;
    if chosen.is_empty() {
        for name in unexpected(&folder, &algorithms)? {
            let path = folder.join(&name);
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            println!("{name:<24} removed: no such algorithm or architecture");
        }
    }
    Ok(())
}

/// Returns true unless the folder contains the module with the same text.
fn is_changed(folder: &Path, module: &Built) -> bool {
    // A checkout may have other line ends.
    fs::read_to_string(folder.join(&module.file)).map(|text| text.replace("\r\n", "\n")).ok().as_ref()
        != Some(&module.ptx)
}

/// Writes all changed modules to temporary files, and then renames them. If a file cannot be written, no module
/// changes.
fn replace(folder: &Path, modules: &[Built]) -> Result<()> {
    let modules: Vec<&Built> = modules.iter().filter(|module| is_changed(folder, module)).collect();
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // The temporary folder is on the same file system, so that a rename moves the file.
    let partial = tempfile::tempdir_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    for module in &modules {
        let path = partial.path().join(&module.file);
        fs::write(&path, &module.ptx).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for module in &modules {
        let path = folder.join(&module.file);
        let moved = fs::rename(partial.path().join(&module.file), &path);
        moved.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(file: &str, ptx: &str) -> Built {
        Built { file: file.to_owned(), ptx: ptx.to_owned() }
    }

    #[test]
    fn modules_are_replaced_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("ptx");
        replace(&folder, &[built("a.sm_70.ptx", "one"), built("b.sm_70.ptx", "two")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("b.sm_70.ptx")).unwrap(), "two");
        // The second module cannot be written, so the first one must stay unchanged.
        let unwritable = built("no/such/folder.ptx", "");
        let error = replace(&folder, &[built("a.sm_70.ptx", "new"), unwritable]).unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        assert_eq!(fs::read_to_string(folder.join("a.sm_70.ptx")).unwrap(), "one");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn an_unchanged_module_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = |file: &str| folder.path().join(file);
        fs::write(path("a.sm_70.ptx"), "one\r\n").unwrap();
        fs::write(path("b.sm_70.ptx"), "two\n").unwrap();
        replace(folder.path(), &[built("a.sm_70.ptx", "one\n"), built("b.sm_70.ptx", "new\n")]).unwrap();
        assert_eq!(fs::read_to_string(path("a.sm_70.ptx")).unwrap(), "one\r\n");
        assert_eq!(fs::read_to_string(path("b.sm_70.ptx")).unwrap(), "new\n");
    }
}
