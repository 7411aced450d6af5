//! The errors of a build.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;

use ptxas::PtxasError;

use crate::arch::Arch;
use crate::postprocess::PtxError;
use crate::sources::NO_COMPILER_FENCE;
use crate::toolchain::Search;

/// The reason why a kernel crate was not built. `Debug` has the text of `Display`, because `main` and `unwrap` show it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No compiler on this machine can build kernels.
    #[error("no rustc on this machine can build PTX\n{0}")]
    NoToolchain(Search),

    /// The path does not name a crate that can be built.
    #[error("`{path}` is not a kernel crate: {reason}")]
    KernelCrate {
        /// The path that the caller passed.
        path: PathBuf,
        /// The reason, such as a missing file.
        reason: String,
    },

    /// The compiler does not know the architecture.
    #[error("{compiler} does not know {arch}: use one of {known}")]
    UnknownArch {
        /// The architecture that was requested.
        arch: Arch,
        /// The compiler's version.
        compiler: String,
        /// The architectures that the compiler knows.
        known: String,
    },

    /// A function for build scripts was called in another program.
    #[error(
        "CudaBuilder::embed must be called in a build script: the variable {0}, which cargo sets for them, is not \
    set"
    )]
    NoBuildScript(&'static str),

    /// A run of `cargo` failed; the message includes its output.
    #[error(transparent)]
    Cargo(Box<CargoFailure>),

    /// A program could not be started.
    #[error("cannot run `{program}`: {source}")]
    Start {
        /// The path of the program.
        program: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },

    /// A file could not be read or written.
    #[error("cannot {action} `{path}`: {source}")]
    Io {
        /// The operation, such as "write".
        action: &'static str,
        /// The path of the file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },

    /// NVIDIA's assembler refused the PTX.
    #[error(transparent)]
    Assembler(#[from] PtxasError),

    /// The compiler's PTX does not have the form that the builder expects.
    #[error("the PTX of `{krate}` for {arch}: {source}")]
    Ptx {
        /// The kernel crate's name.
        krate: String,
        /// The architecture for which the crate was compiled.
        arch: Arch,
        /// The error in the PTX.
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
    /// The command line, without its environment, for repeating the run by hand.
    pub command: String,
    /// The exit status of `cargo`.
    pub status: ExitStatus,
    /// The text that `cargo` wrote to standard error: the compiler's messages. If LLVM has no code for an operation,
    /// the source lines of that operation follow.
    pub stderr: String,
}

impl CargoFailure {
    /// Returns true if a crate does not find the crate `alloc`.
    pub(crate) fn lacks_alloc(&self) -> bool {
        self.stderr.contains("can't find crate for `alloc`")
    }
}

impl fmt::Display for CargoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some failures of cargo print no message.
        match self.stderr.trim() {
            "" => write!(f, "cargo failed ({}): {}", self.status, self.command),
            stderr => {
                f.write_str(stderr)?;
                let hints = HINTS.iter().filter(|(message, _)| stderr.contains(message));
                hints.into_iter().try_for_each(|(_, hint)| write!(f, "\n\n{hint}"))
            }
        }
    }
}

/// LLVM's message if two crates define the same symbol.
pub(crate) const DUPLICATE_SYMBOL: &str = "symbol multiply defined";

/// Messages of the compiler that do not say what to change, each with the text that does.
const HINTS: [(&str, &str); 6] = [
    ("LLVM ERROR: unsupported library call operation", WIDE_CONVERSIONS),
    ("LLVM ERROR: Unsupported scope \"Thread\"", NO_COMPILER_FENCE),
    ("can't find crate for `std`", NO_STD),
    ("no global memory allocator found", NO_ALLOCATOR),
    ("conflicts with global allocator in: cuda_std", TWO_ALLOCATORS),
    (DUPLICATE_SYMBOL, TWO_KERNELS),
];

const WIDE_CONVERSIONS: &str = "A kernel converts between `u128` or `i128` and a float (`x as f64`, `y as u128`), or \
computes with `f128`. LLVM has no code for this on a GPU. Convert the halves instead: `(x >> 64) as u64 as f64 * \
18446744073709551616.0 + x as u64 as f64`.";

const NO_STD: &str = "A crate of the kernels needs std, which a GPU does not have. Write `#![no_std]` in it, or turn \
the feature off that needs std: most crates can do without with `default-features = false` in `Cargo.toml`.";

const NO_ALLOCATOR: &str = "A crate of the kernels uses `alloc`. The allocator for a GPU is in `cuda_std`: add it to \
the dependencies of the kernels' crate.";

const TWO_ALLOCATORS: &str = "`cuda_std` has the allocator for a GPU. Write `#[cfg(not(target_arch = \"nvptx64\"))]` \
before the other one.";

const TWO_KERNELS: &str = "Two kernels have one name. The kernels of a crate and of the libraries that it uses are in \
one PTX module: give one of them another name.";

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
        let found = text("error[E0463]: can't find crate for `std`");
        assert!(found.contains("`default-features = false`"), "{found}");
        assert_eq!(text("error: another"), "error: another");
    }
}
