//! Support for build scripts.
//!
//! # Design
//!
//! A project's own PTX is built by its build script and is not checked in. It contracts multiplications and additions,
//! as nvcc does. The PTX of `gpu` does not, so that a GPU and the simulator return the same bits.

use std::path::{Path, PathBuf};

use crate::toolchain::{CARGO_VARIABLE, RUSTC_VARIABLE};

/// The environment variable with the folder for intermediate files, if
/// [`CudaBuilder::target_dir`](crate::CudaBuilder::target_dir) is not called. Projects that share the folder compile
/// `core` once.
pub const TARGET_DIR_VARIABLE: &str = "CUDA_BUILDER_TARGET_DIR";

/// Returns true if this program is a build script that `cargo` runs.
pub(crate) fn is_running() -> bool {
    ["OUT_DIR", "NUM_JOBS", "HOST"].iter().all(|name| std::env::var_os(name).is_some())
}

/// Returns the outer build's target folder, which its profiles share and which `cargo` marks by a tag for backups.
/// Without a tag, returns the script's own output folder.
pub(crate) fn target_folder() -> Option<PathBuf> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR")?);
    let tagged = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned);
    Some(tagged.unwrap_or(out))
}

/// Prints to the outer `cargo` when to run the build script again.
pub(crate) fn announce(sources: &[PathBuf]) {
    for source in sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    for variable in [RUSTC_VARIABLE, CARGO_VARIABLE, TARGET_DIR_VARIABLE] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
}
