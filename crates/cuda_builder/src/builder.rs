//! The builder: from a kernel crate's folder to a finished PTX text.

use std::path::{Path, PathBuf};

use crate::arch::Arch;
use crate::build_script;
use crate::error::BuildError;
use crate::files;
use crate::invocation::Invocation;
use crate::package::Package;
use crate::postprocess::{self, Header};
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
/// functions with a fixed symbol name, as `cuda_std`'s `#[kernel]` makes them. The compiler features that such functions
/// need are turned on by the builder where the crate does not do it. A panic in a kernel becomes a trap.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    krate: PathBuf,
    arch: Arch,
    features: Vec<String>,
    default_features: bool,
    release: bool,
    line_info: bool,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    toolchain: Option<Toolchain>,
    sources: Option<String>,
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
}

impl CudaBuilder {
    /// A builder for the kernel crate in folder `krate`, for [`Arch::Sm70`] with the crate's default features.
    pub fn new(krate: impl Into<PathBuf>) -> CudaBuilder {
        CudaBuilder {
            krate: krate.into(),
            arch: Arch::default(),
            features: Vec::new(),
            default_features: true,
            release: true,
            line_info: false,
            copy_to: None,
            target_dir: None,
            toolchain: None,
            sources: None,
        }
    }

    /// The oldest architecture that the module must run on.
    #[must_use]
    pub fn arch(mut self, arch: Arch) -> CudaBuilder {
        self.arch = arch;
        self
    }

    /// Features of the kernel crate to turn on.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> CudaBuilder {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Whether the kernel crate's default features are on; they are unless this says otherwise.
    #[must_use]
    pub fn default_features(mut self, on: bool) -> CudaBuilder {
        self.default_features = on;
        self
    }

    /// `false` keeps debug assertions and overflow checks, each of which ends the kernel with a trap where it fails. The
    /// code is optimised in both cases. The default is `true`.
    #[must_use]
    pub fn release(mut self, release: bool) -> CudaBuilder {
        self.release = release;
        self
    }

    /// Whether instructions carry their source lines, for profilers and `compute-sanitizer`. The default is `false`.
    #[must_use]
    pub fn generate_line_info(mut self, on: bool) -> CudaBuilder {
        self.line_info = on;
        self
    }

    /// The file to write the module to.
    #[must_use]
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> CudaBuilder {
        self.copy_to = Some(path.into());
        self
    }

    /// The folder for intermediate files, which keeps the compiled `core` for the next build. By default it is
    /// `cuda_builder` in a build script's output folder, or in the workspace's target folder.
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
        let package = Package::read(&manifest, &toolchain)?;
        let known = toolchain
            .architectures()
            .map_err(|source| BuildError::Start { program: toolchain.rustc().to_owned(), source })?;
        if !known.contains(&self.arch) {
            let known: Vec<String> = known.iter().map(Arch::to_string).collect();
            let compiler = toolchain.version().to_owned();
            return Err(BuildError::UnknownArch { arch: self.arch, compiler, known: known.join(", ") });
        }
        let folder = files::absolute(&self.intermediate_folder(&package))?;
        // `cargo` gives builds that differ in their flags alone the same place, and would compile `core` again and again.
        let target_dir = folder.join(self.arch.to_string());
        let module = self.module_name(&package);
        let invocation = Invocation {
            toolchain: &toolchain,
            package: &package,
            target_dir: &target_dir,
            arch: self.arch,
            features: &self.features,
            default_features: self.default_features,
            release: self.release,
            line_info: self.line_info,
        };
        let raw = invocation.compile(&module)?;
        let header = Header {
            compiler: toolchain.version().to_owned(),
            arch: self.arch,
            krate: package.name.clone(),
            features: self.features.clone(),
            sources: self.sources.clone(),
            text: None,
        };
        let ptx = postprocess::finish(&raw, &header).map_err(|source| BuildError::Ptx {
            krate: package.name.clone(),
            arch: self.arch,
            source,
        })?;
        let path = self.copy_to.clone().unwrap_or_else(|| folder.join(format!("{module}.ptx")));
        files::write_whole(&path, &ptx)?;

        let sources = invocation.sources();
        if build_script::is_running() {
            build_script::announce(&sources);
        }
        Ok(BuildOutput { ptx, path, compiler: toolchain.version().to_owned(), sources })
    }

    fn module_name(&self, package: &Package) -> String {
        let mut name = package.name.clone();
        for feature in &self.features {
            name.push('.');
            name.push_str(&feature.replace(['/', '\\'], "-"));
        }
        format!("{name}.{}", self.arch)
    }

    fn intermediate_folder(&self, package: &Package) -> PathBuf {
        if let Some(target_dir) = &self.target_dir {
            return target_dir.clone();
        }
        let outer =
            if build_script::is_running() { std::env::var_os("OUT_DIR") } else { std::env::var_os("CARGO_TARGET_DIR") };
        outer.map_or_else(|| package.target_directory.clone(), PathBuf::from).join("cuda_builder")
    }
}
