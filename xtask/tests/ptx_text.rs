//! Checks the modules in `gpu/ptx` as texts, against the kernels' sources.

use std::collections::BTreeSet;
use std::fs;

use xtask::kernels::{self, Kernel};
use xtask::ptx::{self, Module};
use xtask::workspace::{ARCHS, Workspace, file_name};

/// Kernels whose PTX has another number of barriers than their own body's text: kernel, barriers, reason.
const BARRIER_EXCEPTIONS: &[(&str, usize, &str)] =
    &[("block_sum", 9, "one before the tree, and one for each of its eight steps, which are unrolled")];

/// A kernel in a module, with its source.
struct Built {
    file: String,
    module: Module,
    kernel: Kernel,
}

/// Each kernel of the sources in each of its modules.
fn built() -> Vec<Built> {
    let workspace = Workspace::open().unwrap();
    let mut built = Vec::new();
    for algorithm in workspace.algorithms().unwrap().names() {
        let folder = workspace.gpu().join("src").join(algorithm);
        let kernels = kernels::under(&folder).unwrap();
        assert!(!kernels.is_empty(), "{} has no kernel", folder.display());
        for arch in ARCHS {
            let file = file_name(algorithm, arch);
            let path = workspace.ptx().join(&file);
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask build-ptx` makes it", path.display()));
            let module = Module::parse(&text);
            assert_eq!(module.target, arch.to_string(), "{file}");
            let in_source: BTreeSet<&str> = kernels.iter().map(|(_, kernel)| kernel.name.as_str()).collect();
            let in_module: BTreeSet<&str> = module.entries.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(in_module, in_source, "the kernels of {file} are not those of gpu/src/{algorithm}");
            let of_kernel = |(_, kernel): &(_, Kernel)| Built {
                file: file.clone(),
                module: module.clone(),
                kernel: kernel.clone(),
            };
            built.extend(kernels.iter().map(of_kernel));
        }
    }
    assert!(!built.is_empty(), "there is no kernel to check");
    built
}

/// What is wrong with a kernel's text.
fn findings(built: &Built) -> Vec<String> {
    let Built { file, module, kernel } = built;
    let Some(entry) = module.entry(&kernel.name) else { return vec![format!("{file}: no entry `{}`", kernel.name)] };
    let mut findings = Vec::new();
    for function in module.reachable(entry) {
        for access in ptx::generic_accesses(function) {
            findings.push(format!("{file}:{}: generic access `{} {}`", access.line, access.opcode, access.operands));
        }
        for call in ptx::calls(function) {
            findings.push(format!("{file}:{}: call of `{}`", call.line, call.call_target().unwrap_or_default()));
        }
    }
    let threads = kernel.max_threads.map(|threads| format!("{threads}, 1, 1"));
    if entry.directive(".maxntid").map(str::to_owned) != threads {
        findings.push(format!("{file}: `{}` has .maxntid {:?}", kernel.name, entry.directive(".maxntid")));
    }
    let blocks = kernel.min_blocks.map(|blocks| blocks.to_string());
    if entry.directive(".minnctapersm").map(str::to_owned) != blocks {
        findings.push(format!("{file}: `{}` has .minnctapersm {:?}", kernel.name, entry.directive(".minnctapersm")));
    }
    let exception = BARRIER_EXCEPTIONS.iter().find(|(name, ..)| *name == kernel.name);
    let expected = exception.map_or(kernel.barriers, |(_, barriers, _)| *barriers);
    let barriers = ptx::barriers(module, entry);
    if barriers != expected {
        findings.push(format!("{file}: `{}` has {barriers} barriers, its source {expected}", kernel.name));
    }
    findings
}

#[test]
fn every_kernel_is_as_its_source_says() {
    let findings: Vec<String> = built().iter().flat_map(findings).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    let built = built();
    for (name, barriers, reason) in BARRIER_EXCEPTIONS {
        let kernel = built.iter().find(|built| built.kernel.name == *name);
        let kernel = kernel.unwrap_or_else(|| panic!("`{name}` is no kernel: {reason}"));
        assert_ne!(kernel.kernel.barriers, *barriers, "`{name}` is no exception");
    }
}

const SOURCE: &str = "#[kernel(max_threads = 64, min_blocks = 2)]\npub fn step() { thread::sync_threads(); }\n";
const SOUND: &str = "\
.target sm_70
.visible .entry step(
\t.param .u64 step_param_0
)
.maxntid 64, 1, 1
.minnctapersm 2
{
\tld.param.b64 \t%rd1, [step_param_0];
\tld.global.b32 \t%r1, [%rd1];
\tbar.sync 0;
\tcall.uni (retval0), vprintf, (param0, param1);
\tret;
}
";

fn findings_in(text: &str) -> Vec<String> {
    let kernel = kernels::kernels(SOURCE).remove(0);
    findings(&Built { file: "bad.ptx".to_owned(), module: Module::parse(text), kernel })
}

#[test]
fn a_sound_text_has_no_findings() {
    assert_eq!(findings_in(SOUND), [] as [String; 0]);
}

#[test]
fn each_fault_is_found() {
    let faults = [
        ("ld.global.b32", "ld.b32", "generic access"),
        ("vprintf", "_RNvCs_4core9panicking", "call of `_RNvCs_4core9panicking`"),
        (".maxntid 64, 1, 1\n", "", ".maxntid None"),
        (".maxntid 64", ".maxntid 128", ".maxntid Some"),
        (".minnctapersm 2\n", "", ".minnctapersm None"),
        ("\tbar.sync 0;\n", "", "0 barriers, its source 1"),
        ("\tbar.sync 0;\n", "\tbar.sync 0;\n\tbar.sync 0;\n", "2 barriers, its source 1"),
        (".entry step(", ".entry other(", "no entry `step`"),
    ];
    for (sound, faulty, expected) in faults {
        assert!(SOUND.contains(sound), "{sound}");
        let found = findings_in(&SOUND.replace(sound, faulty));
        assert!(found.len() == 1 && found[0].contains(expected), "{faulty}: {found:?}");
    }
}

/// The grid-stride iterator costs what the loop written by hand does: two multiplications before the loop, for the index
/// and the stride, and in it nothing but additions beside the work itself.
#[test]
fn a_grid_stride_loop_is_the_one_written_by_hand() {
    for built in built().iter().filter(|built| built.kernel.name == "saxpy_grid_stride") {
        let entry = built.module.entry(&built.kernel.name).unwrap();
        let count = |prefix: &str| entry.instructions.iter().filter(|i| i.opcode.starts_with(prefix)).count();
        let counts = ["ld.global", "st.global", "fma.", "mul", "mad", "div", "rem"].map(count);
        assert_eq!(counts, [2, 1, 1, 2, 0, 0, 0], "{}", built.file);
    }
}
