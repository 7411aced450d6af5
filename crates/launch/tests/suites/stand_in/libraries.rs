//! The stand-in driver's functions for code that belongs to no context, and the lookup of functions that only some
//! drivers have.

use std::ffi::{CStr, c_char, c_void};

use super::{INVALID_HANDLE, INVALID_PTX, NOT_FOUND, STATE, UNSUPPORTED_PTX_VERSION, answer, number, state};

/// Logs a compilation of `ptx` and checks the text for errors. No code is generated.
pub fn compile(ptx: &str, options: &[i32]) -> Result<(), i32> {
    if std::env::var_os("STAND_IN_COMPILES").is_some() {
        eprintln!("driver: compiles {}, {options:?}", ptx.matches(".entry").count());
    }
    if let time @ 1.. = number("STAND_IN_COMPILE_TIME", 0) {
        std::thread::sleep(std::time::Duration::from_millis(time as u64));
        eprintln!("driver: compiled");
    }
    match ptx {
        _ if ptx.contains("unsupported") => Err(UNSUPPORTED_PTX_VERSION),
        _ if ptx.contains("broken") => Err(INVALID_PTX),
        _ => Ok(()),
    }
}

/// Returns the list of entries of stand-in machine code: a text behind an empty ELF header. Refuses "another" GPU's.
///
/// # Safety
/// `image` must be such machine code, which ends with a zero byte.
pub unsafe fn entries_of_machine_code(image: *const c_char) -> Result<String, i32> {
    const NO_BINARY_FOR_GPU: i32 = 209;
    // SAFETY: the caller guarantees a header of 64 bytes and a text.
    let (header, text) = unsafe { (CStr::from_ptr(image), CStr::from_ptr(image.add(64)).to_str().unwrap()) };
    assert!(header.to_bytes().starts_with(b"\x7fELF") && image.addr() % 8 == 0);
    eprintln!("driver: loads machine code");
    if text.contains("another") { Err(NO_BINARY_FOR_GPU) } else { Ok(text.to_owned()) }
}

functions! {
    cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, version: i32, _flags: u64) {
        *function = match CStr::from_ptr(symbol).to_str().unwrap() {
            _ if version > number("STAND_IN_VERSION", 12040) => return Err(NOT_FOUND),
            "cuLaunchKernelEx" => super::clusters::cuLaunchKernelEx as *mut c_void,
            "cuOccupancyMaxActiveClusters" => super::clusters::cuOccupancyMaxActiveClusters as *mut c_void,
            "cuLibraryLoadData" => cuLibraryLoadData as *mut c_void,
            "cuLibraryGetKernel" => cuLibraryGetKernel as *mut c_void,
            "cuKernelGetFunction" => cuKernelGetFunction as *mut c_void,
            _ => return Err(NOT_FOUND),
        };
        Ok(())
    }
    cuLibraryLoadData(
        library: *mut usize,
        code: *const c_char,
        _options: *const i32,
        _values: *const *mut c_void,
        count: u32,
        _library_options: *const i32,
        _library_values: *const *mut c_void,
        library_count: u32
    ) {
        assert_eq!((count, library_count), (0, 0));
        let ptx = CStr::from_ptr(code).to_str().unwrap();
        compile(ptx, &[])?;
        let mut state = STATE.lock().unwrap();
        state.next += 1;
        *library = state.next;
        state.libraries.insert(*library, ptx.to_owned());
        Ok(())
    }
    cuLibraryGetKernel(kernel: *mut usize, library: usize, name: *const c_char) {
        let mut state = STATE.lock().unwrap();
        let name = CStr::from_ptr(name).to_str().unwrap().to_owned();
        if !state.libraries.get(&library).ok_or(INVALID_HANDLE)?.contains(&format!(".entry {name}(")) {
            return Err(NOT_FOUND);
        }
        state.next += 1;
        *kernel = state.next;
        state.kernels.insert(*kernel, name);
        Ok(())
    }
    cuKernelGetFunction(function: *mut usize, kernel: usize) {
        let mut state = state()?;
        let name = state.kernels.get(&kernel).ok_or(INVALID_HANDLE)?.clone();
        *function = state.add_function(name);
        Ok(())
    }
}
