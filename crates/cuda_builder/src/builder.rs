//! The builder, which turns a kernel crate into the final PTX.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::arch::Arch;
use crate::build_script;
use crate::error::BuildError;
use crate::files;
use crate::invocation::{Invocation, library_flags};
use crate::options::Options;
use crate::package::Package;
use crate::postprocess::{self, Fallback, Header};
use crate::toolchain::{Search, Toolchain};

impl Toolchain {
    /// Returns the first usable toolchain for the kernel crate in `folder`.
    ///
    /// # Errors
    /// [`BuildError::NoToolchain`], which lists the compilers that were tried and the packages to install.
    pub fn find(folder: &Path) -> Result<Toolchain, BuildError> {
        let search = Search::run(folder);
        match search.usable.first() {
            Some(toolchain) => Ok(toolchain.clone()),
            None => Err(BuildError::NoToolchain(search)),
        }
    }
}

/// Compiles a kernel crate to one PTX module.
///
/// The crate is an ordinary library, `no_std` when compiled for the GPU. Its kernels are `extern "ptx-kernel"`
/// functions with a fixed symbol name, as `cuda_std`'s `#[kernel]` makes them. If the crate lacks `#![no_std]` or the
/// compiler features for such functions, the builder adds them. A panic in a kernel becomes a trap.
///
/// The methods have the same names as in Rust-CUDA's builder.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    pub(crate) krate: PathBuf,
    pub(crate) options: Options,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    toolchain: Option<Toolchain>,
    sources: Option<String>,
    /// The architectures that the caller has chosen.
    pub(crate) archs: Vec<Arch>,
    pub(crate) machine_code: bool,
}

/// The result of a build.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BuildOutput {
    /// The text of the PTX module.
    pub ptx: String,
    /// The file of the PTX module: the file that [`CudaBuilder::copy_to`] sets, or a file under the target folder.
    pub path: PathBuf,
    /// The compiler's version, as in the header of the PTX.
    pub compiler: String,
    /// Every source file of the module, including those of dependencies in the same workspace.
    pub sources: Vec<PathBuf>,
    /// The parts of `cuda_std` that the kernels use and for which the architecture has no instructions.
    pub fallbacks: Vec<Fallback>,
}

impl CudaBuilder {
    /// Makes a builder for the kernel crate in folder `krate`, for [`Arch::Sm70`] with the crate's default features.
    pub fn new(krate: impl Into<PathBuf>) -> CudaBuilder {
        CudaBuilder {
            krate: krate.into(),
            options: Options::default(),
            copy_to: None,
            target_dir: None,
            toolchain: None,
            sources: None,
            archs: Vec::new(),
            machine_code: false,
        }
    }

    /// Sets the oldest architecture on which the PTX module must run.
    #[must_use]
    pub fn arch(self, arch: Arch) -> CudaBuilder {
        self.archs([arch])
    }

    /// Sets the architectures for which [`embed`](CudaBuilder::embed) builds the PTX module. A GPU loads the latest one
    /// that it can run. [`build`](CudaBuilder::build) builds for the oldest of them. An empty list restores the
    /// default.
    ///
    /// ```no_run
    /// # use cuda_builder::{Arch, CudaBuilder};
    /// fn main() -> std::process::ExitCode {
    ///     CudaBuilder::new("kernels").archs([Arch::Sm80, Arch::Sm90]).machine_code(true).embed()
    /// }
    /// ```
    #[must_use]
    pub fn archs(mut self, archs: impl IntoIterator<Item = Arch>) -> CudaBuilder {
        self.archs = archs.into_iter().collect();
        self.archs.sort_unstable();
        self.archs.dedup();
        self.options.arch = self.archs.first().copied().unwrap_or_default();
        self
    }

    /// Makes [`embed`](CudaBuilder::embed) add machine code for each architecture. NVIDIA's assembler `ptxas` makes it
    /// from the PTX. A GPU of that architecture, or of a later one with the same major number, then compiles nothing
    /// when the program starts. Other GPUs load the PTX. If there is no assembler on this machine, the build prints a
    /// warning and embeds the PTX alone. The default is `false`.
    #[doc(alias = "cubin")]
    #[must_use]
    pub fn machine_code(mut self, on: bool) -> CudaBuilder {
        self.machine_code = on;
        self
    }

