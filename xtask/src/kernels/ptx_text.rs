//! Tests that the modules in `gpu/ptx` agree with the kernels' sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use super::bodies::{Source, sources};
use super::ptx_exceptions::{CALLS, Call, EXCEPTIONS, Exception};
use super::{Kernel, Rule, source_texts};
use crate::modules::file_name;
use crate::pattern;
use crate::ptx::{self, Barriers, Module, is_of_missing};
use crate::workspace::Workspace;

/// Returns true if `mangled`, a name in the PTX, is the mangled name of `function`. A mangled name has each part of the
/// function's path, preceded by the part's length.
fn is_named(mangled: &str, function: &str) -> bool {
    mangled.contains(&format!("{}{function}", function.len()))
}

/// A module with the number of kernels that use each shared array.
struct Image {
    module: Module,
    users: BTreeMap<String, usize>,
}

impl Image {
    fn new(text: &str) -> Image {
        let module = Module::parse(text);
        let mut users = BTreeMap::new();
        for array in module.entries.iter().flat_map(|entry| ptx::shared_arrays(&module, entry)) {
            *users.entry(array.to_owned()).or_default() += 1;
        }
        Image { module, users }
    }
}

/// A kernel in a module.
struct Built {
    file: String,
    image: Arc<Image>,
    source: Source,
}

