//! Lets build scripts link with `cust` on machines without a CUDA toolkit.
//!
//! `cust_raw` passes `-lcuda` to the linker. Its build script fails if there is a toolkit neither at
//! `CUDA_LIBRARY_PATH` nor in a default folder, and does not say what to do. The build script of this crate checks for
//! the same folders earlier and prints the remedy.
//!
//! Cargo first compiles the crates that most others depend on. `cuda_driver` and `launch` therefore have build
//! scripts that depend on this crate, and this crate depends on nothing. `cuda_builder` depends on it only for this
//! order: the check is then among the first ten units. A crate that only builds PTX links with nothing, so the build
//! script checks only with the feature `linking`, which `launch` and `cuda_driver` enable.

/// Prints the search path of an empty archive for `-lcuda`. The folders of a toolkit need not have one.
pub fn announce_archive() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search=native={}", concat!(env!("CARGO_MANIFEST_DIR"), "/../cuda_driver/stub/lib64"));
}
