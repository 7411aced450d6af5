//! The driver's functions that `cust` does not wrap, or whose exact result matters: one or two lines each.
//!
//! `cust_raw` has the results as a Rust enum of those that CUDA 11.4 knew, and `cust` turns all that it does not know
//! itself into one error. A newer driver may answer anything, so here every function's answer is read as a number.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use cust::sys;
use cust::sys::{CUcontext, CUdevice, CUfunction, CUresult, CUstream};

pub(super) use cust::sys::CUdevice_attribute as DeviceAttribute;
pub(super) use cust::sys::CUfunction_attribute as FunctionAttribute;

/// What the driver answers when it does not do what it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code(pub u32);

impl Code {
    pub(super) const OUT_OF_MEMORY: Self = Self(2);
    pub(super) const NO_DEVICE: Self = Self(100);
    pub(super) const PEER_ACCESS_UNSUPPORTED: Self = Self(217);
    pub(super) const INVALID_PTX: Self = Self(218);
    pub(super) const UNSUPPORTED_PTX_VERSION: Self = Self(222);
    pub(super) const NOT_FOUND: Self = Self(500);
    pub(super) const LAUNCH_OUT_OF_RESOURCES: Self = Self(701);
    pub(super) const PEER_ACCESS_ALREADY_ENABLED: Self = Self(704);
    pub(super) const TOO_MANY_PEERS: Self = Self(711);

    /// Whether a kernel failed in a way that takes the context with it: every later call has the same answer.
    pub(super) fn loses_context(self) -> bool {
        // Uncorrectable ECC and NVLink errors, and a contained one; then an illegal address, a timeout, an assertion, a
        // hardware stack error, an illegal instruction, misaligned address, address space and program counter, and any
        // other failure; then a leak of tensor memory.
        matches!(self.0, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
    }

    /// Whether nothing runs in the context any more: it is lost, or the driver has ended (at the process's end), or
    /// somebody else has destroyed it.
    pub(super) fn ends_all_work(self) -> bool {
        self.loses_context() || matches!(self.0, 3 | 4 | 201 | 709)
    }

    /// The name that NVIDIA's manuals give it, and what it means.
    pub(super) fn explain(self) -> (String, String) {
        type Explain = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;
        // SAFETY: `cust_raw` declares these functions with an enum of four bytes where the driver has an `int`.
        let functions: [Explain; 2] = unsafe {
            [
                std::mem::transmute::<unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult, Explain>(
                    sys::cuGetErrorName,
                ),
                std::mem::transmute::<unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult, Explain>(
                    sys::cuGetErrorString,
                ),
            ]
        };
        let [name, text] = functions.map(|function| {
            let mut text = ptr::null();
            // SAFETY: the function sets `text` to a static string, or to null for a number that it does not know.
            let answer = unsafe { function(self.0, &mut text) };
            // SAFETY: as above.
            (answer == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        });
        (name.unwrap_or_else(|| "CUDA error".to_owned()), text.unwrap_or_else(|| "unknown error".to_owned()))
    }
}

impl From<cust::error::CudaError> for Code {
    fn from(error: cust::error::CudaError) -> Self {
        Self(error as u32)
    }
}

/// A function of the driver that answers with a number instead of an enum.
trait Numbered {
    type Function;
    fn numbered(self) -> Self::Function;
}

macro_rules! numbered {
    ($($type:ident)*) => {
        impl<$($type),*> Numbered for unsafe extern "C" fn($($type),*) -> CUresult {
            type Function = unsafe extern "C" fn($($type),*) -> u32;

            fn numbered(self) -> Self::Function {
                // SAFETY: `CUresult` is an enum of four bytes that stands for the driver's `int`, which is returned the
                // same way as a `u32`, of which every value is valid.
                unsafe { std::mem::transmute::<Self, Self::Function>(self) }
            }
        }
    };
}
numbered! {}
numbered! { A }
numbered! { A B }
numbered! { A B C }
numbered! { A B C D }
numbered! { A B C D E }
numbered! { A B C D E F }
numbered! { A B C D E F G H I J }
numbered! { A B C D E F G H I J K }

macro_rules! infer {
    ($argument:expr) => {
        _
    };
}

/// Calls a function of the driver; its answer becomes a `Result`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let function: unsafe extern "C" fn($(infer!($argument)),*) -> CUresult = sys::$function;
        match function.numbered()($($argument),*) {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }};
}

