//! A build script in one call.

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
    /// A whole build script: compiles the kernels for `launch::include_ptx!`, which takes them into the program by the
    /// name of the crate's library.
    ///
    /// ```no_run
    /// use cuda_builder::{Arch, CudaBuilder};
    ///
    /// fn main() -> std::process::ExitCode {
    ///     CudaBuilder::new("kernels").arch(Arch::Sm80).fast_div(true).generate_line_info(true).embed()
    /// }
    /// ```
    ///
    /// Without [`arch`](CudaBuilder::arch) the PTX runs on every GPU from `sm_70` on. Kernels that use what only a
    /// later architecture has instructions for, such as `AsyncCopies`, are built for that one as well; a GPU loads the
    /// latest that it can run. With `arch`, a warning names what the chosen architecture lacks.
    ///
    /// What prevents it is printed as the compiler wrote it, and fails the build. If no compiler on this machine can
    /// build PTX, that is a warning which says what to install: such a program runs in the simulator alone. So are
    /// calls of float functions that only the host has the same name for, since there another function would run than
    /// on a GPU.
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
        // Not the compiler of PTX, which there may be none of.
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
                // A file that is not there makes cargo look again next time.
                build_script::announce(&[out.join("no-such-file")]);
                String::new()
            }
            Err(error) => return Err(error),
        };
        let modules = format!("&[PtxModule {{ path: {library:?}, images: &[{images}] }}]\n");
        files::write_whole(&out.join(format!("{library}.rs")), &modules)
    }

    /// Builds the module, and again for each later architecture that has what the first one lacks, unless the caller
    /// chose the architecture. Returns each as `launch::PtxImage`'s source text.
    fn images(self, out: &Path, library: &str) -> Result<Vec<String>, BuildError> {
        let build = |builder: CudaBuilder| {
            let arch = builder.options.arch;
            let ptx = out.join(format!("{library}.{arch}.ptx"));
            let output = builder.copy_to(&ptx).build()?;
            Ok((format!("PtxImage::new({}, include_str!({ptx:?}))", arch.number()), output.fallbacks))
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

/// The architectures that have what others stand in for.
fn architectures(fallbacks: &[Fallback]) -> BTreeSet<Arch> {
    fallbacks.iter().map(|fallback| fallback.arch).collect()
}

fn warning(fallback: &Fallback, chosen: Arch) -> String {
    let arch = fallback.arch;
    format!(
        "{fallback}: for {chosen} other code stands in, which is slower and not asynchronous. Build for {arch}, or leave \
         `.arch(…)` out, and the program has PTX for both"
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
            "`AsyncCopies` has instructions from sm_80 on: for sm_75 other code stands in, which is slower and not \
             asynchronous. Build for sm_80, or leave `.arch(…)` out, and the program has PTX for both"
        );
    }
}
