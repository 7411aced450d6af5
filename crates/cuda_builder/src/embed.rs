//! The complete build script of a project with kernels.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arch::Arch;
use crate::build_script;
use crate::builder::CudaBuilder;
use crate::error::BuildError;
use crate::files;
use crate::machine_code;
use crate::package::Package;
use crate::postprocess::{Fallback, entry_name};
use crate::sources::{Kernels, mentions};
use crate::std_floats;

impl CudaBuilder {
    /// Runs a complete build script: compiles the kernels for `launch::include_ptx!`, which embeds them in the program.
    /// The macro's argument is the name of the kernel crate's library.
    ///
    /// ```no_run
    /// use cuda_builder::{Arch, CudaBuilder};
    ///
    /// fn main() -> std::process::ExitCode {
    ///     CudaBuilder::new("kernels").arch(Arch::Sm80).fast_div(true).generate_line_info(true).embed()
    /// }
    /// ```
    ///
    /// The program contains PTX for several architectures, and a GPU loads the latest that it can run. A release build
    /// has sm_70, sm_80 and sm_90. Other builds have sm_70 alone, so that an edit is compiled once. If kernels use
    /// instructions of a later architecture, such as those of `AsyncCopies`, every build has that architecture as well.
    /// [`archs`](CudaBuilder::archs) and [`arch`](CudaBuilder::arch) choose others. A warning then names the parts of
    /// `cuda_std` for which all chosen architectures lack instructions.
    ///
    /// Libraries on which the kernel crate depends may contain kernels, too. The crate must use them, for example by
    /// `pub use library;`, because the compiler omits a dependency that no code mentions.
    ///
    /// [`machine_code`](CudaBuilder::machine_code) adds machine code, so that a GPU's driver compiles nothing.
    ///
    /// On an error, this function prints the compiler's messages and the build fails. If no compiler on this machine
    /// can build PTX, it prints a warning that says what to install, and the program runs only in the simulator. It
    /// also warns of float functions, such as `x.exp()`, whose calls reach std on the host but another function of the
    /// same name on a GPU.
    pub fn embed(self) -> ExitCode {
        match self.try_embed() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    fn try_embed(self) -> Result<(), BuildError> {
        let variable = |name: &'static str| std::env::var_os(name).ok_or(BuildError::NoBuildScript(name));
        let out = PathBuf::from(variable("OUT_DIR")?);
        // This is the compiler of the build script. The machine may have no compiler that can build PTX.
        let (cargo, rustc) = (variable("CARGO")?, variable("RUSTC")?);
        let package =
            Package::read(&Package::manifest(&self.krate)?, Path::new(&cargo), Path::new(&rustc), &self.options)?;
        let files = package.library.files();
        for call in std_floats::calls(&files) {
            println!("cargo::warning={call}");
        }
        let kernels = package.kernels();
        for problem in Kernels::problems(&kernels) {
            println!("cargo::warning={problem}");
        }
        let library = &package.library.name;
        let images = match self.images(&out, library) {
            Ok(images) => images,
            Err(error @ BuildError::NoToolchain(_)) => {
                println!("cargo::warning=no PTX is built, so that only the simulator will run the kernels:");
                error.to_string().lines().for_each(|line| println!("cargo::warning={line}"));
                build_script::announce_missing(&out);
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        if let Some(image) = images.first() {
            for (found, kernels) in package.libraries.iter().zip(&kernels[1..]) {
                // A crate that uses a library for other things, such as a macro, may want none of its kernels.
                if !mentions(&files, &found.library.name)
                    && let Some(warning) = unused(&found.library.name, kernels, &image.ptx, library)
                {
                    println!("cargo::warning={warning}");
                }
            }
        }
        let others = package.libraries.iter().map(|found| found.library.name.as_str());
        let names: BTreeSet<&str> = others.chain([library.as_str()]).collect();
        files::write_whole(&out.join(format!("{library}.rs")), &modules(&names, &images))
    }

    /// Builds the module for each architecture.
    fn images(self, out: &Path, library: &str) -> Result<Vec<Image>, BuildError> {
        let assemblers = if self.machine_code { machine_code::assemblers() } else { Vec::new() };
        let build = |arch: Arch| {
            let ptx = out.join(format!("{library}.{arch}.ptx"));
            let output = self.clone().arch(arch).copy_to(&ptx).build()?;
            let mut source = format!("PtxImage::new({}, include_str!({ptx:?})).compiled_at_open()", arch.number());
            source += if arch.is_specific() { ".specific()" } else { "" };
            let code = machine_code::assemble(&ptx, arch, &assemblers)?;
            if let Some(code) = &code {
                source += &format!(".with_machine_code(include_bytes!({code:?}))");
            }
            Ok(Image { arch, source, ptx: output.ptx, fallbacks: output.fallbacks, has_machine_code: code.is_some() })
        };
        // Each architecture has an intermediate folder of its own, so that the builds do not wait for each other.
        let build_all = |archs: &[Arch]| -> Result<Vec<Image>, BuildError> {
            std::thread::scope(|scope| {
                let builds: Vec<_> = archs.iter().map(|&arch| scope.spawn(move || build(arch))).collect();
                builds.into_iter().map(|build| build.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
            })
        };
        let is_release = std::env::var_os("PROFILE").is_some_and(|profile| profile == "release");
        let archs = match &self.archs[..] {
            [] if is_release => &[Arch::Sm70, Arch::Sm80, Arch::Sm90],
            [] => &[Arch::Sm70][..],
            chosen => chosen,
        };
        let mut built = build_all(archs)?;
        let newest = archs.last().copied().unwrap_or_default();
        let fallbacks = built.last().map_or(&[][..], |image| &image.fallbacks);
        if self.archs.is_empty() {
            let later: Vec<Arch> = architectures(fallbacks).into_iter().collect();
            built.extend(build_all(&later)?);
        } else {
            for fallback in fallbacks {
                println!("cargo::warning={}", warning(fallback, newest));
            }
        }
        if self.machine_code {
            // An old architecture that the build chose itself may be unknown to a new assembler.
            let is_expected = !self.archs.is_empty() || built.iter().all(|image| !image.has_machine_code);
            for image in built.iter().filter(|image| is_expected && !image.has_machine_code) {
                println!("cargo::warning={}", machine_code::missing(image.arch, &assemblers));
            }
            if assemblers.is_empty() {
                build_script::announce_missing(out);
            }
        }
        Ok(built)
    }
}

/// The PTX module for one architecture.
struct Image {
    arch: Arch,
    /// The source text of a `launch::PtxImage`.
    source: String,
    ptx: String,
    fallbacks: Vec<Fallback>,
    has_machine_code: bool,
}

/// Returns a warning if the PTX has no kernel of `library`, although the library has kernels and `krate` depends on it.
fn unused(library: &str, kernels: &Kernels, ptx: &str, krate: &str) -> Option<String> {
    let entries: BTreeSet<&str> = ptx.lines().filter_map(entry_name).collect();
    let first = kernels.names().next()?;
    (!kernels.names().any(|name| entries.contains(name))).then(|| {
        format!(
            "the PTX does not have the kernels of the library `{library}`, such as `{first}`, because no code of \
            `{krate}` uses the library: write `pub use {library};` in `{krate}`, or remove the dependency"
        )
    })
}

/// Returns the source text that declares a `PtxModule` for each of `libraries`. All modules have the same `images`.
fn modules(libraries: &BTreeSet<&str>, images: &[Image]) -> String {
    let module = |library| format!("PtxModule {{ path: {library:?}, images: &IMAGES }}");
    let modules: Vec<_> = libraries.iter().map(module).collect();
    let images: Vec<_> = images.iter().map(|image| image.source.as_str()).collect();
    format!(
        "{{\n    static IMAGES: [PtxImage; {}] = [{}];\n    &[{}]\n}}\n",
        images.len(),
        images.join(", "),
        modules.join(", ")
    )
}

/// Returns the architectures that have instructions in place of these fallbacks.
fn architectures(fallbacks: &[Fallback]) -> BTreeSet<Arch> {
    fallbacks.iter().map(|fallback| fallback.arch).collect()
}

fn warning(fallback: &Fallback, chosen: Arch) -> String {
    let arch = fallback.arch;
    let effect = if fallback.is_missing {
        "a kernel that uses it ends with an error"
    } else {
        "a fallback is used, which is slower and not asynchronous"
    };
    format!(
        "{fallback}: for {chosen} {effect}. Add {arch} by `.archs(…)`, or choose no architecture: the build then adds it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    #[test]
    fn kernels_of_every_library_are_in_the_same_images() {
        let image = |source: &str| Image {
            arch: Arch::Sm70,
            source: source.to_owned(),
            ptx: String::new(),
            fallbacks: Vec::new(),
            has_machine_code: false,
        };
        let images = ["PtxImage::new(70, \"a\")", "PtxImage::new(80, \"b\")"].map(image);
        assert_eq!(
            modules(&BTreeSet::from(["mine", "library"]), &images),
            "{\n    static IMAGES: [PtxImage; 2] = [PtxImage::new(70, \"a\"), PtxImage::new(80, \"b\")];\n    \
            &[PtxModule { path: \"library\", images: &IMAGES }, PtxModule { path: \"mine\", images: &IMAGES }]\n}\n"
        );
    }

    #[test]
    fn a_library_whose_kernels_are_not_in_the_ptx_is_named() {
        let syntax = syn::parse_quote!(
            #[kernel]
            fn a() {}
            #[kernel]
            fn b() {}
        );
        let kernels = Kernels::search(&[SourceFile { path: PathBuf::new(), syntax }]);
        let warning = unused("library", &kernels, ".visible .entry mine(\n", "mine").unwrap();
        assert!(warning.contains("such as `a`") && warning.contains("write `pub use library;` in `mine`"), "{warning}");
        assert_eq!(unused("library", &kernels, ".visible .entry b(\n", "mine"), None);
        assert_eq!(unused("library", &Kernels::default(), "", "mine"), None);
        let syntax = syn::parse_quote!(library::instances!(Mine: reduce););
        let files = [SourceFile { path: PathBuf::new(), syntax }];
        assert!(mentions(&files, "library") && !mentions(&files, "Mine"));
    }

    fn fallback(part: &str, arch: Arch) -> Fallback {
        Fallback { part: part.to_owned(), arch, is_missing: false }
    }

    #[test]
    fn each_architecture_that_has_more_is_built_for_once() {
        let copies = fallback("AsyncCopies", Arch::Sm80);
        let fallbacks = [copies.clone(), fallback("Barrier", Arch::Sm80), fallback("grid", Arch::Sm90)];
        assert_eq!(architectures(&fallbacks), BTreeSet::from([Arch::Sm80, Arch::Sm90]));
        assert_eq!(architectures(&[]), BTreeSet::new());
        assert_eq!(
            warning(&copies, Arch::Sm75),
            "`AsyncCopies` has instructions from sm_80 on: for sm_75 a fallback is used, which is slower and not \
            asynchronous. Add sm_80 by `.archs(…)`, or choose no architecture: the build then adds it"
        );
        let missing = Fallback { is_missing: true, ..fallback("AtomicRef<u128>", Arch::Sm90) };
        assert_eq!(
            warning(&missing, Arch::Sm80),
            "`AtomicRef<u128>` has instructions from sm_90 on: for sm_80 a kernel that uses it ends with an error. Add \
            sm_90 by `.archs(…)`, or choose no architecture: the build then adds it"
        );
    }
}
