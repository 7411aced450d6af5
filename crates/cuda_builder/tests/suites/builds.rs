//! Builds PTX from the sample crate in `fixtures/`, if this machine has a suitable compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use cuda_builder::{Arch, BuildError, CudaBuilder, Header, TARGET_DIR_VARIABLE, Toolchain};

use crate::assembler::found;
use crate::{intrinsics, scratch, toolchain};

pub fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kernels")
}

/// Copies the sample crate to another folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&source, &copied);
        } else if fs::read(&source).ok() != fs::read(&copied).ok() {
            fs::copy(&source, &copied).unwrap();
        }
    }
}

fn builder(toolchain: &Toolchain, krate: &Path, target: &Path) -> CudaBuilder {
    CudaBuilder::new(krate).toolchain(toolchain.clone()).target_dir(target).source_hash("none")
}

/// Returns the PTX of the sample crate with only the feature `fill`.
fn fill(toolchain: &Toolchain, krate: &Path, target: &Path) -> String {
    let build = builder(toolchain, krate, target).default_features(false).features(["fill"]).build();
    build.unwrap_or_else(|error| panic!("{error}")).ptx
}

/// Returns the text of a module without its comment lines.
fn without_comments(ptx: &str) -> String {
    ptx.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Returns the compiled `core` libraries in a target folder, with their modification times.
fn cores(target: &Path) -> Vec<(PathBuf, SystemTime)> {
    let folder = target.join("sm_70/nvptx64-nvidia-cuda/cuda-builder/deps");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cores =
        paths.filter(|path| path.to_string_lossy().ends_with(".rlib") && path.to_string_lossy().contains("libcore-"));
    cores
        .map(|path| (path.strip_prefix(target).unwrap().to_owned(), fs::metadata(&path).unwrap().modified().unwrap()))
        .collect()
}

/// The environment variable that names a kernel crate. The test below sets it for a child process, in which the test
/// plays the part of the crate's build script.
const KERNELS: &str = "CUDA_BUILDER_TEST_KERNELS";
const FEATURES: &str = "CUDA_BUILDER_TEST_FEATURES";

/// Checks that a build script writes the file for `launch::include_ptx!`, or prints the compiler's messages unchanged.
fn embedded(toolchain: &Toolchain, sample: &Path, target: &Path) {
    let out = tempfile::tempdir().unwrap();
    let run_with = |features: &str, rustc: &Path, environment: &[(&str, &Path)]| {
        let mut script = Command::new(std::env::current_exe().unwrap());
        script.args(["--exact", "builds::builds_the_sample_kernels", "--nocapture"]).env(KERNELS, sample);
        script.env(FEATURES, features).env("OUT_DIR", out.path()).envs([("HOST", ""), ("NUM_JOBS", "1")]);
        script.env("CARGO", toolchain.cargo()).env("RUSTC", toolchain.rustc());
        script.env("CUDA_BUILDER_RUSTC", rustc).env("CUDA_BUILDER_CARGO", toolchain.cargo());
        script.env_remove("CUDA_HOME").envs(environment.iter().copied());
        let output = script.env(TARGET_DIR_VARIABLE, target).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let run = |features: &str, rustc: &Path| run_with(features, rustc, &[]);
    let included = || fs::read_to_string(out.path().join("sample_kernels.rs")).unwrap();

    let (succeeded, stdout, stderr) = run("fill", toolchain.rustc());
    assert!(succeeded, "{stderr}");
    let ptx = out.path().join("sample_kernels.sm_70.ptx");
    let image = format!("PtxImage::new(70, include_str!({ptx:?})).compiled_at_open()");
    let modules = "&[PtxModule { path: \"sample_kernels\", images: &IMAGES }]";
    let expected = |images: &str, number| {
        format!("{{\n    static IMAGES: [PtxImage; {number}] = [{images}];\n    {modules}\n}}\n")
    };
    assert_eq!(included(), expected(&image, 1));
    assert!(fs::read_to_string(&ptx).unwrap().contains(".entry fill"));
    for watched in ["src/lib.rs", "table/src/lib.rs", "Cargo.toml", "Cargo.lock"] {
        assert!(stdout.contains(&format!("cargo::rerun-if-changed={}\n", sample.join(watched).display())), "{stdout}");
    }

    // Machine code, by the toolkit that CUDA_HOME names: the newest assembler that knows the architecture.
    for assembler in found() {
        let toolkit = assembler.parent().and_then(Path::parent).unwrap();
        let (succeeded, stdout, stderr) =
            run_with("fill", toolchain.rustc(), &[("CUDA_HOME", toolkit), ("PATH", out.path())]);
        assert!(succeeded, "{stderr}");
        let cubin = out.path().join("sample_kernels.sm_70.cubin");
        if stdout.contains("cargo::warning=no machine code for sm_70") {
            assert_eq!(included(), expected(&image, 1));
        } else {
            assert_eq!(included(), expected(&format!("{image}.with_machine_code(include_bytes!({cubin:?}))"), 1));
            assert!(fs::read(cubin).unwrap().starts_with(b"\x7fELF"));
        }
    }

    let (succeeded, _, stderr) = run("broken", toolchain.rustc());
    assert!(!succeeded);
    assert!(stderr.starts_with("error: the feature `broken` does not compile\n  --> src/lib.rs:"), "{stderr}");

    // Without a compiler there is a warning, and a module for the simulator only.
    let (succeeded, stdout, stderr) = run("fill", Path::new("/nonexistent/rustc"));
    assert!(succeeded, "{stderr}");
    assert!(
        stdout.contains("cargo::warning=no PTX is built") && stdout.contains("rustup component add rust-src"),
        "{stdout}"
    );
    assert_eq!(included(), expected("", 0));
}

/// Tests all builds of the sample kernels. They are one test, because separate tests would wait for each other's lock
/// of the target folder.
#[test]
fn builds_the_sample_kernels() {
    if let Some(kernels) = std::env::var_os(KERNELS) {
        let builder = CudaBuilder::new(kernels).features(std::env::var(FEATURES));
        let embedded = builder.machine_code(std::env::var_os("CUDA_HOME").is_some()).embed();
        std::process::exit(i32::from(embedded != ExitCode::SUCCESS));
    }
    let Some(toolchain) = toolchain(&fixture()) else { return };
    let here = scratch("here");
    let sample = here.join("sample");
    copy(&fixture(), &sample);
    let lock = fs::read(sample.join("Cargo.lock")).unwrap();
    let builder = |krate: &Path, target: &Path| builder(&toolchain, krate, target);

    // This build has the default features and the release settings, and is copied to the caller's path.
    let out = here.join("out/scale.ptx");
    let target = here.join("target");
    let scale = builder(&sample, &target).copy_to(&out).build().unwrap_or_else(|error| panic!("{error}"));
    let cores = cores(&target);
    assert!(!cores.is_empty());
    assert_eq!(fs::read_to_string(&out).unwrap(), scale.ptx);
    assert_eq!(scale.path, out);
    assert_eq!(scale.compiler, toolchain.version());
    assert!(scale.sources.iter().any(|path| path.ends_with("sample/src/lib.rs")), "{:?}", scale.sources);
    let header = Header::parse(&scale.ptx).unwrap();
    assert_eq!((header.arch, header.krate.as_str()), (Arch::Sm70, "sample_kernels"));
    assert_eq!(header.sources.as_deref(), Some("none"));
    assert!(scale.ptx.contains("\n.target sm_70\n"), "{}", scale.ptx);
    assert!(scale.ptx.contains(")\n.maxntid 256, 1, 1\n.minnctapersm 4\n{"), "{}", scale.ptx);
    assert!(!scale.ptx.contains(".entry fill"), "{}", scale.ptx);
    // A panic is a trap: no call and no message is left, although the host's profile says otherwise.
    assert!(scale.ptx.contains("trap;"), "{}", scale.ptx);
    assert!(!scale.ptx.contains("call"), "{}", scale.ptx);
    assert!(!scale.ptx.contains(".loc"), "{}", scale.ptx);

    // This build has another feature and a dependency whose symbols are mangled. Its text must be the same in any
    // folder.
    let text = fill(&toolchain, &sample, &target);
    assert!(text.contains(".entry fill") && !text.contains(".entry scale"), "{text}");
    assert!(text.contains("5table6square"), "{text}");

    // The intermediate file may have been removed.
    fs::remove_dir_all(target.join("sm_70/assembly")).unwrap();
    assert_eq!(fill(&toolchain, &sample, &target), text);

    // Source lines, on demand, name no folder of this machine.
    let lines =
        builder(&sample, &target).generate_line_info(true).build().unwrap_or_else(|error| panic!("{error}")).ptx;
    assert!(lines.contains(".loc"), "{lines}");
    assert!(lines.contains(".file\t1 \"/workspace/"), "{lines}");
    assert!(!lines.contains(&*here.to_string_lossy()), "{lines}");
    assert!(!lines.contains(".target sm_70, debug"), "{lines}");

    // This build sets the capabilities that Rust-CUDA's kernels test for, up to the architecture. It enables a feature
    // by an argument for `cargo`.
    let by_arguments = builder(&sample, &target).default_features(false).build_args(&["--features", "floats"]);
    let ptx = by_arguments.build().unwrap_or_else(|error| panic!("{error}")).ptx;
    let writes = |number: f32| ptx.contains(&format!(", {};", number.to_bits()));
    assert!(writes(70.0) && !writes(80.0), "{ptx}");

    embedded(&toolchain, &sample, &target);

    // The compiler's message reaches the caller.
    let error = builder(&sample, &target).features(["broken"]).build().unwrap_err().to_string();
    assert!(error.contains("the feature `broken` does not compile"), "{error}");
    let error = builder(&sample, &target).features(["unheard_of"]).build().unwrap_err().to_string();
    assert!(error.contains("unheard_of"), "{error}");

    // LLVM's message names no line: the builder finds the lines of the dependency.
    let error = builder(&sample, &target).features(["fenced"]).build().unwrap_err().to_string();
    let line = fs::read_to_string(sample.join("table/src/lib.rs")).unwrap();
    let line = 1 + line.lines().position(|line| line.contains("compiler_fence")).unwrap();
    let place = format!(
        "  --> {}:{line}: in the function `table::fenced` of the crate `table`, which \
         `sample_kernels::uses_a_fence` calls",
        sample.join("table/src/lib.rs").display()
    );
    assert!(error.contains(&place) && error.contains("`compiler_fence` does not compile for a GPU"), "{error}");

    assert_eq!(fs::read(sample.join("Cargo.lock")).unwrap(), lock);

    // In the twin, crates of the same names and paths have other, older sources. Each project is built with its own
    // sources.
    let twin = scratch("twin");
    copy(&fixture(), &twin);
    let dependency = twin.join("table/src/lib.rs");
    fs::write(&dependency, fs::read_to_string(&dependency).unwrap().replace("i * i", "i * 3")).unwrap();
    fs::File::options().append(true).open(&dependency).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let tripled = fill(&toolchain, &twin, &target);
    assert_ne!(without_comments(&tripled), without_comments(&text), "{tripled}");
    assert_eq!(fill(&toolchain, &sample, &target), text);
    assert_eq!(self::cores(&target), cores);

    // The text is the same in any folder. The compiled `core` moves with the folder and is not compiled again.
    let there = scratch("quite/another place");
    let moved = there.join("sample of another name");
    copy(&fixture(), &moved);
    let _ = fs::remove_dir_all(there.join("target"));
    fs::rename(&target, there.join("target")).unwrap();
    assert_eq!(fill(&toolchain, &moved, &there.join("target")), text);

    // The dependency `table` is missing from this lock file, as if it had been added after the file was written.
    fs::write(moved.join("Cargo.lock"), "version = 4\n").unwrap();
    let locked = builder(&moved, &there.join("target")).locked(true).build().unwrap_err().to_string();
    assert!(locked.contains("Cargo.lock") || locked.contains("lock file"), "{locked}");
    assert_eq!(fill(&toolchain, &moved, &there.join("target")), text);
    fs::rename(there.join("target"), &target).unwrap();
    assert_eq!(self::cores(&target), cores);

    // A project with another profile does not compile `core` again either.
    intrinsics::older_instructions_serve(builder(&intrinsics::kernels(), &target));
    assert_eq!(self::cores(&target), cores);
}

#[test]
fn says_what_is_no_kernel_crate() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("missing")] {
        let error = CudaBuilder::new(path).build().unwrap_err();
        assert!(matches!(error, BuildError::KernelCrate { .. }), "{error}");
        assert!(error.to_string().contains("Cargo.toml"), "{error}");
        assert_eq!(format!("{error:?}"), error.to_string(), "`Debug` differs from `Display`");
    }
}

#[test]
fn says_what_is_no_architecture() {
    let Some(toolchain) = toolchain(&fixture()) else { return };
    let error = CudaBuilder::new(fixture()).arch(Arch::sm(71)).toolchain(toolchain).build().unwrap_err();
    assert!(matches!(error, BuildError::UnknownArch { .. }), "{error}");
    assert!(error.to_string().contains("sm_90"), "{error}");
}
