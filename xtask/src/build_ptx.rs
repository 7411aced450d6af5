//! `build-ptx`: compiles the kernels into `gpu/ptx`.
//!
//! # Design
//!
//! PTX is checked in, as the output of a generator is: the program needs no PTX compiler to build. This crate does not
//! depend on `gridstride`, which embeds the PTX. `check-ptx` compares the hashes of the sources and of the text that
//! each file records, and builds again where it finds the same compiler.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cuda_builder::{Arch, CudaBuilder, Header, Toolchain};

use crate::parallel;
use crate::sources;
use crate::stamps::Stamps;
use crate::workspace::{Algorithms, Workspace, file_name};

/// A module just built.
pub struct Module {
    /// Its file's name in `gpu/ptx`.
    pub file: String,
    /// Its text.
    pub ptx: String,
    /// How long it took.
    pub time: Duration,
}

/// Builds one algorithm's module for one architecture.
///
/// # Errors
/// If the sources do not compile.
pub fn module(workspace: &Workspace, toolchain: &Toolchain, algorithm: &str, arch: Arch) -> Result<Module> {
    let start = Instant::now();
    let output = CudaBuilder::new(workspace.gpu())
        .toolchain(toolchain.clone())
        .arch(arch)
        .default_features(false)
        .features([algorithm])
        // Both devices are to compute the same bits.
        .fma_contraction(false)
        .locked(true)
        .target_dir(workspace.target_dir().join("ptx"))
        .build()
        .with_context(|| format!("building {algorithm} for {arch}"))?;
    let ptx = with_text_hash(&output.ptx).context("the built PTX has no header")?;
    Ok(Module { file: file_name(algorithm, arch), ptx, time: start.elapsed() })
}

/// Records in a module's header the hash of what is below it; `None` if it has no header.
pub fn with_text_hash(ptx: &str) -> Option<String> {
    let (header, text) = Header::split(ptx)?;
    let header = Header { text: Some(sources::text_hash(text)), ..header };
    Some(format!("{header}{text}"))
}

/// Builds the `chosen` algorithms, or all of them, and replaces the files whose text changed once every build has
/// succeeded. With all of them, files of algorithms that are no more are removed.
///
/// # Errors
/// If there is no compiler for it, a name is no algorithm, the sources do not compile, or a file cannot be written.
pub fn run(workspace: &Workspace, chosen: &[String]) -> Result<()> {
    let algorithms = workspace.algorithms()?;
    let names = algorithms.choose(chosen)?;
    let toolchain = Toolchain::find(&workspace.gpu())?;
    println!("{}", toolchain.version());
    // Before the build: what changes meanwhile is not stamped.
    let present = sources::hashes(workspace, &algorithms)?;
    let folder = workspace.ptx();

    // Builds for one architecture wait for each other, as they share a folder and with it the compiled `core`.
    let archs: BTreeSet<Arch> = names.iter().flat_map(|name| algorithms.archs(name)).collect();
    let of_arch = parallel::map(&Vec::from_iter(archs), |&arch| {
        let build = |name: &&str| {
            let module = module(workspace, &toolchain, name, arch)?;
            let seconds = module.time.as_secs_f64();
            let note = if is_changed(&folder, &module) { "" } else { ", unchanged" };
            println!("{:<24} {:>8} bytes {seconds:>6.1} s{note}", module.file, module.ptx.len());
            Ok(module)
        };
        names.iter().filter(|name| algorithms.archs(name).contains(&arch)).map(build).collect::<Result<Vec<Module>>>()
    });
    let modules = of_arch.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>();

    replace(&folder, &modules)?;
    let mut stamps = Stamps::read(&folder)?;
    stamps.0.extend(present.into_iter().filter(|(name, _)| names.contains(&name.as_str())));
    stamps.0.retain(|name, _| algorithms.contains(name));
    stamps.write(&folder)?;
    if chosen.is_empty() {
        for name in strangers(&folder, &algorithms)? {
            let path = folder.join(&name);
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            println!("{name:<24} removed: no such algorithm or architecture");
        }
    }
    Ok(())
}

