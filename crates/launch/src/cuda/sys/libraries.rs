//! The driver's functions for code without a context (`cuLibrary…`), from CUDA 12.0 on.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use super::CUfunction;

/// The driver's `CUlibrary`: a handle that any thread may use and that belongs to no context.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Library(*mut c_void);

// SAFETY: any thread may use a `CUlibrary`.
unsafe impl Send for Library {}
// SAFETY: any thread may use a `CUlibrary`, also several at once.
unsafe impl Sync for Library {}

type LoadData = unsafe extern "C" fn(
    *mut *mut c_void,
    *const c_void,
    *mut c_uint,
    *mut *mut c_void,
    c_uint,
    *mut c_uint,
    *mut *mut c_void,
    c_uint,
) -> u32;
type GetKernel = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> u32;
type GetFunction = unsafe extern "C" fn(*mut CUfunction, *mut c_void) -> u32;

/// The first driver version that has these functions: CUDA 12.0.
const VERSION: c_int = 12_000;

fn load_data() -> Option<LoadData> {
    driver_function!(c"cuLibraryLoadData", VERSION, LoadData)
}

/// Returns true if the driver can compile code without a context.
pub(in crate::cuda) fn has_libraries() -> bool {
    load_data().is_some()
}

/// Compiles PTX without a context. Returns `None` if the driver cannot do so. The code stays loaded until the process
/// ends.
pub(in crate::cuda) fn load_library(ptx: &CStr) -> Option<Library> {
    let load_data = load_data()?;
    let mut library = ptr::null_mut();
    // SAFETY: there are no options; the PTX ends with a zero byte, and the driver copies what it needs.
    let code = unsafe {
        load_data(
            &mut library,
            ptx.as_ptr().cast(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            0,
        )
    };
    (code == 0).then_some(Library(library))
}

/// Returns the kernel with this name for the current context, or `None` if the library does not have it.
pub(in crate::cuda) fn function_of_library(library: Library, name: &CStr) -> Option<CUfunction> {
    let get_kernel = driver_function!(c"cuLibraryGetKernel", VERSION, GetKernel)?;
    let get_function = driver_function!(c"cuKernelGetFunction", VERSION, GetFunction)?;
    let (mut kernel, mut function) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: libraries are never unloaded. Each function writes one pointer, and the name ends with a zero byte.
    let is_found =
        unsafe { get_kernel(&mut kernel, library.0, name.as_ptr()) == 0 && get_function(&mut function, kernel) == 0 };
    is_found.then_some(function)
}
