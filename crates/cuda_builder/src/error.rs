//! What can go wrong in a build.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::arch::Arch;
use crate::postprocess::PtxError;
use crate::toolchain::Search;

/// Why a kernel crate was not built. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No compiler on this machine can build kernels.
    #[error("no rustc on this machine can build PTX\n{0}")]
    NoToolchain(Search),

    /// The path given is not a crate that can be built.
    #[error("`{path}` is not a kernel crate: {reason}")]
    KernelCrate {
        /// The path as it was given.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },

    /// The compiler has no such architecture.
    #[error("{compiler} does not know {arch}; it knows {known}")]
    UnknownArch {
        /// The one asked for.
        arch: Arch,
        /// The compiler's version.
        compiler: String,
        /// The names it accepts.
        known: String,
    },

    /// What is for a build script was called by another program.
    #[error("CudaBuilder::embed is for build scripts: the variable {0} is not set, which cargo sets for them")]
    NoBuildScript(&'static str),

    /// `cargo` ran and failed; what it wrote is part of the message.
    #[error(transparent)]
    Cargo(Box<CargoFailure>),

    /// A program could not be started.
    #[error("cannot run `{program}`: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// A file could not be read or written.
    #[error("cannot {action} `{path}`: {source}")]
    Io {
        /// What was tried, such as "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// The compiler's PTX is not what the builder expects.
    #[error("the PTX of `{krate}` for {arch}: {source}")]
    Ptx {
        /// The kernel crate's name.
        krate: String,
        /// The architecture it was built for.
        arch: Arch,
        /// What is wrong with it.
        source: PtxError,
    },
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl BuildError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.into();
        move |source| BuildError::Io { action, path, source }
    }
}

/// A run of `cargo` that failed.
#[derive(Debug)]
pub struct CargoFailure {
    /// The command line, for repeating it by hand (without its environment).
    pub command: String,
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard error: the compiler's messages.
    pub stderr: String,
}

impl fmt::Display for CargoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some of cargo's failures leave no message.
        match self.stderr.trim() {
            "" => write!(f, "cargo failed ({}): {}", self.status, self.command),
            stderr if stderr.contains(NO_LIBRARY) => write!(f, "{stderr}\n\n{WIDE_CONVERSIONS}"),
            stderr => f.write_str(stderr),
        }
    }
}

/// What LLVM says of an operation that is a function of a library elsewhere. It names neither.
const NO_LIBRARY: &str = "LLVM ERROR: unsupported library call operation";

/// The operations that are meant.
const WIDE_CONVERSIONS: &str = "A kernel converts between `u128` or `i128` and a float (`x as f64`, `y as u128`), or computes \
    with `f128`: LLVM has no code for that on a GPU, and does not say where it stands. Convert the halves: \
    `(x >> 64) as u64 as f64 * 18446744073709551616.0 + x as u64 as f64`.";

impl std::error::Error for CargoFailure {}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::CargoFailure;

    #[test]
    fn an_operation_that_llvm_does_not_name_is_named() {
        let text = |stderr: &str| {
            let failure =
                CargoFailure { command: String::new(), status: ExitStatus::default(), stderr: stderr.to_owned() };
            failure.to_string()
        };
        let found = text("rustc-LLVM ERROR: unsupported library call operation\nerror: could not compile `kernels`");
        assert!(
            found.contains("could not compile") && found.contains("between `u128` or `i128` and a float"),
            "{found}"
        );
        assert_eq!(text("error: another"), "error: another");
    }
}
