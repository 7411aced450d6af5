//! The driver's functions for code that is of no context (`cuLibrary…`), from CUDA 12.0 on, which `cust_raw` does not
//! know.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::sync::OnceLock;
use std::{mem, ptr};

use cust::sys::CUfunction;

use super::driver_function;

/// `CUlibrary`: a handle that any thread may use, and that no context owns.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Library(*mut c_void);

// SAFETY: as said above.
unsafe impl Send for Library {}
// SAFETY: as said above.
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

struct Functions {
    load_data: LoadData,
    get_kernel: GetKernel,
    get_function: GetFunction,
}

/// None if the driver is older.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let find = || {
        let find = |name| driver_function(name, 12_000);
        // SAFETY: the driver's functions of these names have these types.
        unsafe {
            Some(Functions {
                load_data: mem::transmute::<*mut c_void, LoadData>(find(c"cuLibraryLoadData")?),
                get_kernel: mem::transmute::<*mut c_void, GetKernel>(find(c"cuLibraryGetKernel")?),
                get_function: mem::transmute::<*mut c_void, GetFunction>(find(c"cuKernelGetFunction")?),
            })
        }
    };
    FUNCTIONS.get_or_init(find).as_ref()
}

/// Whether the driver can compile without a context.
pub(in crate::cuda) fn has_libraries() -> bool {
    functions().is_some()
}

/// Compiles PTX, if the driver can do that without a context. The code stays until the process ends.
pub(in crate::cuda) fn load_library(ptx: &CStr) -> Option<Library> {
    let functions = functions()?;
    let mut library = ptr::null_mut();
    // SAFETY: no options; the PTX ends with a zero, and nothing is kept of it.
    let code = unsafe {
        (functions.load_data)(
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

/// The kernel of that name for the current context, if it has one.
pub(in crate::cuda) fn function_of_library(library: Library, name: &CStr) -> Option<CUfunction> {
    let functions = functions()?;
    let (mut kernel, mut function) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: libraries are never unloaded; each writes one pointer, and the name ends with a zero.
    let is_found = unsafe {
        (functions.get_kernel)(&mut kernel, library.0, name.as_ptr()) == 0
            && (functions.get_function)(&mut function, kernel) == 0
    };
    is_found.then_some(function)
}
