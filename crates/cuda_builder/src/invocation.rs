//! The call of `cargo` that compiles a kernel crate, with all settings on which the result depends.
//!
//! # Design
//!
//! Every build makes these four choices:
//!
//! - `panic = immediate-abort`: a panic becomes a `trap`.
//! - No jump threading on MIR. Rust's pass may duplicate a barrier, which is wrong (rust-lang/rust#137086); LLVM's pass
//!   does not. Without Rust's pass the bytewise Life kernel is also a fifth faster.
//! - Every function is convergent: LLVM then neither duplicates nor moves a call of it across a branch. From 1.96 on
//!   rustc says so itself (rust-lang/rust#153995). Under an older rustc, LLVM duplicated the call of a function with
//!   shuffles and a barrier before it inlined the function: a reduction of an own type never ended on a GPU.
//! - Flags that choose instructions are passed only to the last compilation, which generates the code of all crates.
//!   Every project can therefore share one compiled `core`.
//!
//! `alloc` is compiled only for the crates that need it, because it makes the first build longer. No metadata says
//! whether a crate needs `alloc`: features and dependencies decide. The first build is therefore without `alloc`. If a
//! crate does not find `alloc`, the builder repeats the build with it and writes a file to the target folder. Because
//! of this file, later builds skip the first attempt.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TARGET;
use crate::arch::Arch;
use crate::command;
use crate::dep_info;
use crate::error::{BuildError, CargoFailure, DUPLICATE_SYMBOL};
use crate::files;
use crate::llvm_ir::{self, Place, Uncompilable};
use crate::options::Options;
use crate::package::{KernelLibrary, Package};
use crate::sources::Kernels;
use crate::toolchain::Toolchain;

/// The name of the profile for kernels. It is defined on the command line, because a workspace's own profiles are for
/// the host.
const PROFILE: &str = "cuda-builder";

/// The unstable compiler features that a kernel crate needs: the ABI of an entry, and inline assembly. The command line
/// sets them, so that the crate compiles with stable Rust on the host.
const FEATURES: [&str; 2] = ["abi_ptx", "asm_experimental_arch"];

/// The kind of the compiler's output that is PTX.
const ASSEMBLY: &str = "asm";

/// One build of a kernel crate.
pub(crate) struct Invocation<'a> {
    pub toolchain: &'a Toolchain,
    pub package: &'a Package,
    /// The folder for intermediate files, an absolute path.
    pub target_dir: &'a Path,
    pub options: &'a Options,
    /// The flags of each library that may contain kernels, from [`library_flags`].
    pub libraries: Vec<String>,
    /// True if `alloc` is compiled, too. [`compile`](Invocation::compile) sets it.
    pub has_alloc: bool,
    /// The architectures that the compiler knows.
    pub known: &'a [Arch],
}

