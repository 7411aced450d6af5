//! Where the kernels' sources synchronise.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;

use super::functions::Functions;
use super::read;
use crate::sources;
use crate::workspace::Workspace;

/// What orders memory accesses and can be left out of a source.
/// `sync` is the grid's.
const SYNCHRONISATIONS: [&str; 5] = ["sync_threads", "sync_threads_count", "sync_warp", "fence", "sync"];

/// A call that synchronises.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The file, from the workspace's root, with slashes.
    pub file: String,
    /// The line of the function's name, from 1.
    pub line: usize,
    /// The function's name.
    pub call: String,
}

/// The calls in all kernels' sources.
///
/// # Errors
/// If a source cannot be read or is no Rust.
pub fn places(workspace: &Workspace) -> Result<BTreeSet<Place>> {
    let algorithms = workspace.algorithms()?;
    let mut files = BTreeSet::new();
    for algorithm in algorithms.names() {
        files.extend(sources::files(workspace, &algorithms, algorithm)?);
    }
    of(&read(workspace.root(), files.into_iter().filter(|file| file.starts_with(sources::GPU_SOURCES)))?)
}

/// The calls in some texts.
fn of(files: &[(PathBuf, String)]) -> Result<BTreeSet<Place>> {
    let mut places = BTreeSet::new();
    for function in Functions::read(files)?.functions {
        let file = files[function.file].0.to_string_lossy().into_owned();
        for (call, line) in function.body.calls {
            if SYNCHRONISATIONS.contains(&call.as_str()) {
                places.insert(Place { file: file.clone(), line, call });
            }
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_code_alone() {
        let text = "//! sync_threads()\nuse cuda_std::{fence, thread};\nfn a() {\n    thread::sync_threads();\n    \
            if thread::sync_threads_count(b) == 0 { fence() } // fence()\n    warp::sync_warp(\n        mask);\n    my_fence(); \"fence()\"; grid::sync();\n}\n";
        let found = of(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap();
        let found: Vec<_> = found.iter().map(|place| (place.line, place.call.as_str())).collect();
        assert_eq!(
            found,
            [(4, "sync_threads"), (5, "fence"), (5, "sync_threads_count"), (6, "sync_warp"), (8, "sync")]
        );
    }

    #[test]
    fn calls_in_what_a_macro_is_given_are_found() {
        let text = "fn a() {\n    unroll!(I in 4 => {\n        wait(I);\n        sync_warp(mask);\n    });\n    \
            assert!(sync_threads_count(true) > 0, \"none\");\n}\nmacro_rules! b {\n    ($mask:expr) => {\n        sync_warp($mask)\n    };\n}\n";
        let found = of(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap();
        let found: Vec<_> = found.iter().map(|place| (place.line, place.call.as_str())).collect();
        assert_eq!(found, [(4, "sync_warp"), (6, "sync_threads_count"), (10, "sync_warp")]);
    }
}