    /// Enables features of the kernel crate.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> CudaBuilder {
        self.options.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Adds arguments for `cargo` when it compiles the kernel crate, such as `["--features", "fast"]`.
    #[must_use]
    pub fn build_args<S: AsRef<str>>(mut self, arguments: &[S]) -> CudaBuilder {
        self.options.cargo_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Adds arguments for `rustc` when it compiles the kernel crate, such as `["--cfg=tiny"]`. This compilation
    /// generates the code of all crates, so arguments that change code (`-Cllvm-args=…`) affect all of them.
    #[must_use]
    pub fn rustc_args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> CudaBuilder {
        self.options.rustc_args.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the file to which the PTX module is written. If the path is a symbolic link, the link stays and its target
    /// is written. A FIFO, a device or `/dev/stdout` is written in place.
    #[must_use]
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> CudaBuilder {
        self.copy_to = Some(path.into());
        self
    }

    /// Sets the folder for intermediate files. It keeps the compiled `core` for later builds of any kernel crate. The
    /// default is the folder in [`TARGET_DIR_VARIABLE`](crate::TARGET_DIR_VARIABLE), or else `cuda_builder` in the
    /// target folder.
    #[must_use]
    pub fn target_dir(mut self, path: impl Into<PathBuf>) -> CudaBuilder {
        self.target_dir = Some(path.into());
        self
    }

    /// Sets the toolchain. The default is the first usable one that [`Toolchain::find`] finds.
    #[must_use]
    pub fn toolchain(mut self, toolchain: Toolchain) -> CudaBuilder {
        self.toolchain = Some(toolchain);
        self
    }

    /// Sets a hash of the sources, which the builder writes to the header of the PTX module.
    #[must_use]
    pub fn source_hash(mut self, hash: impl Into<String>) -> CudaBuilder {
        self.sources = Some(hash.into());
        self
    }

    /// Builds the PTX module.
    ///
    /// In a build script, this function also prints, for the outer `cargo`, which files to watch.
    ///
    /// # Errors
    /// If there is no suitable compiler, if the crate does not compile, if the PTX is invalid, or if a file cannot be
    /// written.
    pub fn build(self) -> Result<BuildOutput, BuildError> {
        let manifest = Package::manifest(&self.krate)?;
        let toolchain = match &self.toolchain {
            Some(toolchain) => toolchain.clone(),
            None => Toolchain::find(manifest.parent().unwrap_or(&self.krate))?,
        };
        let package = Package::read(&manifest, toolchain.cargo(), toolchain.rustc(), &self.options)?;
        let known = toolchain
            .architectures()
            .map_err(|source| BuildError::Start { program: toolchain.rustc().to_owned(), source })?;
        if !known.contains(&self.options.arch) {
            let known: Vec<String> = known.iter().map(Arch::to_string).collect();
            let compiler = toolchain.version().to_owned();
            return Err(BuildError::UnknownArch { arch: self.options.arch, compiler, known: known.join(", ") });
        }
        let folder = files::absolute(&self.intermediate_folder(&package))?;
        // `cargo` uses the same folder for builds that differ only in their flags, and would compile `core` again each
        // time.
        let target_dir = folder.join(self.options.arch.to_string());
        let module = self.module_name(&package);
        let mut invocation = Invocation {
            toolchain: &toolchain,
            package: &package,
            target_dir: &target_dir,
            options: &self.options,
            libraries: library_flags(&package)?,
            has_alloc: false,
            known: &known,
        };
        let raw = invocation.compile(&module)?;
        let header = Header {
            compiler: toolchain.version().to_owned(),
            arch: self.options.arch,
            krate: package.library.name.clone(),
            features: self.options.features.clone(),
            sources: self.sources.clone(),
            text: None,
        };
        let (raw, fallbacks) = postprocess::take_fallbacks(&raw);
        let raw = if self.options.ftz { postprocess::flush_subnormals(&raw) } else { raw };
        let ptx = postprocess::finish(&raw, &header).map_err(|source| BuildError::Ptx {
            krate: package.name.clone(),
            arch: self.options.arch,
            source,
        })?;
        let path =
            self.copy_to.clone().unwrap_or_else(|| folder.join(format!("{module}-{:016x}.ptx", invocation.key())));
        files::write_whole(&path, &ptx)?;

        let sources = invocation.sources();
        if build_script::is_running() {
            let lock = package.workspace_root.join("Cargo.lock");
            build_script::announce(&[&sources[..], &[lock]].concat());
        }
        Ok(BuildOutput { ptx, path, compiler: toolchain.version().to_owned(), sources, fallbacks })
    }

    fn module_name(&self, package: &Package) -> String {
        let mut name = package.name.clone();
        for feature in &self.options.features {
            name.push('.');
            name.push_str(&feature.replace(['/', '\\'], "-"));
        }
        format!("{name}.{}", self.options.arch)
    }

    fn intermediate_folder(&self, package: &Package) -> PathBuf {
        if let Some(target_dir) = &self.target_dir {
            return target_dir.clone();
        }
        if let Some(target_dir) = std::env::var_os(build_script::TARGET_DIR_VARIABLE) {
            return target_dir.into();
        }
        let outer = if build_script::is_running() {
            build_script::target_folder()
        } else {
            std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from)
        };
        outer.unwrap_or_else(|| package.target_directory.clone()).join("cuda_builder")
    }
}

/// Defines methods that each turn one option on or off.
macro_rules! switches {
    ($($(#[$meta:meta])* $name:ident => $option:ident,)*) => {
        impl CudaBuilder {$(
            $(#[$meta])*
            #[must_use]
            pub fn $name(mut self, on: bool) -> CudaBuilder {
                self.options.$option = on;
                self
            }
        )*}
    };
}

switches! {
    /// Turns the kernel crate's default features on or off. The default is `true`.
    default_features => default_features,

    /// Omits debug assertions and overflow checks; `false` keeps them. A check that fails ends the kernel with a trap.
    /// The code is optimised in both cases. The default is `true`.
    release => release,

    /// Adds source lines to the instructions, for profilers and `compute-sanitizer`. The default is `false`.
    generate_line_info => line_info,

    /// Allows the compiler to fuse a multiplication and an addition into one instruction, which rounds once. Fused code
    /// is faster and mostly more accurate, but its results differ in their last bits from the simulator's. The default
    /// is `true`, as in nvcc and Rust-CUDA.
    #[doc(alias = "fma", alias = "fmad")]
    fma_contraction => fma,

    /// Flushes subnormal `f32` operands and results to zero, except in inline assembly. The default is `false`.
    ftz => ftz,

    /// Allows `f32` divisions with an error of up to 2 ulp (`div.full`), which are faster. The default is `false`.
    #[doc(alias = "prec-div")]
    fast_div => fast_div,

    /// Allows approximate `f32` square roots (`sqrt.approx`), which are faster. The default is `false`.
    #[doc(alias = "prec-sqrt")]
    fast_sqrt => fast_sqrt,

    /// Requires that the `Cargo.lock` of the crate already lists every dependency, as `cargo --locked` does. The
    /// default is `false`.
    locked => locked,
}
