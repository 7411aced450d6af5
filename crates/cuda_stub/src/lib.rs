//! Lets programs that use `cust` be linked on machines without a CUDA toolkit. Only programs with the feature `cust` of
//! `launch` need this.
//!
//! `cust_raw` passes `-lcuda` to the linker. Its build script fails if there is a toolkit neither at
//! `CUDA_LIBRARY_PATH` nor in a default folder, and the error message suggests no remedy. The build script of this
//! crate checks the same folders earlier and prints the remedy.
//!
//! The check comes before the build of `cust_raw` fails, because this crate depends on nothing. A crate that only
//! builds PTX links with nothing, so the build script checks only with the feature `linking`, which `cuda_driver`
//! enables for its feature `symbols`.

use std::path::PathBuf;
use std::{env, fs};

/// Writes an empty `libcuda.a` to `OUT_DIR`, with which the linker satisfies `-lcuda`, and tells `cargo` the folder. A
/// toolkit's own folders may lack such an archive.
///
/// # Errors
/// If the file cannot be written.
pub fn announce_archive() -> std::io::Result<()> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(folder.join("libcuda.a"), "!<arch>\n")?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
