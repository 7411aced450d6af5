//! Lets programs that use `cust` be linked on machines without a CUDA toolkit. Only programs with the feature `cust` of
//! `launch` need this.
//!
//! `cust_raw` passes `-lcuda` to the linker. Its build script fails if there is a toolkit neither at
//! `CUDA_LIBRARY_PATH` nor in a default folder, and its message has no remedy. The build script of this crate checks
//! the same folders earlier and prints the remedy.
//!
//! The check comes before the build of `cust_raw` fails, because this crate depends on nothing. A crate that only
//! builds PTX links with nothing, so the build script checks only with the feature `linking`, which `cuda_driver`
//! enables for its feature `symbols`.

/// Tells `cargo` the folder of an empty `libcuda.a`, with which the linker satisfies `-lcuda`. A toolkit's own folders
/// may lack such an archive.
pub fn announce_archive() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search=native={}", concat!(env!("CARGO_MANIFEST_DIR"), "/../cuda_driver/stub/lib64"));
}
