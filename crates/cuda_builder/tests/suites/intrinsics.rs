//! Tests that every operation of the device library on bits, warps, blocks and the grid compiles to the intended
//! instruction.

use std::path::{Path, PathBuf};

use cuda_builder::{Arch, CudaBuilder};

use crate::assembler::assemble;
use crate::{scratch, shared_build, toolchain};

/// The instructions that every GPU has.
const EVERYWHERE: &[&str] = &[
    // Atomics by scope, space and type.
    "atom.relaxed.gpu.global.add.f32",
    "atom.relaxed.gpu.global.add.f64",
    "atom.relaxed.gpu.global.add.u64",
    "atom.relaxed.gpu.global.inc.u32",
    "atom.relaxed.gpu.global.dec.u32",
    "atom.relaxed.gpu.global.exch.b32",
    "atom.relaxed.gpu.global.max.s64",
    "atom.relaxed.gpu.global.and.b32",
    "atom.relaxed.gpu.global.xor.b64",
    "atom.relaxed.gpu.global.add.noftz.f16x2",
    "atom.relaxed.gpu.global.add.noftz.f16 ",
    "atom.relaxed.gpu.shared.add.noftz.f16 ",
    "atom.relaxed.gpu.global.cas.b16",
    "atom.relaxed.cta.global.min.u32",
    "atom.relaxed.cta.shared.add.u32",
    "atom.relaxed.sys.global.or.b32",
    "atom.relaxed.gpu.add.f32 ",
    "atom.relaxed.gpu.xor.b32 ",
    "fence.sc.cta;",
    "fence.sc.sys;",
    "fence.acq_rel.gpu;",
    // Warps and barriers.
    "activemask.b32",
    "match.any.sync.b32",
    "match.any.sync.b64",
    "shfl.sync.bfly.b32",
    "bar.red.and.pred",
    "bar.red.or.pred",
    "bar.red.popc.u32",
    "barrier.sync ",
    "barrier.arrive ",
    "nanosleep.u32",
    "%envreg1;",
    // Bits and halves.
    "lop3.b32",
    "/*table 0*/;",
    "/*table 5*/;",
    "shf.l.wrap.b32",
    "shf.r.clamp.b32",
    "prmt.b32",
    "dp4a.s32.s32",
    "dp2a.hi.s32.s32",
    "add.rn.f16 ",
    "rcp.approx.ftz.f64",
    "rsqrt.approx.ftz.f64",
    "fma.rn.f16 ",
    "mul.rn.f16x2",
    "cvt.rn.f16.f32",
    "cvt.f32.f16",
];

/// The instructions that exist from sm_80 or sm_90 on. For older GPUs the PTX has several other instructions in place
/// of each, or for operations on 128 bits an error.
const NEW: &[&str] = &[
    "atom.relaxed.gpu.global.cas.b128",
    "atom.relaxed.gpu.global.exch.b128",
    "atom.relaxed.cta.shared.exch.b128",
    "atom.relaxed.sys.global.cas.b128",
    "ld.relaxed.gpu.global.b128",
    "ld.acquire.gpu.global.b128",
    "ld.acquire.cta.shared.b128",
    "st.release.gpu.global.b128",
    "st.relaxed.gpu.shared.b128",
    "atom.relaxed.gpu.global.add.noftz.bf16x2",
    "atom.relaxed.gpu.global.add.noftz.bf16 ",
    "redux.sync.add.s32",
    "redux.sync.max.u32",
    "redux.sync.min.s32",
    "redux.sync.xor.b32",
    "mbarrier.init.shared.b64",
    "cp.async.mbarrier.arrive.noinc.shared.b64",
    "mbarrier.arrive.shared.b64",
    "mbarrier.arrive_drop.shared.b64",
    "mbarrier.test_wait.shared.b64",
    "mbarrier.test_wait.parity.shared.b64",
    "fma.rn.bf16 ",
    "fma.rn.bf16x2",
    "cvt.rn.bf16.f32",
    "cvt.rn.f16x2.f32",
    "cvt.rn.bf16x2.f32",
    // Clusters.
    "%clusterid.x;",
    "%cluster_ctarank;",
    "barrier.cluster.arrive;",
    "barrier.cluster.arrive.relaxed;",
    "barrier.cluster.wait;",
    ".reqnctapercluster 2, 2, 1",
    "mapa.shared::cluster.u32",
    "ld.shared::cluster.u32",
    "ld.shared::cluster.u8",
    "st.shared::cluster.v4.u32",
    "atom.relaxed.cluster.shared::cluster.add.u64",
    "atom.relaxed.cluster.shared::cluster.cas.b64",
    "atom.relaxed.cluster.shared::cluster.min.u64",
    "atom.relaxed.cluster.shared::cluster.add.f32",
    "ld.acquire.cluster.shared.u32",
    "st.release.cluster.shared::cluster.u32",
    "ld.relaxed.cluster.global.u32",
    "fence.sc.cluster;",
    "fence.acq_rel.cluster;",
];

