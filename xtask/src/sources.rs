//! Computes the hashes that record the origin of a module: the hash of its sources and that of its text.
//!
//! The hash of the sources covers the names and the tokens of the files. The hash leaves out everything that cannot
//! change the module's text: comments, documentation, spaces, tests, faulty kernels, code for the host, and other
//! algorithms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::syntax;
use crate::workspace::{Algorithms, GPU_PACKAGE, Metadata, NEVER_BUILT, Workspace};

/// The files of `cuda_builder` that affect the text of every module.
const BUILDER: &[&str] = &[
    "crates/cuda_builder/src/arch.rs",
    "crates/cuda_builder/src/invocation.rs",
    "crates/cuda_builder/src/options.rs",
    "crates/cuda_builder/src/postprocess",
];

/// The folders that are compiled only for the host.
const HOST_ONLY: &[&str] = &["crates/cuda_math/src/backend/simulated", "crates/cuda_std/src/backend/simulated"];

/// The folder of the kernels.
pub const GPU_SOURCES: &str = "gpu/src/";

/// Returns the hash of the sources of each algorithm's modules: `sha256:` and 64 hexadecimal digits.
///
/// # Errors
/// If a source cannot be read or is not valid Rust.
pub fn hashes(workspace: &Workspace, algorithms: &Algorithms) -> Result<BTreeMap<String, String>> {
    // Most files belong to every module, so each file is read once.
    let mut contents: BTreeMap<String, String> = BTreeMap::new();
    let mut hashes = BTreeMap::new();
    for algorithm in algorithms.names() {
        let files = files(workspace, algorithms, algorithm)?;
        for file in &files {
            if !contents.contains_key(file) {
                let path = workspace.root().join(file);
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let content = content(file, &text).with_context(|| format!("cannot read {}", path.display()))?;
                contents.insert(file.clone(), content);
            }
        }
        let of_algorithm = files.iter().filter_map(|file| contents.get_key_value(file));
        hashes.insert(algorithm.to_owned(), digest(of_algorithm.map(|(file, text)| (file.as_str(), text.as_str()))));
    }
    Ok(hashes)
}

/// Returns the source files of `algorithm`'s modules, as paths from the workspace's root, with slashes.
///
/// # Errors
/// If a folder cannot be listed.
pub fn files(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let packages = device_packages(workspace.metadata());
    let of_packages =
        packages.iter().flat_map(|folder| ["Cargo.toml", "build.rs", "src"].map(|part| folder.join(part)));
    let builder = BUILDER.iter().map(|input| workspace.root().join(input));
    for input in of_packages.chain(builder).filter(|input| input.exists()) {
        collect(&input, workspace.root(), &mut files)?;
    }
    let needed = algorithms.with_needed(algorithm);
    files.retain(|file| {
        is_input(file) && folder_of_algorithm(file, algorithms).is_none_or(|name| needed.contains(name))
    });
    files.sort();
    Ok(files)
}

/// Returns the folders of the kernel crate and of the local packages that it uses on a GPU.
fn device_packages(metadata: &Metadata) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let mut open = vec![GPU_PACKAGE];
    while let Some(name) = open.pop() {
        let Some(package) = metadata.packages.iter().find(|package| package.name == name) else { continue };
        if let Some(folder) = Path::new(&package.manifest_path).parent()
            && folders.insert(folder.to_owned())
        {
            let is_needed =
                |target: Option<&str>| target.is_none_or(|target| !target.contains("not(target_arch = \"nvptx64\")"));
            let ours =
                package.dependencies.iter().filter(|one| one.path.is_some() && one.kind.as_deref() != Some("dev"));
            open.extend(ours.filter(|one| is_needed(one.target.as_deref())).map(|one| one.name.as_str()));
        }
    }
    folders
}

/// Appends the Rust files and manifests at or below `path` to `files`, as paths from `root` with slashes.
fn collect(path: &Path, root: &Path, files: &mut Vec<String>) -> Result<()> {
    let context = || format!("cannot read {}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(context)? {
            collect(&entry.with_context(context)?.path(), root, files)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") || path.ends_with("Cargo.toml") {
        let relative = path.strip_prefix(root).with_context(context)?;
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        files.push(parts.join("/"));
    }
    Ok(())
}

/// Returns the text of a file to hash: the tokens of Rust code without documentation, or the lines of a manifest
/// without comments.
fn content(file: &str, text: &str) -> Result<String> {
    if !file.ends_with(".rs") {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        return Ok(lines.collect::<Vec<_>>().join("\n"));
    }
    Ok(syntax::code(text)?.into_iter().map(|token| token.text + "\n").collect())
}

fn is_input(file: &str) -> bool {
    let is_test = file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"));
    let is_never_built = NEVER_BUILT.iter().any(|name| file.starts_with(&format!("{GPU_SOURCES}{name}/")));
    !is_test && !is_never_built && !HOST_ONLY.iter().any(|prefix| file.starts_with(prefix))
}

/// Returns the algorithm whose folder or file in `gpu/src` contains this file. Returns `None` if all algorithms share
/// the file.
fn folder_of_algorithm<'a>(file: &'a str, algorithms: &Algorithms) -> Option<&'a str> {
    let first = file.strip_prefix(GPU_SOURCES)?.split('/').next()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    algorithms.contains(name).then_some(name)
}

