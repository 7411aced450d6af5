//! Tests the PTX of kernels for types, parameters and memory, which `launch` tests in the simulator.

use std::collections::BTreeMap;
use std::path::Path;

use cuda_builder::Arch;

use crate::assembler::assemble;
use crate::{scratch, shared_build, toolchain};

/// Returns the body of the entry `name`.
fn entry<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no entry {name} in {ptx}"));
    let end = ptx[start..].find("\n}").unwrap_or_else(|| panic!("the entry {name} does not end in {ptx}"));
    &ptx[start..start + end]
}

/// Returns how many arrays the module has for each `shared_array!` of the source: `.shared .align 16 .b8
/// crate_shared_NUMBER_BYTES_INSTANCE[…]`.
fn arrays(ptx: &str) -> BTreeMap<&str, usize> {
    let mut arrays = BTreeMap::new();
    for line in ptx.lines().filter(|line| line.starts_with(".shared")) {
        let (name, symbol) = line.split_once("_shared_").unwrap_or_else(|| panic!("{line}"));
        let number = symbol.split(['_', '[']).next().unwrap_or_default();
        *arrays.entry(&line[..name.len() + "_shared_".len() + number.len()]).or_default() += 1;
    }
    arrays
}

#[test]
fn types_and_memory_are_the_instructions_that_they_say() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/tests/fixtures/memory-kernels");
    let Some(toolchain) = toolchain(&kernels) else { return };
    let file = scratch("memory.ptx");
    let build = shared_build(&toolchain, &kernels, Arch::Sm90).copy_to(&file).build();
    let build = build.unwrap_or_else(|error| panic!("{error}"));
    let ptx = &build.ptx;
    let has = |kernel: &str, instructions: &[&str]| {
        let text = entry(ptx, kernel);
        for instruction in instructions {
            assert!(text.contains(instruction), "{kernel} lacks `{instruction}`:\n{text}");
        }
    };

    // An element has one access for each of its numbers, and none for its padding.
    has("rotate", &["ld.global.b32", "st.global.b32"]);
    assert_eq!(entry(ptx, "rotate").matches("ld.global").count(), 3);
    assert_eq!(entry(ptx, "exchange").matches("ld.global").count(), 7);
    has("exchange", &["ld.global.b8", "st.shared.u8", "st.shared.u32", "ld.shared.u32"]);
    // A struct passed by value is one parameter. A reference becomes a pointer.
    has("many", &[".b8 many_param_0[808]", "ld.param.b64", ".param .align 16 .b8"]);
    has("of_reference", &[".param .u64 .ptr", "ld.global.b32"]);
    has("volatile", &["ld.volatile.global", "st.volatile.global", "ld.volatile.shared", "st.volatile.shared"]);
    // An array whose length is local to a function is declared once.
    has("lengths_32", &["st.shared.u64", "ld.shared.u32"]);
    for bytes in [35 * 8, 67 * 8, 32 * 4, 64 * 4, 32 * 8, 64 * 8] {
        assert!(ptx.contains(&format!("[{bytes}];")), "an array of {bytes} bytes in {ptx}");
    }
    has("statics_of_a_kernel", &["cvta.shared.u64"]);
    // Each instance of a generic function has its own arrays: of `reversed` four, of `block_sum` three, of `of_first`
    // two.
    let mut instances: Vec<usize> = arrays(ptx).into_values().filter(|&count| count > 1).collect();
    instances.sort_unstable();
    assert_eq!(instances, [2, 3, 4], "{ptx}");
    has("transpose_tile", &["st.shared.u32", "ld.shared.u32", "ld.global.b32", "st.global.b32"]);
    assert_eq!(entry(ptx, "transpose_tile").matches("ld.").count(), 4 + 2, "{}", entry(ptx, "transpose_tile"));
    has("of_model_narrow", &["ld.global.b32", "cvt.f64.f32"]);
    has("of_model_wide", &["ld.global.b64", "st.shared.u64"]);
    has("uninitialised", &["cvta.shared.u64"]);
    has("copy_written", &["cp.async.cg.shared.global"]);
    // The kernels of docs/shared-memory.md.
    has("multiply", &["ld.global.b32", "st.shared.u32", "ld.shared.u32", "bar"]);
    has("count", &["atom.relaxed.gpu.shared.add.u32", "atom.relaxed.gpu.global.add.u32"]);
    has("reverse_tiles", &["cp.async.cg.shared.global", "cp.async.wait_group", "st.global.v4"]);
    has("weigh", &["ld.const.u32", "ld.const.u8", "ld.const.u64", "atom.relaxed.gpu.global.add.u32"]);
    assert!(ptx.contains(".const .align 4 .b8 cuda_std_static_WEIGHTS[12] = {"), "{ptx}");
    assert!(ptx.contains(".global .align 4 .b8 cuda_std_static_COUNTS[8] = {5};"), "{ptx}");
    // A library that the crate depends on has a kernel, too.
    has("increment", &["ld.global.b32", "st.global.b32"]);
    // No kernel has local memory but the one whose assertion puts a message together.
    let has_local = |entry: &&str| entry.contains(".local .align");
    let local: Vec<_> = ptx.split(".visible .entry ").skip(1).filter(has_local).collect();
    assert!(matches!(local[..], [entry] if entry.starts_with("statics_of_a_kernel(")), "{local:?}");

    assemble(&file, Arch::Sm90);
}
