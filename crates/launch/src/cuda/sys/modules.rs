//! The driver's functions for modules.

use std::ffi::{CStr, c_void};
use std::ptr;

use cust::sys;
use cust::sys::{CUfunction, CUmodule, CUresult};

use super::{Code, Numbered, until_zero};

/// Compiles and loads a module into the current context. A failure comes with the compiler's messages.
pub(in crate::cuda) fn load_module(ptx: &CStr) -> Result<CUmodule, (Code, String)> {
    use cust::sys::CUjit_option::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};

    let mut log = vec![0_u8; 16 << 10];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // An option that is a number stands itself where the others have their pointers.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(log.len())];
    let mut module = ptr::null_mut();
    // SAFETY: two options have two values, of which the first is a buffer of the second's size; the PTX ends with a
    // zero, and nothing is kept of it.
    let result = unsafe {
        call!(cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        ))
    };
    result.map(|()| module).map_err(|code| (code, until_zero(&log).trim_end().to_owned()))
}

/// Unloads what `load_module` gave, in the same context.
///
/// # Safety
/// Neither the module nor a function of it may be used afterwards.
pub(in crate::cuda) unsafe fn unload_module(module: CUmodule) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuModuleUnload(module)) }
}

/// The kernel of that name.
///
/// # Safety
/// `module` must be loaded.
pub(in crate::cuda) unsafe fn function(module: CUmodule, name: &CStr) -> Result<CUfunction, Code> {
    let mut function = ptr::null_mut();
    // SAFETY: writes one pointer and reads a string that ends with a zero.
    unsafe { call!(cuModuleGetFunction(&mut function, module, name.as_ptr())) }?;
    Ok(function)
}

/// The address and the bytes of a static of `module`.
///
/// # Safety
/// `module` must be loaded.
pub(in crate::cuda) unsafe fn global(module: CUmodule, name: &CStr) -> Result<(u64, usize), Code> {
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: writes two integers and reads a string that ends with a zero.
    unsafe { call!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr())) }?;
    Ok((address, bytes))
}
