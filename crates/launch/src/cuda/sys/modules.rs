//! The driver's functions for modules.

use std::ffi::{CStr, c_void};
use std::ptr;

use super::{CUmodule, Code, until_zero};
use crate::version::CudaVersion;

/// The driver's options for the buffer of the compiler's errors and for its size.
const CU_JIT_ERROR_LOG_BUFFER: u32 = 5;
const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;

/// The driver's option for the number of compiling threads. With several threads the kernels of one text are compiled
/// in parallel, to the same code.
pub(super) const CU_JIT_SPLIT_COMPILE: u32 = 34;

/// The first CUDA version with which this crate sets that option.
pub(super) const SPLITS_FROM: CudaVersion = CudaVersion::new(13, 0);

/// Compiles and loads a module into the current context. An error includes the compiler's messages.
pub(in crate::cuda) fn load_module(ptx: &CStr, driver: CudaVersion) -> Result<CUmodule, (Code, String)> {
    let mut log = vec![0_u8; 16 << 10];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_SPLIT_COMPILE];
    let count = if driver < SPLITS_FROM { 2 } else { 3 };
    // An option that is a number is passed in the place of a pointer. 0 means one thread per processor.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(log.len()), ptr::null_mut()];
    let mut module = ptr::null_mut();
    // SAFETY: there are as many values as options. The first is a buffer of the second's size. An option is a 32-bit
    // number. The PTX ends with a zero byte, and the driver copies what it needs.
    let result = unsafe {
        call!(cuModuleLoadDataEx(&mut module, ptx.as_ptr().cast(), count, options.as_mut_ptr(), values.as_mut_ptr()))
    };
    result.map(|()| module).map_err(|code| (code, until_zero(&log).trim_end().to_owned()))
}

/// Loads machine code, an ELF file, into the current context.
pub(in crate::cuda) fn load_machine_code(code: &[u8]) -> Result<CUmodule, Code> {
    if !has_whole_tables(code) {
        return Err(Code::INVALID_IMAGE);
    }
    // The driver reads the headers in place, so that they must be aligned.
    let mut aligned = vec![0_u64; code.len().div_ceil(size_of::<u64>())];
    for (word, bytes) in aligned.iter_mut().zip(code.chunks(size_of::<u64>())) {
        let mut whole = [0; size_of::<u64>()];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    let mut module = ptr::null_mut();
    // SAFETY: without options there are no values. The tables of the ELF file state its length, and are in the slice.
    // The driver copies what it needs.
    unsafe { call!(cuModuleLoadDataEx(&mut module, aligned.as_ptr().cast(), 0, ptr::null_mut(), ptr::null_mut())) }?;
    Ok(module)
}

/// Returns true if `code` is a 64-bit ELF file that contains its tables of segments and sections, which are last.
fn has_whole_tables(code: &[u8]) -> bool {
    const HEADER_BYTES: usize = 64;
    let number = |at: usize, bytes: usize| {
        let digits = code.iter().skip(at).take(bytes).rev();
        digits.fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    // The offset, the size of an entry and the number of entries of each table.
    let tables = [(0x20, 0x36, 0x38), (0x28, 0x3A, 0x3C)];
    let ends = |(offset, size, count)| number(offset, 8).checked_add(number(size, 2) * number(count, 2));
    code.len() >= HEADER_BYTES
        && code.starts_with(b"\x7fELF")
        && tables.into_iter().all(|table| ends(table).is_some_and(|end| end <= code.len() as u64))
}
