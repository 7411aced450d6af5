//! The driver's functions for modules.

use std::ffi::{CStr, c_void};
use std::ptr;

use cust::sys;
use cust::sys::{CUfunction, CUmodule, CUresult};

use super::{Code, Numbered, until_zero};
use crate::version::CudaVersion;

/// The option of how many threads compile, which `cust` does not have: kernels of one text beside each other, to the
/// same code.
pub(super) const CU_JIT_SPLIT_COMPILE: u32 = 34;

/// The first CUDA whose drivers are asked for that.
pub(super) const SPLITS_FROM: CudaVersion = CudaVersion::new(13, 0);

/// Compiles and loads a module into the current context. A failure comes with the compiler's messages.
pub(in crate::cuda) fn load_module(ptx: &CStr, driver: CudaVersion) -> Result<CUmodule, (Code, String)> {
    use cust::sys::CUjit_option::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};

    let mut log = vec![0_u8; 16 << 10];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER as u32, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32, CU_JIT_SPLIT_COMPILE];
    let count = if driver < SPLITS_FROM { 2 } else { 3 };
    // An option that is a number stands itself where the others have their pointers. 0 threads are one per processor.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(log.len()), ptr::null_mut()];
    let mut module = ptr::null_mut();
    // SAFETY: there are as many values as options, of which the first is a buffer of the second's size; an option is a
    // number of 32 bits; the PTX ends with a zero, and nothing is kept of it.
    let result = unsafe {
        call!(cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            count,
            options.as_mut_ptr().cast(),
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
