//! For build scripts: what linking with `cust` takes where there is no CUDA toolkit.
//!
//! `cust_raw` asks the linker for `-lcuda`, and its build script fails if neither `CUDA_LIBRARY_PATH` nor a usual place
//! has a toolkit; it does not say what to do. The build script of this crate looks for the same things before, and says
//! it. Cargo begins with what the most units depend on: that is why `cuda_driver` and `launch` have build scripts that
//! depend on this crate, and it on nothing. `cuda_builder` depends on it as well, though it uses nothing of it: so it
//! is among the first ten units, about when `syn` is begun. What builds PTX alone links with nothing: the build script
//! looks only with the feature `linking`, which `launch` and `cuda_driver` ask for.

/// Tells `cargo` where the linker finds an empty archive for `-lcuda`, since a toolkit's own folders need not have one.
pub fn announce_archive() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search=native={}", concat!(env!("CARGO_MANIFEST_DIR"), "/../cuda_driver/stub/lib64"));
}
