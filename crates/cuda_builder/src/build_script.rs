//! Behaviour in a build script.

use std::path::PathBuf;

use crate::toolchain::{CARGO_VARIABLE, RUSTC_VARIABLE};

/// Whether this program is a build script that `cargo` runs.
pub(crate) fn is_running() -> bool {
    ["OUT_DIR", "NUM_JOBS", "HOST"].iter().all(|name| std::env::var_os(name).is_some())
}

/// Tells the outer `cargo` when to run the build script again.
pub(crate) fn announce(sources: &[PathBuf]) {
    for source in sources {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    for variable in [RUSTC_VARIABLE, CARGO_VARIABLE] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
}