fn digest<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut hasher = Sha256::new();
    for part in files.flat_map(|(name, content)| [name, content]) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    named(hasher)
}

/// Returns the hash of a module's text below the header, in the form of [`hashes`].
pub fn text_hash(text: &str) -> String {
    named(Sha256::new_with_prefix(text))
}

fn named(hasher: Sha256) -> String {
    let mut hash = String::from("sha256:");
    for byte in hasher.finalize() {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> String {
        let contents: Vec<_> = files.iter().map(|(name, text)| (*name, content(name, text).unwrap())).collect();
        digest(contents.iter().map(|(name, content)| (*name, content.as_str())))
    }

    #[test]
    fn every_name_and_token_counts() {
        let hash = of(&[("a.rs", "one two"), ("b.rs", "")]);
        assert_eq!(hash.len(), "sha256:".len() + 64);
        for other in [
            &[("a.rs", "one"), ("b.rs", "")][..],
            &[("c.rs", "one two"), ("b.rs", "")],
            &[("a.rs", "one"), ("b.rs", "two")],
            &[("a.rs", "one two")],
            &[("a.rs", "onetwo"), ("b.rs", "")],
        ] {
            assert_ne!(hash, of(other), "{other:?}");
        }
        assert_ne!(of(&[("a.rs", "f(\"a\")")]), of(&[("a.rs", "f(\"a \")")]));
        assert_ne!(of(&[("a.rs", "#[inline] fn a() {}")]), of(&[("a.rs", "fn a() {}")]));
        assert!(content("a.rs", "fn (").is_err());
    }

    #[test]
    fn comments_documentation_and_spaces_do_not_count() {
        let plain = of(&[("a.rs", "fn a() { b(); }\nstruct C { d: u8 }\n")]);
        let documented = "//! File.\r\n\r\n/// Does *a*.\r\nfn a()\r\n{\r\n    // Why.\r\n    b(); /* c */\r\n}\r\n\
            #[doc = \"C.\"]\nstruct C {\n    /** D. */\n    d: u8\n}";
        assert_eq!(plain, of(&[("a.rs", documented)]));
        let manifest = "[features]\nlife = []\n";
        assert_eq!(
            of(&[("Cargo.toml", manifest)]),
            of(&[("Cargo.toml", "# Ours.\r\n[features]\r\n\r\nlife = []\r\n")])
        );
        assert_ne!(of(&[("Cargo.toml", manifest)]), of(&[("Cargo.toml", "[features]\nlife = [\"scan\"]\n")]));
    }

    #[test]
    fn what_the_kernels_need_on_a_gpu_is_found_by_the_manifests() {
        let workspace = Workspace::open().unwrap();
        let folders = device_packages(workspace.metadata());
        for (folder, is_needed) in
            [("gpu", true), ("crates/cuda_std", true), ("crates/cuda_std_macros", true), ("crates/simt", false)]
        {
            assert_eq!(folders.contains(&workspace.root().join(folder)), is_needed, "{folder}");
        }
    }

    #[test]
    fn a_text_s_hash_is_sha_256() {
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(text_hash("abc"), expected);
    }

    #[test]
    fn tests_and_the_host_s_side_are_no_input() {
        assert!(is_input("crates/cuda_std/src/backend/ptx/atomic.rs"));
        assert!(is_input("crates/cuda_std/src/backend/mod.rs"));
        assert!(!is_input("crates/cuda_std/src/backend/simulated/mod.rs"));
        assert!(!is_input("crates/cuda_std/src/backend/simulated/warp.rs"));
        assert!(!is_input("crates/cuda_std/tests/kernel.rs"));
        assert!(!is_input("gpu/src/faults/prefix.rs") && is_input("gpu/src/life/mod.rs"));
        assert!(!is_input("crates/cuda_builder/src/postprocess/tests.rs"));
    }

    #[test]
    fn the_workspace_has_sources_for_each_algorithm() {
        let workspace = Workspace::open().unwrap();
        let algorithms = workspace.algorithms().unwrap();
        let hashes = hashes(&workspace, &algorithms).unwrap();
        let distinct: BTreeSet<&String> = hashes.values().collect();
        assert_eq!(distinct.len(), algorithms.names().len(), "two algorithms have the same sources");
        for name in algorithms.names() {
            let file = format!("gpu/src/{name}/mod.rs");
            assert_eq!(folder_of_algorithm(&file, &algorithms), Some(name));
        }
        assert_eq!(folder_of_algorithm("gpu/src/lib.rs", &algorithms), None);
        assert_eq!(folder_of_algorithm("crates/cuda_std/src/life.rs", &algorithms), None);
    }

    #[test]
    fn what_all_algorithms_share_is_an_input_of_each() {
        let workspace = Workspace::open().unwrap();
        let algorithms = workspace.algorithms().unwrap();
        for name in algorithms.names() {
            let files = files(&workspace, &algorithms, name).unwrap();
            for shared in ["gpu/Cargo.toml", "gpu/src/lib.rs", "gpu/src/operator.rs", "crates/cuda_std/src/warp/mod.rs"]
            {
                assert!(files.iter().any(|file| file == shared), "{name}: {shared}");
            }
            let folders = algorithms.with_needed(name);
            for other in algorithms.names().into_iter().filter(|other| !folders.contains(other)) {
                assert!(!files.contains(&format!("gpu/src/{other}/mod.rs")), "{name}: {other}");
            }
        }
    }
}
