//! Opens the driver's library and fills the table with the addresses of its functions.

use std::error::Error;
use std::ffi::c_void;
use std::sync::atomic::Ordering;

use libloading::Library;

use crate::trampolines::{not_supported, table};
use crate::{Driver, LoadError, REQUIRED, SYMBOLS};

/// The files that are tried as the driver's library: first the dynamic linker's choice, then the paths on WSL 2 and
/// NixOS.
const FILES: &[&str] = &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"];

pub(crate) fn open() -> Result<Driver, LoadError> {
    let mut reason = None;
    for &file in FILES {
        // SAFETY: the initialisers of NVIDIA's library have no preconditions, so they may run at any time in any
        // thread.
        match unsafe { Library::new(file) } {
            Ok(library) => return install(file, library),
            Err(error) => {
                // The error's own text says only that loading failed. Its source has the dynamic linker's message.
                let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                if !is_absent(file, &message) {
                    reason = reason.or(Some(message));
                }
            }
        }
    }
    Err(reason.map_or(LoadError::NotFound, |reason| LoadError::Unloadable { reason }))
}

/// Returns true if `message`, from glibc or musl, says that `file` itself is missing and not one of its dependencies.
fn is_absent(file: &str, message: &str) -> bool {
    message.contains("No such file or directory")
        && (message.starts_with(&format!("{file}: cannot open")) || message.contains(&format!("library {file}:")))
}

/// Fills the table from `library`, or returns an error if the library lacks a function of [`REQUIRED`].
fn install(file: &'static str, library: Library) -> Result<Driver, LoadError> {
    let find = |name: &str| -> Option<*mut c_void> {
        // SAFETY: the symbol is only stored as an address. Calls use the type that `cust_raw` declares for it.
        let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes()) }.ok()?;
        Some(*symbol).filter(|address| !address.is_null())
    };
    if let Some(missing) = REQUIRED.iter().find(|name| find(name).is_none()) {
        return Err(LoadError::TooOld { missing });
    }
    let mut missing = Vec::new();
    for (slot, name) in table().iter().zip(SYMBOLS) {
        let function = find(name);
        if function.is_none() {
            missing.push(*name);
        }
        slot.store(function.unwrap_or(not_supported as *mut c_void), Ordering::Release);
    }
    // The table now points into the library, which must therefore never be unloaded.
    std::mem::forget(library);
    Ok(Driver { file, missing })
}

#[cfg(test)]
mod tests {
    use super::is_absent;

    #[test]
    fn tells_an_absent_library_from_a_broken_one() {
        let name = "libcuda.so.1";
        assert!(is_absent(name, "libcuda.so.1: cannot open shared object file: No such file or directory"));
        assert!(is_absent(name, "Error loading shared library libcuda.so.1: No such file or directory"));
        assert!(!is_absent(name, "libcuda.so.1: wrong ELF class: ELFCLASS32"));
        assert!(!is_absent(name, "libnvidia-x.so.1: cannot open shared object file: No such file or directory"));
        assert!(!is_absent(
            name,
            "Error loading shared library libnvidia-x.so.1: No such file or directory (needed by libcuda.so.1)"
        ));
        let path = "/run/opengl-driver/lib/libcuda.so.1";
        assert!(is_absent(path, &format!("{path}: cannot open shared object file: No such file or directory")));
        assert!(!is_absent(path, "libm.so.6: cannot open shared object file: No such file or directory"));
    }
}
