//! The tests that build PTX, in one program, so that builds for different GPUs run in parallel. Tests start in the
//! order of their names. The longest test, `builds`, therefore starts together with the first test that uses another
//! target folder.

mod assembler;
mod builds;
mod contraction;
mod flags;
mod heap_kernels;
mod intrinsics;
mod memory_kernels;

use std::path::{Path, PathBuf};

use cuda_builder::{Arch, CudaBuilder, Search, Toolchain};

/// Returns a folder that is kept between test runs, so that `core` is compiled once.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns a compiler for `kernels`, or `None` if this machine has none.
fn toolchain(kernels: &Path) -> Option<Toolchain> {
    let search = Search::run(kernels);
    if search.usable.is_empty() {
        println!("skipped: no rustc on this machine can build PTX\n{search}");
    }
    search.usable.into_iter().next()
}

/// Prepares a build of `krate` for `arch`, in the target folder that all such builds share.
fn shared_build(toolchain: &Toolchain, krate: &Path, arch: Arch) -> CudaBuilder {
    CudaBuilder::new(krate).toolchain(toolchain.clone()).arch(arch).target_dir(scratch("shared")).source_hash("none")
}
