//! A build script in one call.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::build_script;
use crate::builder::CudaBuilder;
use crate::error::BuildError;
use crate::files;
use crate::package::Package;
use crate::std_floats;

impl CudaBuilder {
    /// A whole build script: compiles the kernels for `launch::include_ptx!`, which takes them into the program by the name
    /// of the crate's library.
    ///
    /// ```no_run
    /// use cuda_builder::{Arch, CudaBuilder};
    ///
    /// fn main() -> std::process::ExitCode {
    ///     CudaBuilder::new("kernels").arch(Arch::Sm80).fast_div(true).generate_line_info(true).embed()
    /// }
    /// ```
    ///
    /// What prevents it is printed as the compiler wrote it, and fails the build. If no compiler on this machine can build
    /// PTX, that is a warning which says what to install: such a program runs in the simulator alone. So are calls of
    /// float functions that only the host has the same name for, since there another function would run than on a GPU.
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
        let arch = self.options.arch;
        let ptx = out.join(format!("{library}.{arch}.ptx"));
        let images = match self.copy_to(&ptx).build() {
            Ok(_) => format!("PtxImage::new({}, include_str!({ptx:?}))", arch.number()),
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
}