pub fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/intrinsics")
}

#[test]
fn intrinsics_are_instructions() {
    let Some(toolchain) = toolchain(&kernels()) else { return };
    let (ptx, fallbacks) = assembled(shared_build(&toolchain, &kernels(), Arch::Sm90), Arch::Sm90);
    assert!(fallbacks.is_empty(), "{fallbacks:?}");
    // The tests of `launch` on a GPU read this file.
    if let Some(path) = std::env::var_os("GRIDSTRIDE_INTRINSICS_PTX") {
        std::fs::write(path, &ptx).unwrap();
    }
    for instruction in EVERYWHERE.iter().chain(NEW) {
        assert!(ptx.contains(instruction), "no `{instruction}`:\n{ptx}");
    }
    contains_messages_and_no_other_calls(&ptx);
    no_barrier_is_duplicated(&ptx);
}

/// Checks the same kernels, built by `build`, for the oldest GPUs: their PTX has no later instructions.
pub fn older_instructions_serve(build: CudaBuilder) {
    let (ptx, mut fallbacks) = assembled(build, Arch::Sm70);
    fallbacks.sort();
    let parts = ["`AsyncCopies` has instructions from sm_80", "`AtomicRef<u128>` has instructions from sm_90"];
    assert_eq!(
        fallbacks,
        [parts[0], parts[1], "`Barrier` has instructions from sm_80", "`cluster` has instructions from sm_90"]
            .map(|part| format!("{part} on"))
    );
    for instruction in EVERYWHERE {
        assert!(ptx.contains(instruction), "no `{instruction}`:\n{ptx}");
    }
    for instruction in NEW {
        assert!(!ptx.contains(instruction), "`{instruction}` for sm_70:\n{ptx}");
    }
    contains_messages_and_no_other_calls(&ptx);
}

/// Checks that the kernel `first_plus_base` has one shuffle and one barrier, as its source has. rustc marks functions
/// as convergent from 1.96 on; for an older rustc, the builder does.
fn no_barrier_is_duplicated(ptx: &str) {
    let kernel = ptx.split_once(".entry first_plus_base(").expect("the kernel is in the module").1;
    let kernel = kernel.split("\n}").next().unwrap_or(kernel);
    let count = |instruction: &str| kernel.matches(instruction).count();
    assert_eq!((count("shfl.sync"), count("bar.sync")), (1, 1), "{kernel}");
}

/// Builds and assembles a module, and returns its text and its fallbacks.
fn assembled(build: CudaBuilder, arch: Arch) -> (String, Vec<String>) {
    let file = scratch(&format!("intrinsics.{arch}.ptx"));
    let build = build.copy_to(&file).build().unwrap_or_else(|error| panic!("{error}"));
    assemble(&file, arch);
    (build.ptx, build.fallbacks.iter().map(ToString::to_string).collect())
}

/// Checks that the module contains the source position in an assertion's message. Also checks that the module compares
/// slices by a function that the module itself defines, and that it calls no other function.
fn contains_messages_and_no_other_calls(ptx: &str) {
    let message = ptx.lines().filter(|line| line.contains(".global") && line.contains(".b8")).collect::<String>();
    assert!(ptx.contains("vprintf") && !message.is_empty(), "{ptx}");
    let calls = ptx.lines().filter(|line| line.trim_start().starts_with("call")).count();
    let is_declared_alone = ptx.lines().any(|line| line.contains(".extern .func") && !line.contains("vprintf"));
    assert!(calls > 0 && ptx.contains("memcmp") && !ptx.contains("memcpy") && !is_declared_alone, "{ptx}");
}