/// Whether a module is another than the one in the folder.
fn is_changed(folder: &Path, module: &Module) -> bool {
    // A checkout may have other line ends.
    fs::read_to_string(folder.join(&module.file)).map(|text| text.replace("\r\n", "\n")).ok().as_ref()
        != Some(&module.ptx)
}

/// Writes all modules that changed beside their places first, then moves them there.
fn replace(folder: &Path, modules: &[Module]) -> Result<()> {
    let modules: Vec<&Module> = modules.iter().filter(|module| is_changed(folder, module)).collect();
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let partial = |module: &Module| folder.join(format!(".{}.{}.partial", module.file, std::process::id()));
    let write = |module: &Module| {
        let path = partial(module);
        fs::write(&path, &module.ptx).with_context(|| format!("cannot write {}", path.display()))
    };
    let placed = modules.iter().copied().try_for_each(write).and_then(|()| {
        modules.iter().copied().try_for_each(|module| {
            let path = folder.join(&module.file);
            fs::rename(partial(module), &path).with_context(|| format!("cannot write {}", path.display()))
        })
    });
    if placed.is_err() {
        for module in modules {
            let _ = fs::remove_file(partial(module));
        }
    }
    placed
}

/// The names of all modules that there should be.
pub fn expected(algorithms: &Algorithms) -> Vec<(String, String, Arch)> {
    let mut files = Vec::new();
    for name in algorithms.names() {
        for arch in algorithms.archs(name) {
            files.push((file_name(name, arch), name.to_owned(), arch));
        }
    }
    files
}

/// The PTX files in `folder` that are no module of the present algorithms.
///
/// # Errors
/// If the folder cannot be listed.
pub fn strangers(folder: &Path, algorithms: &Algorithms) -> Result<Vec<String>> {
    let entries: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(list) => list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
    .with_context(|| format!("cannot list {}", folder.display()))?;
    let expected = expected(algorithms);
    let names = entries.iter().filter_map(|path| path.file_name()?.to_str()).filter(|name| name.ends_with(".ptx"));
    let mut strangers: Vec<String> =
        names.filter(|name| !expected.iter().any(|(file, ..)| file == name)).map(str::to_owned).collect();
    strangers.sort();
    Ok(strangers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_module(file: &str, ptx: &str) -> Module {
        Module { file: file.to_owned(), ptx: ptx.to_owned(), time: Duration::ZERO }
    }

    #[test]
    fn modules_are_replaced_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("ptx");
        replace(&folder, &[a_module("a.sm_70.ptx", "one"), a_module("b.sm_70.ptx", "two")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("b.sm_70.ptx")).unwrap(), "two");
        // The second cannot be written, so that the first stays as it was.
        let unwritable = a_module("no/such/folder.ptx", "");
        let error = replace(&folder, &[a_module("a.sm_70.ptx", "new"), unwritable]).unwrap_err();
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
        replace(folder.path(), &[a_module("a.sm_70.ptx", "one\n"), a_module("b.sm_70.ptx", "new\n")]).unwrap();
        assert_eq!(fs::read_to_string(path("a.sm_70.ptx")).unwrap(), "one\r\n");
        assert_eq!(fs::read_to_string(path("b.sm_70.ptx")).unwrap(), "new\n");
    }

    #[test]
    fn strangers_are_found() {
        let algorithms = Workspace::open().unwrap().algorithms().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let modules: Vec<Module> = expected(&algorithms).iter().map(|(file, ..)| a_module(file, "")).collect();
        replace(folder.path(), &modules).unwrap();
        fs::write(folder.path().join("README.md"), "").unwrap();
        assert!(strangers(folder.path(), &algorithms).unwrap().is_empty());
        replace(folder.path(), &[a_module("life.sm_35.ptx", ""), a_module("old.sm_70.ptx", "")]).unwrap();
        replace(folder.path(), &[a_module("faults.sm_70.ptx", "")]).unwrap();
        let expected = ["faults.sm_70.ptx", "life.sm_35.ptx", "old.sm_70.ptx"];
        assert_eq!(strangers(folder.path(), &algorithms).unwrap(), expected);
    }
}