mod graphs;
mod ipc;
mod libraries;
mod modules;
mod overlapping;
mod peers;
mod streams;

pub(super) use graphs::*;
pub(super) use ipc::*;
pub(super) use libraries::*;
pub(super) use modules::*;
pub(super) use overlapping::launch_overlapping;
pub(super) use peers::*;
pub(super) use streams::*;

/// A function of the driver that `cust_raw` does not know, which drivers have from `version` on: 11080 for CUDA 11.8.
fn driver_function(name: &CStr, version: c_int) -> Option<*mut c_void> {
    let mut function = ptr::null_mut();
    // SAFETY: writes one pointer, and the name ends with a zero.
    let found = unsafe { call!(cuGetProcAddress(name.as_ptr(), &mut function, version, 0)) };
    (found.is_ok() && !function.is_null()).then_some(function)
}

/// Starts the driver; later calls do nothing.
pub(super) fn init() -> Result<(), Code> {
    // SAFETY: takes no pointer.
    unsafe { call!(cuInit(0)) }
}

/// The CUDA version that the driver supports, as `1000·major + 10·minor`.
pub(super) fn driver_version() -> Result<u32, Code> {
    let mut version = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDriverGetVersion(&mut version)) }?;
    Ok(version.unsigned_abs())
}

pub(super) fn device_count() -> Result<u32, Code> {
    let mut count = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceGetCount(&mut count)) }?;
    Ok(count.unsigned_abs())
}

pub(super) fn device_name(device: CUdevice) -> Result<String, Code> {
    let mut name = [0_u8; 256];
    // SAFETY: writes at most as many bytes as it is told there are, with a zero at the end.
    unsafe { call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, device)) }?;
    Ok(until_zero(&name))
}

pub(super) fn device_memory(device: CUdevice) -> Result<usize, Code> {
    let mut bytes = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceTotalMem_v2(&mut bytes, device)) }?;
    Ok(bytes)
}

pub(super) fn device_attribute(device: CUdevice, attribute: DeviceAttribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceGetAttribute(&mut value, attribute, device)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Retains the device's primary context once more, and makes it if there is none yet.
pub(super) fn retain_context(device: CUdevice) -> Result<(), Code> {
    let mut context = ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device)) }
}

/// Undoes one `retain_context`.
///
/// # Safety
/// What uses the context must have retained it itself.
pub(super) unsafe fn release_context(device: CUdevice) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuDevicePrimaryCtxRelease_v2(device)) }
}

/// The calling thread's context, or null.
#[inline]
pub(super) fn current_context() -> Result<CUcontext, Code> {
    let mut context = ptr::null_mut();
    // SAFETY: writes one pointer.
    unsafe { call!(cuCtxGetCurrent(&mut context)) }?;
    Ok(context)
}

/// Bytes free and bytes in all, of the current context's device.
pub(super) fn memory_info() -> Result<(usize, usize), Code> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: writes two integers.
    unsafe { call!(cuMemGetInfo_v2(&mut free, &mut total)) }?;
    Ok((free, total))
}

/// Allocates `bytes` bytes, not 0, in the current context.
pub(super) fn allocate(bytes: usize) -> Result<u64, Code> {
    let mut address = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuMemAlloc_v2(&mut address, bytes)) }?;
    Ok(address)
}

