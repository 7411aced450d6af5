//! The builder: from a kernel crate's folder to a finished PTX text.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::arch::Arch;
use crate::build_script;
use crate::error::BuildError;
use crate::files;
use crate::invocation::Invocation;
use crate::options::Options;
use crate::package::Package;
use crate::postprocess::{self, Fallback, Header};
use crate::toolchain::{Search, Toolchain};

impl Toolchain {
    /// The first usable toolchain for a kernel crate in `folder`.
    ///
    /// # Errors
    /// [`BuildError::NoToolchain`], which says what was tried and what to install.
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
/// The crate is an ordinary library, `no_std` when compiled for the GPU; its kernels are `extern "ptx-kernel"`
/// functions with a fixed symbol name, as `cuda_std`'s `#[kernel]` makes them. `#![no_std]` and the compiler features
/// that such functions need are given by the builder where the crate does not do it. A panic in a kernel becomes a
/// trap.
///
/// The methods are named as those of Rust-CUDA's builder.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    pub(crate) krate: PathBuf,
    pub(crate) options: Options,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    toolchain: Option<Toolchain>,
    sources: Option<String>,
    /// Whether [`arch`](CudaBuilder::arch) was called.
    pub(crate) is_arch_given: bool,
}

/// A finished build.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BuildOutput {
    /// The PTX module's text.
    pub ptx: String,
    /// The file that holds it: where [`CudaBuilder::copy_to`] says, or one under the target folder.
    pub path: PathBuf,
    /// The compiler's version, as the text's header records it.
    pub compiler: String,
    /// Every source file that went into it, those of dependencies in the same workspace included.
    pub sources: Vec<PathBuf>,
    /// What the kernels use of `cuda_std` that the architecture has no instructions for.
    pub fallbacks: Vec<Fallback>,
}

impl CudaBuilder {
    /// A builder for the kernel crate in folder `krate`, for [`Arch::Sm70`] with the crate's default features.
    pub fn new(krate: impl Into<PathBuf>) -> CudaBuilder {
        CudaBuilder {
            krate: krate.into(),
            options: Options::default(),
            copy_to: None,
            target_dir: None,
            toolchain: None,
            sources: None,
            is_arch_given: false,
        }
    }

    /// The oldest architecture that the module must run on.
    #[must_use]
    pub fn arch(mut self, arch: Arch) -> CudaBuilder {
        self.options.arch = arch;
        self.is_arch_given = true;
        self
    }

    /// Features of the kernel crate to turn on.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> CudaBuilder {
        self.options.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Whether the kernel crate's default features are on; they are unless this says otherwise.
    #[must_use]
    pub fn default_features(mut self, on: bool) -> CudaBuilder {
        self.options.default_features = on;
        self
    }

    /// `false` keeps debug assertions and overflow checks, each of which ends the kernel with a trap where it fails.
    /// The code is optimised in both cases. The default is `true`.
    #[must_use]
    pub fn release(mut self, release: bool) -> CudaBuilder {
        self.options.release = release;
        self
    }

    /// Whether instructions carry their source lines, for profilers and `compute-sanitizer`. The default is `false`.
    #[must_use]
    pub fn generate_line_info(mut self, on: bool) -> CudaBuilder {
        self.options.line_info = on;
        self
    }

    /// Whether a multiplication and an addition may become one instruction, which rounds once: faster, mostly more
    /// accurate, and not the bits that the simulator computes. The default is `true`, as nvcc's and Rust-CUDA's.
    #[must_use]
    #[doc(alias = "fma", alias = "fmad")]
    pub fn fma_contraction(mut self, on: bool) -> CudaBuilder {
        self.options.fma = on;
        self
    }

    /// Whether subnormal `f32`s are taken and given as zero, in all but inline assembly. The default is `false`.
    #[must_use]
    pub fn ftz(mut self, on: bool) -> CudaBuilder {
        self.options.ftz = on;
        self
    }

    /// Whether divisions of `f32` are approximate, to 2 ulp (`div.full`). The default is `false`.
    #[must_use]
    #[doc(alias = "prec-div")]
    pub fn fast_div(mut self, on: bool) -> CudaBuilder {
        self.options.fast_div = on;
        self
    }

