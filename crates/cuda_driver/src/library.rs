//! Opens the driver's library and finds its functions.

use std::error::Error;
use std::ffi::c_void;
use std::ptr::NonNull;

pub(crate) use libloading::Library;

use crate::{Driver, LIBRARY, LoadError, REQUIRED};

/// The files that are tried as the driver's library: first the dynamic linker's choice, then the paths on WSL 2 and
/// NixOS.
const FILES: &[&str] = if cfg!(windows) {
    &[LIBRARY]
} else {
    &[LIBRARY, "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"]
};

/// The error of Windows for a library that does not exist.
const ERROR_MOD_NOT_FOUND: i32 = 126;

pub(crate) fn open() -> Result<Driver, LoadError> {
    let mut reason = None;
    for &file in FILES {
        // SAFETY: the initialisers of NVIDIA's library have no preconditions, so they may run at any time in any
        // thread.
        match unsafe { Library::new(file) } {
            Ok(library) => return install(file, library),
            Err(error) => {
                // The error's own text says only that loading failed. Its source has the dynamic linker's message.
                let source = error.source();
                let message = source.map_or_else(|| error.to_string(), ToString::to_string);
                let system = source.and_then(|source| source.downcast_ref::<std::io::Error>());
                let is_absent_on_windows = system.and_then(|error| error.raw_os_error()) == Some(ERROR_MOD_NOT_FOUND);
                if !is_absent_on_windows && !is_absent(file, &message) {
                    reason = reason.or(Some(message));
                }
            }
        }
    }
    Err(reason.map_or(LoadError::NotFound, |reason| LoadError::Unloadable { reason }))
}

/// Returns the address of the function `name` of `library`, or `None` if it has none.
pub(crate) fn find(library: &Library, name: &str) -> Option<NonNull<c_void>> {
    // SAFETY: the symbol is only read as an address. A caller that calls it states its type.
    let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes()) }.ok()?;
    NonNull::new(*symbol)
}

/// Returns true if `message`, from glibc or musl, says that `file` itself is missing, and not one of its dependencies.
fn is_absent(file: &str, message: &str) -> bool {
    message.contains("No such file or directory")
        && (message.starts_with(&format!("{file}: cannot open")) || message.contains(&format!("library {file}:")))
}

/// Returns the driver in `library`, or an error if the library lacks a function of [`REQUIRED`].
fn install(file: &'static str, library: Library) -> Result<Driver, LoadError> {
    if let Some(missing) = REQUIRED.iter().find(|name| find(&library, name).is_none()) {
        return Err(LoadError::TooOld { missing });
    }
    #[cfg(feature = "symbols")]
    let missing = fill_table(&library);
    Ok(Driver {
        file,
        library,
        #[cfg(feature = "symbols")]
        missing,
    })
}

/// Fills the table of the functions that other crates link with. Returns the names of those that the library lacks.
#[cfg(all(feature = "symbols", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fill_table(library: &Library) -> Vec<&'static str> {
    use crate::trampolines::{not_supported, table};

    let mut missing = Vec::new();
    for (slot, name) in table().iter().zip(crate::SYMBOLS) {
        let function = find(library, name);
        if function.is_none() {
            missing.push(*name);
        }
        let address = function.map_or(not_supported as *mut c_void, NonNull::as_ptr);
        slot.store(address, std::sync::atomic::Ordering::Release);
    }
    missing
}

/// Returns an empty list: on this platform no crate links with the functions.
#[cfg(all(feature = "symbols", not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))))]
fn fill_table(_library: &Library) -> Vec<&'static str> {
    Vec::new()
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
