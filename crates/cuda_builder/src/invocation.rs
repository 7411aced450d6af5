//! The call of `cargo` that compiles a kernel crate, with everything that decides its result.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TARGET;
use crate::arch::Arch;
use crate::command;
use crate::dep_info;
use crate::error::{BuildError, CargoFailure};
use crate::options::Options;
use crate::package::Package;
use crate::toolchain::{PanicTrap, Toolchain};

/// The profile that kernels are built with, defined on the command line: a workspace's own profiles are the host's.
const PROFILE: &str = "cuda-builder";

/// What a kernel crate needs of an unstable compiler: the ABI of an entry, and assembly beside it. They are turned on
/// from outside, so that on the host the crate is one for stable Rust.
const FEATURES: [&str; 2] = ["abi_ptx", "asm_experimental_arch"];

/// One build of a kernel crate.
pub(crate) struct Invocation<'a> {
    pub toolchain: &'a Toolchain,
    pub package: &'a Package,
    /// An absolute path.
    pub target_dir: &'a Path,
    pub options: &'a Options,
    /// The architectures that the compiler knows.
    pub known: &'a [Arch],
}

impl Invocation<'_> {
    /// The module as the compiler writes it; `name` distinguishes its file to a reader.
    pub(crate) fn compile(&self, name: &str) -> Result<String, BuildError> {
        let folder = self.target_dir.join("assembly");
        std::fs::create_dir_all(&folder).map_err(BuildError::io("create", &folder))?;
        let assembly = folder.join(format!("{name}-{:016x}.s", self.key()));
        let arguments = self.rustc_arguments(&assembly)?;
        self.cargo("rustc", &arguments)?;
        if !assembly.is_file() {
            // `cargo` holds the build for fresh, but somebody removed the file.
            self.cargo("clean", &["--package", &self.package.name].map(OsString::from))?;
            self.cargo("rustc", &arguments)?;
        }
        let ptx = std::fs::read_to_string(&assembly).map_err(BuildError::io("read", assembly))?;
        Ok(self.without_workspace(&ptx))
    }

    /// The text with `/workspace` for the workspace's folder, which source lines name.
    fn without_workspace(&self, ptx: &str) -> String {
        let folder = self.package.workspace_root.display().to_string();
        let renamed = |line: &str| match line.starts_with("\t.file") {
            true => line.replacen(&folder, "/workspace", 1),
            false => line.to_owned(),
        };
        ptx.split_inclusive('\n').map(renamed).collect()
    }

    /// The source files of the build just made.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let dep_info = self.target_dir.join(TARGET).join(PROFILE).join(format!("lib{}.d", self.package.library));
        let mut sources = dep_info::prerequisites(&std::fs::read_to_string(dep_info).unwrap_or_default());
        sources.push(self.package.manifest.clone());
        sources
    }

    /// The arguments of `cargo rustc` alone. A static library needs no linker, and with "fat" link-time optimisation
    /// its last compilation sees everything: what it emits as assembly is the whole module.
    fn rustc_arguments(&self, assembly: &Path) -> Result<Vec<OsString>, BuildError> {
        let mut arguments: Vec<OsString> = ["--lib", "--crate-type", "staticlib"].map(OsString::from).into();
        arguments.push("-Zbuild-std=core".into());
        if self.toolchain.panic_trap() == PanicTrap::CoreFeature {
            arguments.push("-Zbuild-std-features=panic_immediate_abort".into());
        }
        if !self.options.default_features {
            arguments.push("--no-default-features".into());
        }
        if !self.options.features.is_empty() {
            arguments.push("--features".into());
            arguments.push(self.options.features.join(",").into());
        }
        arguments.extend(self.options.cargo_args.iter().map(OsString::from));
        arguments.push("--".into());
        let missing = self.package.missing(&FEATURES)?;
        if missing.no_std {
            arguments.push("-Zcrate-attr=no_std".into());
        }
        if !missing.features.is_empty() {
            arguments.push(format!("-Zcrate-attr=feature({})", missing.features.join(", ")).into());
        }
        arguments.extend(self.options.code_generation());
        let mut emit = OsString::from("--emit=asm=");
        emit.push(assembly);
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
            .args([
                subcommand,
                "-Zprofile-rustflags",
                "--quiet",
                "--color",
                "never",
                "--profile",
                PROFILE,
                "--target",
                TARGET,
            ])
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

    fn profile(&self) -> [String; 17] {
        let checks = !self.options.release;
        let workspace = hash(&self.package.workspace_root);
        [
            "inherits = \"release\"".to_owned(),
            "opt-level = 3".to_owned(),
            "lto = \"fat\"".to_owned(),
            "codegen-units = 1".to_owned(),
            // How a panic ends is given by flags. What a project's own profile says would make its `core` another one.
            "panic = \"unwind\"".to_owned(),
            "incremental = false".to_owned(),
            format!("debug = {}", if self.options.line_info { "\"line-directives-only\"" } else { "false" }),
            // What a kernel calls of `core` is optimised with the kernel: optimised before, it is the same PTX, later.
            "package.core.opt-level = 0".to_owned(),
            "package.compiler_builtins.opt-level = 0".to_owned(),
            // One `core` does for builds with and without source lines: nobody asks for the lines of `core`.
            "package.core.debug = false".to_owned(),
            "package.compiler_builtins.debug = false".to_owned(),
            format!("debug-assertions = {checks}"),
            format!("overflow-checks = {checks}"),
            "build-override.opt-level = 0".to_owned(),
            // `cargo` names what it makes of a workspace's crate by the crate's path in the workspace. Projects that
            // share a target folder would get each other's crates.
            format!("rustflags = [\"--cfg=cuda_builder_workspace=\\\"{workspace:016x}\\\"\"]"),
            "package.\"*\".rustflags = []".to_owned(),
            "build-override.rustflags = []".to_owned(),
        ]
    }

    fn rustflags(&self) -> OsString {
        let mut flags: Vec<OsString> = vec![format!("-Ctarget-cpu={}", self.options.arch).into()];
        flags.extend(self.options.arch.ptx_feature().map(|feature| format!("-Ctarget-feature={feature}").into()));
        // As Rust-CUDA's compiler has them: every capability up to the one that is built for.
        let older = self.known.iter().filter(|&&arch| arch <= self.options.arch);
        flags.extend(older.map(|arch| format!("--cfg=target_feature=\"compute_{}\"", arch.number()).into()));
        flags.push("-Aexplicit_builtin_cfgs_in_flags".into());
        if self.toolchain.panic_trap() == PanicTrap::Strategy {
            flags.extend(["-Zunstable-options".into(), "-Cpanic=immediate-abort".into()]);
        }
        // Jump threading on MIR does not know that a barrier must not be duplicated (rust-lang/rust#137086). LLVM has a
        // jump threading of its own, which does.
        flags.push("-Zmir-enable-passes=-JumpThreading".into());
        // What is on for all that is optimised, and has to be for `core` too, which `profile` leaves to the last step:
        // what it inlines comes to the kernels as it is here.
        flags.extend(["-Zmir-opt-level=2".into(), "-Zinline-mir=yes".into()]);
        // Of two that fit, the later one holds.
        let cargo_home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        // Not the workspace: `core` would be compiled again for each. See `without_workspace`.
        let folders = [(Some(self.toolchain.library_source()), "/rust/library"), (cargo_home, "/cargo")];
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

    /// Distinguishes builds that share a target folder. `cargo` does not write the assembly again where it considers a
    /// build fresh, so that each distinct build has a file of its own.
    pub(crate) fn key(&self) -> u64 {
        let compiler = (self.toolchain.version(), self.toolchain.rustc(), &self.package.manifest);
        let features = (&self.options.features, self.options.default_features, &self.options.cargo_args);
        hash(&(compiler, features, self.rustflags(), self.profile(), self.options.code_generation()))
    }
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

/// The compiler's messages without the one on the PTX version that [`Invocation::rustflags`] asks for.
fn without_own_warning(stderr: &str) -> String {
    let own = "warning: unstable feature specified for `-Ctarget-feature`: `ptx";
    let messages = stderr.split_inclusive("\n\n");
    messages.filter(|message| !message.starts_with(own)).collect()
}
