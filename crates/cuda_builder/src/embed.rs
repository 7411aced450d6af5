//! The complete build script of a project with kernels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arch::Arch;
use crate::build_script;
use crate::builder::CudaBuilder;
use crate::error::BuildError;
use crate::files;
use crate::package::Package;
use crate::postprocess::Fallback;
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
    /// Without [`arch`](CudaBuilder::arch), the PTX runs on every GPU from `sm_70` on. If kernels use instructions of a
    /// later architecture, such as those of `AsyncCopies`, the kernels are compiled for that architecture as well. A
    /// GPU loads the latest version that it can run. With `arch`, a warning names the parts of `cuda_std` for which the
    /// chosen architecture lacks instructions.
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
        let package = Package::read(&Package::manifest(&self.krate)?, Path::new(&cargo), Path::new(&rustc))?;
        for call in package.root.parent().map(std_floats::calls).unwrap_or_default() {
            println!("cargo::warning={call}");
        }
        let library = &package.library;
        let images = match self.images(&out, library) {
            Ok(images) => images.join(", "),
            Err(error @ BuildError::NoToolchain(_)) => {
                println!("cargo::warning=no PTX is built, so that only the simulator will run the kernels:");
                error.to_string().lines().for_each(|line| println!("cargo::warning={line}"));
                // A file that does not exist makes cargo run the script again next time.
                build_script::announce(&[out.join("no-such-file")]);
                String::new()
            }
            Err(error) => return Err(error),
        };
        let modules = format!("&[PtxModule {{ path: {library:?}, images: &[{images}] }}]\n");
        files::write_whole(&out.join(format!("{library}.rs")), &modules)
    }

    /// Builds the module. Unless the caller has chosen the architecture, also builds it for each later architecture
    /// that has instructions in place of fallbacks in the first build. Returns each module as the source text of a
    /// `launch::PtxImage`.
    fn images(self, out: &Path, library: &str) -> Result<Vec<String>, BuildError> {
        let build = |builder: CudaBuilder| {
            let arch = builder.options.arch;
            let ptx = out.join(format!("{library}.{arch}.ptx"));
            let output = builder.copy_to(&ptx).build()?;
            Ok((
                format!("PtxImage::new({}, include_str!({ptx:?})).compiled_at_open()", arch.number()),
                output.fallbacks,
            ))
        };
        let (image, fallbacks) = build(self.clone())?;
        let mut images = vec![image];
        if self.is_arch_given {
            for fallback in fallbacks {
                println!("cargo::warning={}", warning(&fallback, self.options.arch));
            }
        } else {
            for arch in architectures(&fallbacks) {
                images.push(build(self.clone().arch(arch))?.0);
            }
        }
        Ok(images)
    }
}

/// Returns the architectures that have instructions in place of these fallbacks.
fn architectures(fallbacks: &[Fallback]) -> BTreeSet<Arch> {
    fallbacks.iter().map(|fallback| fallback.arch).collect()
}

fn warning(fallback: &Fallback, chosen: Arch) -> String {
    let arch = fallback.arch;
    format!(
        "{fallback}: for {chosen} a fallback is used, which is slower and not asynchronous. Build for {arch}, or omit \
        `.arch(…)` to get PTX for both"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fallback(part: &str, arch: Arch) -> Fallback {
        Fallback { part: part.to_owned(), arch }
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
            asynchronous. Build for sm_80, or omit `.arch(…)` to get PTX for both"
        );
    }
}