/// Frees what `allocate` gave, in the same context, once everything launched before is done.
///
/// # Safety
/// `address` must not be used afterwards.
pub(super) unsafe fn free(address: u64) -> Result<(), Code> {
    // SAFETY: the caller's word; any address is at worst refused.
    unsafe { call!(cuMemFree_v2(address)) }
}

/// Copies `data` to the device.
///
/// # Safety
/// At `address` must be as many bytes of the current context's memory.
pub(super) unsafe fn copy_to_device(address: u64, data: &[MaybeUninit<u8>]) -> Result<(), Code> {
    // SAFETY: reads no more than `data`; the rest is the caller's word.
    unsafe { call!(cuMemcpyHtoD_v2(address, data.as_ptr().cast(), data.len())) }
}

/// Copies `bytes` bytes to the host.
///
/// # Safety
/// At `address` must be that many bytes of the current context's memory; `target` must be valid for writing them.
pub(super) unsafe fn copy_to_host(target: *mut u8, address: u64, bytes: usize) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemcpyDtoH_v2(target.cast(), address, bytes)) }
}

/// Copies `bytes` bytes within the device, in the order of `stream`.
///
/// # Safety
/// At both addresses must be that many bytes of the current context's memory, without overlap.
pub(super) unsafe fn copy_on_device(to: u64, from: u64, bytes: usize, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemcpyDtoDAsync_v2(to, from, bytes, stream)) }
}

/// Sets `bytes` bytes to zero, in the order of `stream`.
///
/// # Safety
/// At `address` must be that many bytes of the current context's memory.
pub(super) unsafe fn zero(address: u64, bytes: usize, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuMemsetD8Async(address, 0, bytes, stream)) }
}

/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn function_attribute(function: CUfunction, attribute: FunctionAttribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: writes one integer; the rest is the caller's word.
    unsafe { call!(cuFuncGetAttribute(&mut value, attribute, function)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Lets the blocks of `function` have `bytes` bytes of dynamic shared memory.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn allow_dynamic_shared(function: CUfunction, bytes: u32) -> Result<(), Code> {
    let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the caller's word.
    unsafe { call!(cuFuncSetAttribute(function, attribute, c_int::try_from(bytes).unwrap_or(c_int::MAX))) }
}

/// Blocks of `function` that an SM holds at once.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn blocks_per_sm(function: CUfunction, threads: u32, shared_bytes: u32) -> Result<u32, Code> {
    let mut blocks = 0;
    let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
    // SAFETY: writes one integer; the rest is the caller's word.
    unsafe {
        call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared_bytes as usize))
    }?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

/// Launches `function` in the order of `stream`.
///
/// # Safety
/// The module of `function` must be loaded, `parameters` must point to what the kernel takes, in its order, and memory
/// that they name must live until the kernel has ended.
#[inline]
pub(super) unsafe fn launch(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    parameters: &mut [*mut c_void],
) -> Result<(), Code> {
    let cuda_std::LaunchConfig { grid, block, shared_bytes, is_cooperative, tables: _ } = config;
    let parameters = parameters.as_mut_ptr();
    // SAFETY: the caller's word. The driver copies the parameters before it returns.
    unsafe {
        if is_cooperative {
            return call!(cuLaunchCooperativeKernel(
                function,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                stream,
                parameters
            ));
        }
        call!(cuLaunchKernel(
            function,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            shared_bytes,
            stream,
            parameters,
            ptr::null_mut()
        ))
    }
}

/// Waits for everything in `stream`. The driver has then printed what kernels print, and it leaves the host.
///
/// # Safety
/// The stream must exist in the current context.
pub(super) unsafe fn synchronize(stream: CUstream) -> Result<(), Code> {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: the caller's word.
    let result = unsafe { call!(cuStreamSynchronize(stream)) };
    // SAFETY: null stands for all output streams of the C library, by way of which the driver prints.
    unsafe { fflush(ptr::null_mut()) };
    result
}

/// The text in a buffer up to its first zero.
fn until_zero(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|&byte| byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
