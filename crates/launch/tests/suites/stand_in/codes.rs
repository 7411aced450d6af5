//! The names of the stand-in driver's error codes.

use std::ffi::c_char;

use super::INVALID_VALUE;

/// Sets `text` to the name (`which` is 0) or the description (1) of `code`.
pub fn explain(code: i32, text: *mut *const c_char, which: usize) -> Result<(), i32> {
    let names = match code {
        1 => [c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"],
        46 => [c"CUDA_ERROR_DEVICE_UNAVAILABLE", c"CUDA-capable device(s) is/are busy or unavailable"],
        218 => [c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed"],
        500 => [c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"],
        700 => [c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered"],
        _ => return Err(INVALID_VALUE),
    };
    // SAFETY: `launch` passes the address of a pointer.
    unsafe { *text = names[which].as_ptr() };
    Ok(())
}