/// All kernels of the sources, once for each module that contains them. The tests share this list.
static BUILT: LazyLock<Vec<Built>> = LazyLock::new(|| {
    let workspace = Workspace::open().unwrap();
    let algorithms = workspace.algorithms().unwrap();
    let mut built = Vec::new();
    for algorithm in algorithms.names() {
        let kernels = sources(&source_texts(&workspace, &algorithms, algorithm).unwrap()).unwrap();
        assert!(!kernels.is_empty(), "gpu/src/{algorithm} has no kernel");
        let in_source: BTreeSet<&str> = kernels.iter().map(|source| source.kernel.name.as_str()).collect();
        assert_eq!(in_source.len(), kernels.len(), "two kernels of {algorithm} have the same name");
        for arch in algorithms.archs(algorithm) {
            let file = file_name(algorithm, arch);
            let path = workspace.ptx().join(&file);
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask build-ptx` makes it", path.display()));
            let image = Arc::new(Image::new(&text));
            let module = &image.module;
            assert_eq!(module.target, arch.to_string(), "{file}");
            let in_module: BTreeSet<&str> = module.entries.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(in_module, in_source, "the kernels of {file} are not those of gpu/src/{algorithm}");
            let of_kernel =
                |source: &Source| Built { file: file.clone(), image: Arc::clone(&image), source: source.clone() };
            built.extend(kernels.iter().map(of_kernel));
        }
    }
    assert!(!built.is_empty(), "there is no kernel to check");
    built
});

/// Returns the findings in a kernel's PTX.
fn findings(built: &Built) -> Vec<String> {
    let Built { file, image, source } = built;
    let (module, kernel) = (&image.module, &source.kernel);
    let Some(entry) = module.entry(&kernel.name) else { return vec![format!("{file}: no entry `{}`", kernel.name)] };
    let mut findings = Vec::new();
    for function in module.reachable(entry).into_iter().filter(|function| !is_of_missing(&function.name)) {
        let may_be_generic = kernel.expected.allowed.iter().any(|(rule, _)| *rule == Rule::Generic);
        for access in ptx::generic_accesses(function).into_iter().filter(|_| !may_be_generic) {
            findings.push(format!("{file}:{}: generic access `{} {}`", access.line, access.opcode, access.operands));
        }
        for call in ptx::calls(function) {
            let target = call.call_target().unwrap_or_default();
            let is_right =
                |call: &Call| pattern::matches(call.kernels, &kernel.name) && is_named(target, call.function);
            if !is_of_missing(target) && !CALLS.iter().any(is_right) {
                findings.push(format!("{file}:{}: call of `{target}`", call.line));
            }
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
    // A missing instruction ends the kernel, so that the compiler removes the code behind it.
    if !module.lacks_instructions(entry) {
        let of_source =
            [barrier_finding(source, ptx::barriers(module, entry), EXCEPTIONS), array_finding(source, image, entry)];
        findings.extend(of_source.into_iter().flatten().map(|finding| format!("{file}: {finding}")));
    }
    findings
}

/// Returns a finding if the number of barriers differs from the source.
fn barrier_finding(source: &Source, barriers: Barriers, exceptions: &[Exception]) -> Option<String> {
    let Source { kernel: Kernel { name, file, line, .. }, unclear, .. } = source;
    let at = format!("{}:{line}: `{name}`", file.display());
    let about: Vec<&Exception> = exceptions.iter().filter(|exception| exception.is_about(name)).collect();
    let expected = match about[..] {
        [] if unclear.is_empty() => source.barriers,
        [] => {
            let unclear: Vec<&str> = unclear.iter().map(String::as_str).collect();
            return Some(format!(
                "{at} calls one of several `{}`: an exception must state the number of barriers",
                unclear.join("`, `")
            ));
        }
        [one] => one.barriers,
        _ => return Some(format!("{at} matches {} exceptions", about.len())),
    };
    (barriers != expected).then(|| format!("{at} has {barriers}, its source {expected}"))
}

/// Returns a finding if the kernel's shared arrays differ from the source, or if other kernels use them too.
fn array_finding(source: &Source, image: &Image, entry: &ptx::Function) -> Option<String> {
    let Source { kernel, arrays, called_arrays, .. } = source;
    let at = format!("{}:{}: `{}`", kernel.file.display(), kernel.line, kernel.name);
    let used = ptx::shared_arrays(&image.module, entry);
    let declared = arrays.len() + called_arrays;
    if used.len() > declared || (used.is_empty() && declared > 0) {
        return Some(format!("{at} uses {} shared arrays, its source declares {declared}", used.len()));
    }
    // Kernels that call the same function share its arrays.
    let common = used.iter().filter(|name| image.users[**name] > 1).count();
    if common > *called_arrays {
        return Some(format!("{at} has {common} shared arrays in common with other kernels"));
    }
    let mut sizes: Vec<u64> = used.iter().map(|name| image.module.shared[*name]).collect();
    for size in arrays.iter().flatten() {
        match sizes.iter().position(|other| other == size) {
            Some(at) => drop(sizes.swap_remove(at)),
            None => return Some(format!("{at} has no shared array of {size} bytes, but {sizes:?}")),
        }
    }
    None
}

#[test]
fn every_kernel_is_as_its_source_says() {
    let findings: Vec<String> = BUILT.iter().flat_map(findings).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    for exception in EXCEPTIONS {
        let Exception { kernels, barriers, reason } = exception;
        let mut meant =
            BUILT.iter().map(|built| &built.source).filter(|source| exception.is_about(&source.kernel.name)).peekable();
        assert!(meant.peek().is_some(), "`{kernels}` is no kernel: {reason}");
        assert!(
            meant.any(|source| source.barriers != *barriers || !source.unclear.is_empty()),
            "`{kernels}` is no exception"
        );
    }
    for Call { kernels, function, reason } in CALLS {
        let is_called = |built: &Built| {
            let Built { image, source, .. } = built;
            let entry = image.module.entry(&source.kernel.name);
            entry.is_some_and(|entry| {
                image.module.reachable(entry).iter().any(|called| is_named(&called.name, function))
            })
        };
        let mut meant = BUILT.iter().filter(|built| pattern::matches(kernels, &built.source.kernel.name)).peekable();
        assert!(meant.peek().is_some(), "`{kernels}` is no kernel: {reason}");
        assert!(meant.all(is_called), "`{kernels}` do not call `{function}`: {reason}");
    }
}

const SOURCE: &str = "#[kernel(max_threads = 64, min_blocks = 2)]\npub fn step() { thread::sync_threads(); \
    let tile = shared_array![f32; 64]; helper(); }\nfn helper() { shared_array![u8; 16]; }";
const SOUND: &str = "\
.target sm_70
.shared .align 16 .b8 own[256];
.shared .align 16 .b8 common[16];
.visible .entry step(
\t.param .u64 step_param_0
)
.maxntid 64, 1, 1
.minnctapersm 2
{
\tld.param.b64 \t%rd1, [step_param_0];
\tld.global.b32 \t%r1, [%rd1];
\tbar.sync 0;
\tmov.u32 %r2, own;
\tmov.u32 %r3, common;
\tcall.uni (retval0), vprintf, (param0, param1);
\tret;
}
.visible .entry neighbour(
)
{
\tmov.u32 %r2, common;
\tret;
}
";

fn source(text: &str) -> Source {
    sources(&[(PathBuf::from("step.rs"), text.to_owned())]).unwrap().remove(0)
}

fn findings_in(text: &str) -> Vec<String> {
    findings(&Built { file: "bad.ptx".to_owned(), image: Arc::new(Image::new(text)), source: source(SOURCE) })
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
        ("\tbar.sync 0;\n", "", "0 block and 0 warp barriers, its source 1 block"),
        ("\tbar.sync 0;\n", "\tbar.sync 0;\n\tbar.sync 0;\n", "2 block and 0 warp barriers, its source 1 block"),
        ("\tbar.sync 0;\n", "\tbar.sync 0;\n\tbar.warp.sync -1;\n", "1 block and 1 warp barriers, its source 1 block"),
        (".entry step(", ".entry other(", "no entry `step`"),
        ("own[256]", "own[128]", "no shared array of 256 bytes, but [16, 128]"),
        ("{\n\tmov.u32 %r2, common", "{\n\tadd.u32 %r2, own, common", "2 shared arrays in common"),
        ("\tmov.u32 %r2, own;\n\tmov.u32 %r3, common;\n", "", "uses 0 shared arrays, its source declares 2"),
    ];
    for (sound, faulty, expected) in faults {
        assert!(SOUND.contains(sound), "{sound}");
        let found = findings_in(&SOUND.replace(sound, faulty));
        assert!(found.len() == 1 && found[0].contains(expected), "{faulty}: {found:?}");
    }
}

#[test]
fn an_exception_is_exact_for_the_kernels_that_it_names() {
    let sum = |kernels, block| Exception { kernels, barriers: Barriers { block, warp: 0 }, reason: "" };
    let finding = |block, exceptions: &[Exception]| {
        barrier_finding(&source(SOURCE), Barriers { block, warp: 0 }, exceptions).unwrap_or_default()
    };
    assert_eq!(finding(1, &[]), "");
    assert_eq!(finding(5, &[sum("step", 5)]), "");
    assert!(finding(1, &[sum("step", 5)]).contains("1 block and 0 warp barriers, its source 5 block"));
    assert!(finding(5, &[sum("step", 5), sum("s*", 5)]).contains("matches 2 exceptions"));
}

#[test]
fn one_of_several_functions_with_barriers_needs_an_exception() {
    let mut unclear = source(SOURCE);
    unclear.unclear.insert("wait".to_owned());
    let barriers = unclear.barriers;
    let found = barrier_finding(&unclear, barriers, &[]).unwrap();
    assert!(found.starts_with("step.rs:1: `step` calls one of several `wait`"), "{found}");
    let exception = Exception { kernels: "step", barriers, reason: "" };
    assert_eq!(barrier_finding(&unclear, barriers, &[exception]), None);
}

/// Tests that the grid-stride iterator compiles to the same instructions as a loop written by hand: two multiplications
/// before the loop, for the index and the stride, and only additions in the loop.
#[test]
fn a_grid_stride_loop_is_the_one_written_by_hand() {
    for built in BUILT.iter().filter(|built| built.source.kernel.name == "saxpy_grid_stride") {
        let entry = built.image.module.entry(&built.source.kernel.name).unwrap();
        let count = |prefix: &str| entry.instructions.iter().filter(|i| i.opcode.starts_with(prefix)).count();
        let counts = ["ld.global", "st.global", "fma.", "mul", "mad", "div", "rem"].map(count);
        assert_eq!(counts, [2, 1, 1, 2, 0, 0, 0], "{}", built.file);
    }
}