impl Invocation<'_> {
    /// Compiles the module, with `alloc` if a crate needs it, and returns the compiler's PTX. `name` makes the name of
    /// the output file readable.
    pub(crate) fn compile(&mut self, name: &str) -> Result<String, BuildError> {
        let note = self.target_dir.join("with-alloc").join(format!("{name}-{:016x}", self.key()));
        self.has_alloc = note.is_file();
        let result = match self.compile_to(ASSEMBLY, name) {
            Err(BuildError::Cargo(failure)) if !self.has_alloc && failure.lacks_alloc() => {
                files::write_whole(&note, "")?;
                self.has_alloc = true;
                self.compile_to(ASSEMBLY, name)
            }
            result => result,
        };
        match result {
            Ok(ptx) => Ok(self.without_workspace(&ptx)),
            Err(BuildError::Cargo(failure)) => Err(BuildError::Cargo(Box::new(self.explained(*failure, name)))),
            Err(error) => Err(error),
        }
    }

    /// Adds source lines to the message of an LLVM failure, because LLVM's own message does not name them. For
    /// operations that LLVM cannot compile, this function compiles the module again.
    fn explained(&self, failure: CargoFailure, name: &str) -> CargoFailure {
        if failure.stderr.contains(DUPLICATE_SYMBOL) {
            let problems = Kernels::problems(&self.package.kernels()).join("\n");
            return CargoFailure { stderr: format!("{}\n{problems}", failure.stderr.trim_end()), ..failure };
        }
        let Some(of) = Uncompilable::in_messages(&failure.stderr) else { return failure };
        let places = self.llvm_ir(name).map(|ir| llvm_ir::places(&ir, of)).unwrap_or_default();
        let cargo_home = cargo_home().unwrap_or_default();
        let place = |place: &Place| match place.file.strip_prefix("/cargo/") {
            Some(file) => Place { file: cargo_home.join(file).display().to_string(), ..place.clone() }.to_string(),
            None => place.to_string(),
        };
        let lines = places.iter().map(|found| format!("  --> {}\n", place(found)));
        // The message of LLVM comes last, without the long command line.
        let messages = failure.stderr.split("\n\nCaused by:").next().unwrap_or_default().trim_end();
        CargoFailure { stderr: format!("{messages}\n{}", lines.collect::<String>()), ..failure }
    }

    /// Compiles the module, with source lines, to LLVM's intermediate code. This code can express every operation.
    fn llvm_ir(&self, name: &str) -> Result<String, BuildError> {
        let options = Options { line_info: true, ..self.options.clone() };
        let with_lines = Invocation { options: &options, libraries: self.libraries.clone(), ..*self };
        with_lines.compile_to("llvm-ir", name)
    }

    /// Compiles the module to this kind of output, and returns the output.
    fn compile_to(&self, kind: &str, name: &str) -> Result<String, BuildError> {
        let folder = self.target_dir.join("assembly");
        std::fs::create_dir_all(&folder).map_err(BuildError::io("create", &folder))?;
        let extension = if kind == ASSEMBLY { "s" } else { kind };
        let output = folder.join(format!("{name}-{:016x}.{extension}", self.key()));
        let arguments = self.rustc_arguments(kind, &output)?;
        self.cargo("rustc", &arguments)?;
        if !output.is_file() {
            // `cargo` considers the build fresh, but the file was removed.
            self.cargo("clean", &["--package", &self.package.name].map(OsString::from))?;
            self.cargo("rustc", &arguments)?;
        }
        std::fs::read_to_string(&output).map_err(BuildError::io("read", output))
    }

    /// Replaces the path of the workspace's folder in the source lines of `ptx` by `/workspace`.
    fn without_workspace(&self, ptx: &str) -> String {
        let folder = self.package.workspace_root.display().to_string();
        let renamed = |line: &str| match line.starts_with("\t.file") {
            true => line.replacen(&folder, "/workspace", 1),
            false => line.to_owned(),
        };
        ptx.split_inclusive('\n').map(renamed).collect()
    }

    /// Returns the source files of the last build of this crate.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let dep_info = self.target_dir.join(TARGET).join(PROFILE).join(format!("lib{}.d", self.package.library.name));
        let mut sources = dep_info::prerequisites(&std::fs::read_to_string(dep_info).unwrap_or_default());
        sources.push(self.package.manifest.clone());
        sources
    }

    /// Returns the arguments of `cargo rustc`, with which the compiler writes this kind of output to `path`. A static
    /// library needs no linker. With "fat" link-time optimisation the last compilation has all code, so its assembly
    /// output is the whole module.
    fn rustc_arguments(&self, kind: &str, path: &Path) -> Result<Vec<OsString>, BuildError> {
        let mut arguments: Vec<OsString> = ["--lib", "--crate-type", "staticlib"].map(OsString::from).into();
        arguments.push(if self.has_alloc { "-Zbuild-std=core,alloc" } else { "-Zbuild-std=core" }.into());
        if !self.options.default_features {
            arguments.push("--no-default-features".into());
        }
        if !self.options.features.is_empty() {
            arguments.push("--features".into());
            arguments.push(self.options.features.join(",").into());
        }
        arguments.extend(self.options.cargo_args.iter().map(OsString::from));
        arguments.push("--".into());
        arguments.extend(self.package.library.attributes(&FEATURES)?.into_iter().map(OsString::from));
        arguments.extend(self.options.code_generation());
        let mut emit = OsString::from(format!("--emit={kind}="));
        emit.push(path);
        arguments.push(emit);
        Ok(arguments)
    }

    fn cargo(&self, subcommand: &str, arguments: &[OsString]) -> Result<(), BuildError> {
        let mut command = command::clean(self.toolchain.cargo());
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTC", self.toolchain.rustc())
            .env("RUSTC_WRAPPER", "")
            .env("RUSTC_WORKSPACE_WRAPPER", "")
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags())
            .current_dir(&self.package.workspace_root)
            .args([subcommand, "-Zprofile-rustflags", "--quiet", "--color", "never"])
            .args(["--profile", PROFILE, "--target", TARGET])
            .arg("--manifest-path")
            .arg(&self.package.manifest)
            .arg("--target-dir")
            .arg(self.target_dir);
        if self.options.locked {
            command.arg("--locked");
        }
        for setting in self.profile() {
            command.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
        }
        run(command.args(arguments))
    }

    fn profile(&self) -> Vec<String> {
        let checks = !self.options.release;
        let settings = [
            "inherits = \"release\"".to_owned(),
            "opt-level = 3".to_owned(),
            "lto = \"fat\"".to_owned(),
            "codegen-units = 1".to_owned(),
            // Flags set the panic strategy. A value from the project's profile would require a separate `core` for the
            // project.
            "panic = \"unwind\"".to_owned(),
            "incremental = false".to_owned(),
            format!("debug = {}", if self.options.line_info { "\"line-directives-only\"" } else { "false" }),
            // Functions of `core` are optimised together with the kernel that calls them. Optimising them beforehand
            // gives the same PTX, but takes longer.
            "package.core.opt-level = 0".to_owned(),
            "package.compiler_builtins.opt-level = 0".to_owned(),
            // Builds with and without source lines share one `core`, which needs no source lines.
            "package.core.debug = false".to_owned(),
            "package.compiler_builtins.debug = false".to_owned(),
            format!("debug-assertions = {checks}"),
            format!("overflow-checks = {checks}"),
            "build-override.opt-level = 0".to_owned(),
            format!("rustflags = {:?}", [workspace_flag(self.package)]),
            "package.\"*\".rustflags = []".to_owned(),
            "build-override.rustflags = []".to_owned(),
        ];
        settings.into_iter().chain(self.libraries.iter().cloned()).chain(self.alloc_settings()).collect()
    }

    /// Returns the profile settings with which `cargo` compiles `alloc` in the same way as `core`, and `cuda_std` with
    /// an allocator.
    fn alloc_settings(&self) -> Vec<String> {
        if !self.has_alloc {
            return Vec::new();
        }
        let mut settings = vec!["package.alloc.opt-level = 0".to_owned(), "package.alloc.debug = false".to_owned()];
        settings.extend(self.package.device_library.as_ref().map(|found| {
            let mut flags = vec!["--cfg=cuda_builder_alloc".to_owned()];
            flags.extend(found.is_in_workspace.then(|| workspace_flag(self.package)));
            format!("package.{:?}.rustflags = {flags:?}", found.package)
        }));
        settings
    }

    fn rustflags(&self) -> OsString {
        let mut flags: Vec<OsString> = vec![format!("-Ctarget-cpu={}", self.options.arch).into()];
        flags.extend(self.options.arch.ptx_feature().map(|feature| format!("-Ctarget-feature={feature}").into()));
        // These are the capabilities up to the target's, as in Rust-CUDA's compiler.
        let older = self.known.iter().filter(|&&arch| arch <= self.options.arch && !arch.is_specific());
        flags.extend(older.map(|arch| format!("--cfg=target_feature=\"compute_{}\"", arch.number()).into()));
        flags.push("-Aexplicit_builtin_cfgs_in_flags".into());
        flags.extend(["-Zunstable-options".into(), "-Cpanic=immediate-abort".into()]);
        // MIR jump threading may duplicate a barrier, which is wrong (rust-lang/rust#137086). LLVM's own jump threading
        // does not.
        flags.push("-Zmir-enable-passes=-JumpThreading".into());
        if !self.toolchain.marks_functions_convergent() {
            flags.push("-Cllvm-args=-force-attribute=convergent".into());
        }
        // These are the defaults of optimised crates. They are also set for `core`, which `profile` does not optimise:
        // its functions are then inlined into kernels in the same form.
        flags.extend(["-Zmir-opt-level=2".into(), "-Zinline-mir=yes".into()]);
        // If two prefixes match, the later one applies.
        // The workspace is not remapped here, because `core` would be compiled again for each. See `without_workspace`.
        let folders = [(Some(self.toolchain.library_source()), "/rust/library"), (cargo_home(), "/cargo")];
        for (folder, name) in folders {
            if let Some(folder) = folder {
                let mut flag = OsString::from("--remap-path-prefix=");
                flag.push(folder);
                flag.push("=");
                flag.push(name);
                flags.push(flag);
            }
        }
        flags.join(&OsString::from("\x1f"))
    }

    /// Returns a number that distinguishes builds which share a target folder. `cargo` does not rewrite the assembly of
    /// a build that it considers fresh, so each distinct build has its own assembly file.
    pub(crate) fn key(&self) -> u64 {
        let compiler = (self.toolchain.version(), self.toolchain.rustc(), &self.package.manifest);
        let features = (&self.options.features, self.options.default_features, &self.options.cargo_args);
        hash(&(compiler, features, self.rustflags(), self.profile(), self.options.code_generation()))
    }
}