    /// Whether square roots of `f32` are approximate (`sqrt.approx`). The default is `false`.
    #[must_use]
    #[doc(alias = "prec-sqrt")]
    pub fn fast_sqrt(mut self, on: bool) -> CudaBuilder {
        self.options.fast_sqrt = on;
        self
    }

    /// Further arguments of `cargo` for the kernel crate, such as `["--features", "fast"]`.
    #[must_use]
    pub fn build_args<S: AsRef<str>>(mut self, arguments: &[S]) -> CudaBuilder {
        self.options.cargo_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Further arguments of `rustc` for the kernel crate, such as `["--cfg=tiny"]`. The code of all crates is generated
    /// with it, so that what changes code (`-Cllvm-args=…`) is for all of them.
    #[must_use]
    pub fn rustc_args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> CudaBuilder {
        self.options.rustc_args.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Whether the crate's `Cargo.lock` must hold every dependency already, as `cargo --locked` asks. The default is
    /// `false`.
    #[must_use]
    pub fn locked(mut self, on: bool) -> CudaBuilder {
        self.options.locked = on;
        self
    }

    /// The file to write the module to. A symbolic link stays, and its file is written; a FIFO, a device or
    /// `/dev/stdout` is written in place.
    #[must_use]
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> CudaBuilder {
        self.copy_to = Some(path.into());
        self
    }

    /// The folder for intermediate files, which keeps the compiled `core` for the next build, of any kernel crate. By
    /// default it is what [`TARGET_DIR_VARIABLE`](crate::TARGET_DIR_VARIABLE) names, or else `cuda_builder` in the
    /// target folder.
    #[must_use]
    pub fn target_dir(mut self, path: impl Into<PathBuf>) -> CudaBuilder {
        self.target_dir = Some(path.into());
        self
    }

    /// The toolchain to use, instead of the first that is found.
    #[must_use]
    pub fn toolchain(mut self, toolchain: Toolchain) -> CudaBuilder {
        self.toolchain = Some(toolchain);
        self
    }

    /// A hash of the sources, to be recorded in the module's header.
    #[must_use]
    pub fn source_hash(mut self, hash: impl Into<String>) -> CudaBuilder {
        self.sources = Some(hash.into());
        self
    }

    /// Builds the module.
    ///
    /// In a build script this also tells the outer `cargo` which files to watch.
    ///
    /// # Errors
    /// If there is no compiler that can do it, if the crate does not compile, if the module is not as expected, or if a
    /// file cannot be written.
    pub fn build(self) -> Result<BuildOutput, BuildError> {
        let manifest = Package::manifest(&self.krate)?;
        let toolchain = match &self.toolchain {
            Some(toolchain) => toolchain.clone(),
            None => Toolchain::find(manifest.parent().unwrap_or(&self.krate))?,
        };
        let package = Package::read(&manifest, toolchain.cargo(), toolchain.rustc())?;
        let known = toolchain
            .architectures()
            .map_err(|source| BuildError::Start { program: toolchain.rustc().to_owned(), source })?;
        if !known.contains(&self.options.arch) {
            let known: Vec<String> = known.iter().map(Arch::to_string).collect();
            let compiler = toolchain.version().to_owned();
            return Err(BuildError::UnknownArch { arch: self.options.arch, compiler, known: known.join(", ") });
        }
        let folder = files::absolute(&self.intermediate_folder(&package))?;
        // `cargo` gives builds that differ in their flags alone the same place, and would compile `core` again and
        // again.
        let target_dir = folder.join(self.options.arch.to_string());
        let module = self.module_name(&package);
        let invocation = Invocation {
            toolchain: &toolchain,
            package: &package,
            target_dir: &target_dir,
            options: &self.options,
            known: &known,
        };
        let raw = invocation.compile(&module)?;
        let header = Header {
            compiler: toolchain.version().to_owned(),
            arch: self.options.arch,
            krate: package.name.clone(),
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
