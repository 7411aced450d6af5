//! The tests that build PTX in one program, so that builds for different GPUs run side by side: tests start in the
//! order of their names, and so the longest one, `builds`, beside the first that needs the other folder.

mod assembler;
mod builds;
mod contraction;
mod flags;
mod intrinsics;
mod memory_kernels;

use std::path::{Path, PathBuf};

use cuda_builder::{Arch, CudaBuilder, Search, Toolchain};

/// A folder that stays between runs, so that `core` is compiled once.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A compiler for `kernels`, if this machine has one.
fn toolchain(kernels: &Path) -> Option<Toolchain> {
    let search = Search::run(kernels);
    if search.usable.is_empty() {
        println!("skipped: no rustc on this machine can build PTX\n{search}");
    }
    search.usable.into_iter().next()
}

/// A build of `krate` for `arch`, in the folder that all such builds share.
fn shared_build(toolchain: &Toolchain, krate: &Path, arch: Arch) -> CudaBuilder {
    CudaBuilder::new(krate).toolchain(toolchain.clone()).arch(arch).target_dir(scratch("shared")).source_hash("none")
}
