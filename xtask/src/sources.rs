//! The hashes that a module's header records: of the sources that it is made from, and of its own text.
//!
//! The sources' is taken over names and contents, whatever the line ends, so that it is the same in every checkout. What cannot
//! reach a module's text is left out: tests, faulty kernels, what is compiled for the host alone, and other algorithms.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::workspace::{Algorithms, NEVER_BUILT, Workspace};

/// Folders and files, from the workspace's root, whose Rust files and manifests make the text of every module.
const INPUTS: &[&str] = &[
    "gpu/Cargo.toml",
    "gpu/src",
    "crates/cuda_math",
    "crates/cuda_std",
    "crates/cuda_std_macros",
    "crates/cuda_builder/src/arch.rs",
    "crates/cuda_builder/src/invocation.rs",
    "crates/cuda_builder/src/options.rs",
    "crates/cuda_builder/src/postprocess",
];

/// Compiled for the host alone.
const HOST_ONLY: &[&str] = &["crates/cuda_math/src/backend/simulated", "crates/cuda_std/src/backend/simulated"];

/// Where the kernels are.
pub const GPU_SOURCES: &str = "gpu/src/";

/// The hash of what `algorithm`'s modules are made from, as `sha256:` and 64 hexadecimal digits.
///
/// # Errors
/// If a source cannot be read.
pub fn hash(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<String> {
    let read = |file: String| {
        let path = workspace.root().join(&file);
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((file, text))
    };
    Ok(digest(files(workspace, algorithms, algorithm)?.into_iter().map(read).collect::<Result<_>>()?))
}

/// What `algorithm`'s modules are made from, by the names from the workspace's root, with slashes.
///
/// # Errors
/// If a folder cannot be listed.
pub fn files(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for input in INPUTS {
        collect(&workspace.root().join(input), workspace.root(), &mut files)?;
    }
    let needed = algorithms.with_needed(algorithm);
    files.retain(|file| {
        is_input(file) && folder_of_algorithm(file, algorithms).is_none_or(|name| needed.contains(name))
    });
    Ok(files)
}

/// The Rust files and manifests at or under `path`, by their names from `root`, with slashes.
fn collect(path: &Path, root: &Path, files: &mut Vec<String>) -> Result<()> {
    let context = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).and_then(|list| list.map(|e| e.map(|e| e.path())).collect()).with_context(context)?;
        entries.sort();
        for entry in entries {
            collect(&entry, root, files)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") || path.ends_with("Cargo.toml") {
        let relative = path.strip_prefix(root).with_context(context)?;
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        files.push(parts.join("/"));
    }
    Ok(())
}

fn is_input(file: &str) -> bool {
    let is_test = file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"));
    let is_never_built = NEVER_BUILT.iter().any(|name| file.starts_with(&format!("{GPU_SOURCES}{name}/")));
    !is_test && !is_never_built && !HOST_ONLY.iter().any(|prefix| file.starts_with(prefix))
}

/// The algorithm whose folder (or file) of `gpu/src` this file is in; `None` if all algorithms share it.
fn folder_of_algorithm<'a>(file: &'a str, algorithms: &Algorithms) -> Option<&'a str> {
    let first = file.strip_prefix(GPU_SOURCES)?.split('/').next()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    algorithms.contains(name).then_some(name)
}

fn digest(mut files: Vec<(String, Vec<u8>)>) -> String {
    files.sort();
    let mut hasher = Sha256::new();
    for (name, text) in files {
        let lines: Vec<u8> = without_carriage_returns(&text);
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update((lines.len() as u64).to_le_bytes());
        hasher.update(&lines);
    }
    named(hasher)
}

/// The hash of a module's text below its header, in the form of [`hash`].
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

/// `\r\n` as `\n`; a checkout may have either.
fn without_carriage_returns(text: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len());
    for (i, &byte) in text.iter().enumerate() {
        if byte != b'\r' || text.get(i + 1) != Some(&b'\n') {
            lines.push(byte);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> String {
        digest(files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect())
    }

    #[test]
    fn every_name_and_byte_counts_but_no_line_end_and_no_order() {
        let hash = of(&[("a.rs", "one\ntwo\n"), ("b.rs", "")]);
        assert_eq!(hash.len(), "sha256:".len() + 64);
        assert_eq!(hash, of(&[("b.rs", ""), ("a.rs", "one\r\ntwo\r\n")]));
        assert_ne!(hash, of(&[("a.rs", "one\ntwo"), ("b.rs", "")]));
        assert_ne!(hash, of(&[("c.rs", "one\ntwo\n"), ("b.rs", "")]));
        assert_ne!(hash, of(&[("a.rs", "one\n"), ("b.rs", "two\n")]));
        assert_ne!(hash, of(&[("a.rs", "one\ntwo\n")]));
        assert_ne!(of(&[("a", "\r\r\n")]), of(&[("a", "\r\n")]));
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
        let hashes: std::collections::BTreeSet<String> =
            algorithms.names().iter().map(|name| hash(&workspace, &algorithms, name).unwrap()).collect();
        assert_eq!(hashes.len(), algorithms.names().len(), "two algorithms have the same sources");
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
