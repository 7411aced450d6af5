//! Tests the PTX of kernels that allocate, and of a library with kernels outside the workspace. `launch` tests the
//! kernels in the simulator.

use std::path::Path;

use cuda_builder::Arch;

use crate::assembler::assemble;
use crate::{scratch, shared_build, toolchain};

#[test]
fn kernels_allocate_from_the_heap_of_the_device() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/tests/fixtures/heap-kernels");
    let Some(toolchain) = toolchain(&kernels) else { return };
    let file = scratch("heap.ptx");
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
