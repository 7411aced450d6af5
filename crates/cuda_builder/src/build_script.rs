//! Support for build scripts.
//!
//! # Design
//!
//! The PTX of a user's project is built by the project's build script and is not checked in. In this PTX the compiler
//! contracts multiplications and additions, as nvcc does. The PTX of the crate `gpu` is built without contraction, so
//! that a GPU and the simulator return the same bits.

use std::path::{Path, PathBuf};

use crate::toolchain::{CARGO_VARIABLE, RUSTC_VARIABLE};

/// The environment variable with the folder for intermediate files. It has an effect if
/// [`CudaBuilder::target_dir`](crate::CudaBuilder::target_dir) is not called. Projects that share the folder compile
/// `core` once.
pub const TARGET_DIR_VARIABLE: &str = "CUDA_BUILDER_TARGET_DIR";

/// Returns true if this program is a build script that `cargo` runs.
pub(crate) fn is_running() -> bool {
    ["OUT_DIR", "NUM_JOBS", "HOST"].iter().all(|name| std::env::var_os(name).is_some())
}

/// Returns the outer build's target folder, which all its profiles share and in which `cargo` has put the file
/// `CACHEDIR.TAG`. If no folder has this file, returns the build script's own output folder.
pub(crate) fn target_folder() -> Option<PathBuf> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR")?);
    let tagged = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned);
    Some(tagged.unwrap_or(out))
}

/// Tells the outer `cargo` which changes require that the build script runs again.
pub(crate) fn announce(sources: &[PathBuf]) {
    for source in sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    for variable in [RUSTC_VARIABLE, CARGO_VARIABLE, TARGET_DIR_VARIABLE] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
}

/// Tells the outer `cargo` to run the build script again next time, because a program is missing that the user may
/// install.
pub(crate) fn announce_missing(out: &Path) {
    // A file that does not exist counts as changed.
    announce(&[out.join("no-such-file")]);
}
