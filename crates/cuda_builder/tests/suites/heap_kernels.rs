//! Tests the PTX of kernels that allocate, and of a library with kernels outside the workspace. `launch` tests the
//! kernels in the simulator and, if `GRIDSTRIDE_HEAP_PTX` names the file for the PTX, on a GPU.

use std::path::{Path, PathBuf};

use cuda_builder::Arch;

use crate::assembler::assemble;
use crate::{scratch, shared_build, toolchain};

#[test]
fn kernels_allocate_from_the_heap_of_the_device() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/tests/fixtures/heap-kernels");
    let Some(toolchain) = toolchain(&kernels) else { return };
    let file = std::env::var_os("GRIDSTRIDE_HEAP_PTX").map_or_else(|| scratch("heap.ptx"), PathBuf::from);
    let build = || {
        let build = shared_build(&toolchain, &kernels, Arch::Sm90).locked(true).copy_to(&file).build();
        build.unwrap_or_else(|error| panic!("{error}")).ptx
    };
    let ptx = build();
    for function in ["malloc", "free"] {
        assert!(ptx.lines().any(|line| line.starts_with(".extern .func") && line.ends_with(function)), "{ptx}");
        assert!(ptx.lines().any(|line| line.contains("call.uni") && line.contains(function)), "{ptx}");
    }
    for entry in ["last_digits", "aligned_boxes", "leak", "pass_between_threads", "halve"] {
        assert!(ptx.contains(&format!(".visible .entry {entry}(")), "no entry {entry}: {ptx}");
    }
    assemble(&file, Arch::Sm90);
    // The second build knows that `alloc` is needed.
    assert_eq!(build(), ptx);
}
