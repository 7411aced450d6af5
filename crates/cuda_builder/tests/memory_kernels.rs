//! What becomes of types, parameters and memory in PTX: the kernels that `launch` tests in the simulator.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cuda_builder::{Arch, CudaBuilder, Search};

/// NVIDIA's assembler, where `ci/install-tools.sh` has put it, or in the `PATH`.
fn ptxas() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/lib");
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let installed = below(tools).flat_map(|python| below(python.join("site-packages/nvidia")));
    let in_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    installed
        .map(|package| package.join("bin/ptxas"))
        .chain(in_path.map(|folder| folder.join("ptxas")))
        .find(|file| file.is_file())
}

/// The body of an entry.
fn entry<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no entry {name} in {ptx}"));
    let end = ptx[start..].find("\n}").unwrap_or_else(|| panic!("the entry {name} does not end in {ptx}"));
    &ptx[start..start + end]
}

#[test]
fn types_and_memory_are_the_instructions_that_they_say() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/tests/fixtures/memory-kernels");
    let search = Search::run(&kernels);
    let Some(toolchain) = search.usable.first() else {
        println!("skipped: no rustc on this machine can build PTX\n{search}");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory");
    let file = folder.join("memory.ptx");
    let build = CudaBuilder::new(&kernels)
        .toolchain(toolchain.clone())
        .arch(Arch::Sm90)
        // Of `real_build`, too: `core` is compiled once.
        .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared"))
        .source_hash("none")
        .copy_to(&file)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let ptx = &build.ptx;
    let has = |kernel: &str, instructions: &[&str]| {
        let text = entry(ptx, kernel);
        for instruction in instructions {
            assert!(text.contains(instruction), "{kernel} lacks `{instruction}`:\n{text}");
        }
    };

    // An element is one access per number of it, and none for its padding.
    has("rotate", &["ld.global.b32", "st.global.b32"]);
    assert_eq!(entry(ptx, "rotate").matches("ld.global").count(), 3);
    assert_eq!(entry(ptx, "exchange").matches("ld.global").count(), 7);
    has("exchange", &["ld.global.b8", "st.shared.u8", "st.shared.u32", "ld.shared.u32"]);
    // A struct by value is a parameter in one piece, a reference a pointer.
    has("many", &[".b8 many_param_0[808]", "ld.param.b64", ".param .align 16 .b8"]);
    has("of_reference", &[".param .u64 .ptr", "ld.global.b32"]);
    has("volatile", &["ld.volatile.global", "st.volatile.global", "ld.volatile.shared", "st.volatile.shared"]);
    // Arrays of a function's own length are declared, each once.
    has("lengths_32", &["st.shared.u64", "ld.shared.u32"]);
    for bytes in [35 * 8, 67 * 8, 32 * 4, 64 * 4, 32 * 8, 64 * 8] {
        assert!(ptx.contains(&format!("[{bytes}];")), "an array of {bytes} bytes in {ptx}");
    }
    has("statics_of_a_kernel", &["cvta.shared.u64"]);
    has("copy_what_is_written", &["cp.async.cg.shared.global"]);
    has("weigh", &["ld.const.u32", "ld.const.u8", "ld.const.u64", "atom.relaxed.gpu.global.add.u32"]);
    assert!(ptx.contains(".const .align 4 .b8 cuda_std_static_WEIGHTS[12] = {"), "{ptx}");
    assert!(ptx.contains(".global .align 4 .b8 cuda_std_static_COUNTS[8] = {5};"), "{ptx}");
    // No kernel has local memory but the one whose assertion puts a message together.
    let has_local = |entry: &&str| entry.contains(".local .align");
    let local: Vec<_> = ptx.split(".visible .entry ").skip(1).filter(has_local).collect();
    assert!(matches!(local[..], [entry] if entry.starts_with("statics_of_a_kernel(")), "{local:?}");

    match ptxas() {
        None => println!("the PTX is not assembled: no ptxas on this machine"),
        Some(ptxas) => {
            let object = folder.join("memory.cubin");
            let output = Command::new(ptxas).arg("-arch=sm_90").arg(&file).arg("-o").arg(object).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
