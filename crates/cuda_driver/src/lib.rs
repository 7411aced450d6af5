//! The NVIDIA driver, loaded at run time.
//!
//! `cust` calls the functions of `libcuda.so.1` by name, as if they had been linked. This crate defines every one of
//! those names itself: each is a single jump through a table that [`load`] fills from the driver it finds. A program
//! built so needs no CUDA toolkit to build and no driver to start; where there is no driver, [`load`] says so.
//!
//! What a `cu…` function answers, then:
//!
//! | when | answer |
//! |---|---|
//! | [`load`] was not called, or failed | `CUDA_ERROR_NOT_INITIALIZED` (3) |
//! | the driver loaded lacks this function | `CUDA_ERROR_NOT_SUPPORTED` (801) |
//! | otherwise | what the driver answers |
//!
//! A program links as follows. `cust_raw` asks the linker for `-lcuda` and finds, in the folder that
//! `CUDA_LIBRARY_PATH` names in `.cargo/config.toml`, an empty archive; the names are then found in this crate, whose
//! object file any use of [`load`] brings in. They are hidden: no shared library sees them in place of the driver's.
//!
//! Linux on x86-64 and AArch64. Elsewhere the crate builds, and [`load`] answers [`LoadError::UnsupportedPlatform`].

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod library;
mod symbols;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod trampolines;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod unsupported;

use std::sync::OnceLock;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use library::open;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
use unsupported::open;

macro_rules! names {
    ($($name:ident)*) => {
        /// Every function that this crate defines, in the order of its table.
        pub const SYMBOLS: &[&str] = &[$(stringify!($name)),*];
    };
}
with_symbols!(names);

/// The functions without which nothing can be done on a GPU. A driver that lacks one is too old.
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

/// The driver that this process uses.
#[derive(Debug)]
pub struct Driver {
    file: &'static str,
    missing: Vec<&'static str>,
}

impl Driver {
    /// The name or path under which the library was found.
    pub fn file(&self) -> &str {
        self.file
    }

    /// Those of [`SYMBOLS`] that this driver lacks; calling one answers `CUDA_ERROR_NOT_SUPPORTED`.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }
}

/// Why there is no driver to use.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No library of that name is installed: there is no NVIDIA driver.
    #[error("libcuda.so.1 not found")]
    NotFound,
    /// The library is there, but the dynamic linker refuses it.
    #[error("libcuda.so.1 cannot be loaded: {reason}")]
    Unloadable {
        /// What the dynamic linker says.
        reason: String,
    },
    /// The driver lacks a function that every use needs.
    #[error("libcuda.so.1 is too old: {missing} missing (CUDA 11.0 or later is needed)")]
    TooOld {
        /// The first function of [`REQUIRED`] that it lacks.
        missing: &'static str,
    },
    /// This platform has no driver that this crate knows how to load.
    #[error("CUDA is not supported on this platform (only Linux on x86-64 and AArch64)")]
    UnsupportedPlatform,
}

impl std::fmt::Debug for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Loads the driver on the first call; later calls, from any thread, give the same answer.
///
/// The library stays loaded until the process ends.
///
/// # Errors
///
/// [`LoadError`] says why there is no usable driver. Every `cu…` function then answers
/// `CUDA_ERROR_NOT_INITIALIZED`.
pub fn load() -> Result<&'static Driver, LoadError> {
    static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    DRIVER.get_or_init(open).as_ref().map_err(LoadError::clone)
}