/// Returns the folder with the sources of dependencies, whose name must not reach the PTX.
fn cargo_home() -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Returns the flag that all crates of the package's workspace are compiled with. `cargo` names the files of a
/// workspace's crate by the crate's path in the workspace. Projects that share a target folder would otherwise use each
/// other's crates.
fn workspace_flag(package: &Package) -> String {
    format!("--cfg=cuda_builder_workspace=\"{:016x}\"", hash(&package.workspace_root))
}

/// Returns the settings of a profile that let the package's libraries contain kernels, as its own crate does.
pub(crate) fn library_flags(package: &Package) -> Result<Vec<String>, BuildError> {
    let setting = |found: &KernelLibrary| {
        let mut flags = found.library.attributes(&FEATURES)?;
        if found.is_in_workspace {
            flags.push(workspace_flag(package));
        }
        Ok(format!("package.{:?}.rustflags = {flags:?}", found.package))
    };
    package.libraries.iter().map(setting).collect()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn run(command: &mut Command) -> Result<(), BuildError> {
    let program = PathBuf::from(command.get_program());
    let output = command.stdin(Stdio::null()).output().map_err(|source| BuildError::Start { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(BuildError::Cargo(Box::new(CargoFailure {
        command: command::display(command),
        status: output.status,
        stderr: without_own_warning(&String::from_utf8_lossy(&output.stderr)),
    })))
}

/// Returns the compiler's messages without the warning that the PTX version of [`Invocation::rustflags`] causes.
fn without_own_warning(stderr: &str) -> String {
    let own = "warning: unstable feature specified for `-Ctarget-feature`: `ptx";
    let messages = stderr.split_inclusive("\n\n");
    messages.filter(|message| !message.starts_with(own)).collect()
}
