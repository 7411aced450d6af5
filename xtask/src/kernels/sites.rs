//! Finds the synchronising calls in the kernels' sources.
//!
//! The simulator names a synchronisation by its line. If the function around it has `#[track_caller]`, the line is that
//! of the function's call, so that this call is the synchronising one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;

use super::functions::{Function, Functions};
use super::{read, source_texts};
use crate::workspace::Workspace;

/// The functions that order memory accesses and whose calls can be left out of a source. `sync` synchronises the grid.
const SYNCHRONISATIONS: [&str; 5] = ["sync_threads", "sync_threads_count", "sync_warp", "fence", "sync"];

/// A synchronising call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SyncSite {
    /// The path from the workspace's root, with slashes.
    pub file: String,
    /// The line of the function's name, from 1.
    pub line: usize,
    /// The function's name.
    pub call: String,
}

/// The kernels that call the collectives, for the checker. They are in no module of PTX.
const COLLECTIVES: &str = "workbench/src/collectives.rs";

/// Returns the synchronising calls in the sources of all kernels.
///
/// # Errors
/// If a source cannot be read or is not valid Rust.
pub fn sync_sites(workspace: &Workspace) -> Result<BTreeSet<SyncSite>> {
    let algorithms = workspace.algorithms()?;
    let mut files = BTreeMap::new();
    for algorithm in algorithms.names() {
        files.extend(source_texts(workspace, &algorithms, algorithm)?);
    }
    files.extend(read(workspace.root(), [COLLECTIVES.to_owned()])?);
    of(&Vec::from_iter(files))
}

/// Returns the synchronising calls in the texts of `files`.
fn of(files: &[(PathBuf, String)]) -> Result<BTreeSet<SyncSite>> {
    let functions = Functions::read(files)?.functions;
    let names = synchronising(&functions);
    let mut sites = BTreeSet::new();
    for function in functions.into_iter().filter(|function| !function.tracks_caller) {
        let file = files[function.file].0.to_string_lossy().into_owned();
        for (call, line) in function.body.calls {
            if names.contains(&call) {
                sites.insert(SyncSite { file: file.clone(), line, call });
            }
        }
    }
    Ok(sites)
}

/// Returns the names of the functions whose calls are reported as synchronisations: those of [`SYNCHRONISATIONS`], and
/// functions with `#[track_caller]` that call one of them.
fn synchronising(functions: &[Function]) -> BTreeSet<String> {
    let mut names = BTreeSet::from(SYNCHRONISATIONS.map(str::to_owned));
    loop {
        let calls_one = |function: &&Function| function.body.calls.iter().any(|(call, _)| names.contains(call));
        let tracking = functions.iter().filter(|function| function.tracks_caller).filter(calls_one);
        let more: BTreeSet<String> = tracking.map(|function| function.name.clone()).collect();
        if more.is_subset(&names) {
            return names;
        }
        names.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_only_in_code() {
        let text = "//! sync_threads()\nuse cuda_std::{fence, thread};\nfn a() {\n    thread::sync_threads();\n    \
            if thread::sync_threads_count(b) == 0 { fence() } // fence()\n    warp::sync_warp(\n        mask);\n    my_fence(); \"fence()\"; grid::sync();\n}\n";
        let found = of(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap();
        let found: Vec<_> = found.iter().map(|site| (site.line, site.call.as_str())).collect();
        assert_eq!(
            found,
            [(4, "sync_threads"), (5, "fence"), (5, "sync_threads_count"), (6, "sync_warp"), (8, "sync")]
        );
    }

    #[test]
    fn calls_in_the_arguments_of_a_macro_are_found() {
        let text = "fn a() {\n    unroll!(I in 4 => {\n        wait(I);\n        sync_warp(mask);\n    });\n    \
            assert!(sync_threads_count(true) > 0, \"none\");\n}\nmacro_rules! b {\n    ($mask:expr) => {\n        sync_warp($mask)\n    };\n}\n";
        let found = of(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap();
        let found: Vec<_> = found.iter().map(|site| (site.line, site.call.as_str())).collect();
        assert_eq!(found, [(4, "sync_warp"), (6, "sync_threads_count"), (10, "sync_warp")]);
    }

    #[test]
    fn calls_of_functions_that_track_their_caller_are_found() {
        let text = "fn a() {\n    outer();\n}\n#[track_caller]\nfn outer() {\n    inner();\n}\n#[track_caller]\n\
            fn inner() {\n    sync_threads();\n}\n#[track_caller]\nfn other() {\n    load();\n}\n";
        let found = of(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap();
        let found: Vec<_> = found.iter().map(|site| (site.line, site.call.as_str())).collect();
        assert_eq!(found, [(2, "outer")]);
    }
}
