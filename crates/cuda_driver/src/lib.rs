//! The NVIDIA driver, loaded at run time.
//!
//! A program that uses this crate needs no CUDA toolkit to build and no driver to start. [`load`] loads `libcuda.so.1`
//! or, on Windows, `nvcuda.dll`, and returns an error if there is no driver. [`Driver::function`] finds the driver's
//! functions by name. On platforms other than Linux and Windows this crate builds, and [`load`] returns
//! [`LoadError::UnsupportedPlatform`].
//!
//! # The feature `symbols`
//!
//! `cust` calls the driver's functions by name, as if they had been linked. With the feature `symbols`, which supports
//! Linux on x86-64 and AArch64, this crate defines every such function as one jump through a table, which [`load`]
//! fills. The result of such a function depends on the driver:
//!
//! | when | result |
//! |---|---|
//! | [`load`] was not called, or failed | `CUDA_ERROR_NOT_INITIALIZED` (3) |
//! | the loaded driver lacks this function | `CUDA_ERROR_NOT_SUPPORTED` (801) |
//! | otherwise | the driver's result |
//!
//! `cust_raw` passes `-lcuda` to the linker. The linker finds an empty archive in the folder that `CUDA_LIBRARY_PATH`
//! names in `.cargo/config.toml`. It then finds the functions in this crate, whose object file is linked because the
//! program uses [`load`]. The symbols are hidden, so shared libraries still see the driver's own functions.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

#[cfg(any(target_os = "linux", windows))]
mod library;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "unsupported.rs"]
mod library;
#[cfg(feature = "symbols")]
mod symbols;
#[cfg(all(feature = "symbols", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod trampolines;

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

#[cfg(feature = "symbols")]
macro_rules! names {
    ($($name:ident)*) => {
        /// The names of all functions that this crate defines, in the order of its table.
        pub const SYMBOLS: &[&str] = &[$(stringify!($name)),*];
    };
}
#[cfg(feature = "symbols")]
with_symbols!(names);

/// The file name of the driver's library.
pub const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// The names of the functions that every use of a GPU needs. A driver that lacks one of them is too old.
pub const REQUIRED: &[&str] = &[
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuStreamSynchronize",
];

/// The driver that this process has loaded. Its library stays loaded until the process ends.
#[derive(Debug)]
pub struct Driver {
    file: &'static str,
    library: library::Library,
    #[cfg(feature = "symbols")]
    missing: Vec<&'static str>,
}

impl Driver {
    /// Returns the name or path under which the driver's library was found.
    pub fn file(&self) -> &str {
        self.file
    }

    /// Returns the address of the driver's function `name`, or `None` if the driver lacks it.
    pub fn function(&self, name: &str) -> Option<NonNull<c_void>> {
        library::find(&self.library, name)
    }

    /// Returns those of [`SYMBOLS`] that this driver lacks. Calling such a function returns `CUDA_ERROR_NOT_SUPPORTED`.
    #[cfg(feature = "symbols")]
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }
}

/// The reason why no driver can be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No driver's library is installed.
    #[error("{LIBRARY} not found")]
    NotFound,
    /// The driver's library exists, but the dynamic linker cannot load it.
    #[error("{LIBRARY} cannot be loaded: {reason}")]
    Unloadable {
        /// The dynamic linker's message.
        reason: String,
    },
    /// The driver lacks a function that every use needs.
    #[error("{LIBRARY} is too old: {missing} missing (CUDA 11.0 or later is needed)")]
    TooOld {
        /// The first function of [`REQUIRED`] that the driver lacks.
        missing: &'static str,
    },
    /// The platform is one on which this crate cannot load a driver.
    #[error("CUDA is not supported on this platform (only Linux and Windows)")]
    UnsupportedPlatform,
}

impl std::fmt::Debug for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Loads the driver at the first call. Later calls, from any thread, return the same result.
///
/// # Errors
///
/// If no driver can be used; [`LoadError`] has the reason.
pub fn load() -> Result<&'static Driver, LoadError> {
    static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    DRIVER.get_or_init(library::open).as_ref().map_err(LoadError::clone)
}
