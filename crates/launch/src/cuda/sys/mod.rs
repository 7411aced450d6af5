//! The driver's functions, wrapped so that they return results.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use crate::objects::PageLock;

/// The error code that a failed call of the driver returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code(pub u32);

impl Code {
    pub(super) const OUT_OF_MEMORY: Self = Self(2);
    pub(super) const NO_DEVICE: Self = Self(100);
    pub(super) const PEER_ACCESS_UNSUPPORTED: Self = Self(217);
    pub(super) const INVALID_IMAGE: Self = Self(200);
    pub(super) const INVALID_PTX: Self = Self(218);
    pub(super) const UNSUPPORTED_PTX_VERSION: Self = Self(222);
    pub(super) const NOT_FOUND: Self = Self(500);
    pub(super) const LAUNCH_OUT_OF_RESOURCES: Self = Self(701);
    pub(super) const PEER_ACCESS_ALREADY_ENABLED: Self = Self(704);
    pub(super) const TOO_MANY_PEERS: Self = Self(711);
    pub(super) const NOT_SUPPORTED: Self = Self(801);
    pub(super) const INVALID_CLUSTER_SIZE: Self = Self(912);

    /// Returns true if a kernel's failure has destroyed the context, so that every later call returns the same code.
    pub(super) fn loses_context(self) -> bool {
        // 214 and 220: uncorrectable ECC and NVLink errors; 226: a contained error. 700, 702, 710: illegal address,
        // timeout, assertion. 714 to 719: hardware stack error, illegal instruction, misaligned address, invalid
        // address space, invalid program counter, other failure. 721: a leak of tensor memory.
        matches!(self.0, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
    }

    /// Returns true if nothing can run in the context any more: the context is lost or destroyed, or the driver has
    /// shut down at the end of the process.
    pub(super) fn ends_all_work(self) -> bool {
        self.loses_context() || matches!(self.0, 3 | 4 | 201 | 709)
    }

    /// Returns the code's name in NVIDIA's manuals and its description.
    pub(super) fn explain(self) -> (String, String) {
        let functions = [functions().cuGetErrorName, functions().cuGetErrorString];
        let [name, text] = functions.map(|function| {
            let mut text = ptr::null();
            // SAFETY: the function sets `text` to a static string, or to null for an unknown number.
            let answer = unsafe { function(self.0, &mut text) };
            // SAFETY: the text is not null, so that it is a static string that ends with a zero byte.
            (answer == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        });
        (name.unwrap_or_else(|| "CUDA error".to_owned()), text.unwrap_or_else(|| "unknown error".to_owned()))
    }
}

/// Calls a function of the driver and turns its code into a `Result`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        match ($crate::cuda::sys::functions().$function)($($argument),*) {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    };
}

/// Returns a driver function of type `$Function` that `cust_raw` does not declare, or `None` if the driver does not
/// have it. Drivers have the function from `$version` on: 11080 means CUDA 11.8.
macro_rules! driver_function {
    ($name:literal, $version:expr, $Function:ty) => {{
        static FUNCTION: std::sync::OnceLock<Option<$Function>> = std::sync::OnceLock::new();
        *FUNCTION.get_or_init(|| {
            let function = $crate::cuda::sys::driver_function($name, $version)?;
            // SAFETY: the driver's function of this name has this type.
            Some(unsafe { std::mem::transmute::<*mut std::ffi::c_void, $Function>(function) })
        })
    }};
}

mod calls;
mod extended;
mod functions;
mod ipc;
mod libraries;
mod modules;
mod notify;
mod tensor_maps;

pub(super) use calls::*;
pub(super) use extended::{launch_extended, max_active_clusters};
pub(super) use functions::*;
pub(super) use ipc::*;
pub(super) use libraries::*;
pub(super) use modules::*;
pub(super) use notify::notify;
pub(super) use tensor_maps::encode_tensor_map;

/// Returns the address of a function that drivers have from CUDA `version` on.
fn driver_function(name: &CStr, version: c_int) -> Option<*mut c_void> {
    let mut function = ptr::null_mut();
    // SAFETY: the function writes one pointer, and the name ends with a zero byte.
    let found = unsafe { call!(cuGetProcAddress(name.as_ptr(), &mut function, version, 0)) };
    (found.is_ok() && !function.is_null()).then_some(function)
}

/// Returns the CUDA version that the driver supports, as `1000·major + 10·minor`.
pub(super) fn driver_version() -> Result<u32, Code> {
    let mut version = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDriverGetVersion(&mut version)) }?;
    Ok(version.unsigned_abs())
}

pub(super) fn device_count() -> Result<u32, Code> {
    let mut count = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDeviceGetCount(&mut count)) }?;
    Ok(count.unsigned_abs())
}

pub(super) fn device_name(device: CUdevice) -> Result<String, Code> {
    let mut name = [0_u8; 256];
    // SAFETY: the function writes at most `name.len()` bytes, including the final zero byte.
    unsafe { call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, device)) }?;
    Ok(until_zero(&name))
}

pub(super) fn device_attribute(device: CUdevice, attribute: DeviceAttribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDeviceGetAttribute(&mut value, attribute, device)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Returns the device with this ordinal.
pub(super) fn device(ordinal: u32) -> Result<CUdevice, Code> {
    let mut device = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDeviceGet(&mut device, c_int::try_from(ordinal).unwrap_or(c_int::MAX))) }?;
    Ok(device)
}

/// Returns the device's primary context, which is created if necessary, and takes a reference to it.
pub(super) fn retain_context(device: CUdevice) -> Result<CUcontext, Code> {
    let mut context = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device)) }?;
    Ok(context)
}

/// Returns the calling thread's current context, or null.
#[inline]
pub(super) fn current_context() -> Result<CUcontext, Code> {
    let mut context = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuCtxGetCurrent(&mut context)) }?;
    Ok(context)
}

/// Returns the device of the current context.
pub(super) fn context_device() -> Result<CUdevice, Code> {
    let mut device = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuCtxGetDevice(&mut device)) }?;
    Ok(device)
}

/// Returns the free and the total number of bytes of memory of the current context's device.
pub(super) fn memory_info() -> Result<(usize, usize), Code> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the function writes two integers.
    unsafe { call!(cuMemGetInfo_v2(&mut free, &mut total)) }?;
    Ok((free, total))
}

/// Returns true if kernels and copies of `device` can access the memory of `peer` directly.
pub(super) fn can_access_peer(device: CUdevice, peer: CUdevice) -> Result<bool, Code> {
    let mut answer = 0;
    // SAFETY: the function writes one integer.
    unsafe { call!(cuDeviceCanAccessPeer(&mut answer, device, peer)) }?;
    Ok(answer != 0)
}

/// Flags of `cuMemHostAlloc`.
const MEMHOSTALLOC_PORTABLE: u32 = 1;
const MEMHOSTALLOC_DEVICEMAP: u32 = 2;

/// Allocates `bytes` bytes, at least one, of page-locked host memory. The contents are unspecified.
pub(super) fn page_locked(bytes: usize, lock: PageLock) -> Result<*mut u8, Code> {
    let flags = match lock {
        PageLock::Copies => MEMHOSTALLOC_PORTABLE,
        PageLock::Mapping => MEMHOSTALLOC_DEVICEMAP,
    };
    let mut start: *mut c_void = ptr::null_mut();
    // SAFETY: the function writes one pointer.
    unsafe { call!(cuMemHostAlloc(&mut start, bytes, flags)) }?;
    Ok(start.cast())
}

/// Returns the value of an attribute of a kernel.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn function_attribute(function: CUfunction, attribute: FunctionAttribute) -> Result<u32, Code> {
    let mut value = 0;
    // SAFETY: the function writes one integer. The caller guarantees that the module is loaded.
    unsafe { call!(cuFuncGetAttribute(&mut value, attribute, function)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Allows clusters of more than 8 blocks in launches of `function`.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn allow_large_clusters(function: CUfunction) -> Result<(), Code> {
    let attribute = FunctionAttribute::NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    // SAFETY: the caller guarantees that the module is loaded.
    unsafe { call!(cuFuncSetAttribute(function, attribute, 1)) }
}

/// Sets the limit of dynamic shared memory per block of `function` to `bytes`.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn allow_dynamic_shared(function: CUfunction, bytes: u32) -> Result<(), Code> {
    let attribute = FunctionAttribute::MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the caller guarantees that the module is loaded.
    unsafe { call!(cuFuncSetAttribute(function, attribute, c_int::try_from(bytes).unwrap_or(c_int::MAX))) }
}

/// Returns how many blocks of `function` a multiprocessor holds at once, at this block size and dynamic shared memory.
///
/// # Safety
/// The module of `function` must be loaded.
pub(super) unsafe fn blocks_per_sm(function: CUfunction, threads: u32, shared_bytes: u32) -> Result<u32, Code> {
    let mut blocks = 0;
    let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
    // SAFETY: the function writes one integer. The caller guarantees that the module is loaded.
    unsafe {
        call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared_bytes as usize))
    }?;
    Ok(u32::try_from(blocks).unwrap_or(0))
}

/// Launches `function` in `stream`, without clusters.
///
/// # Safety
/// The module of `function` must be loaded. `parameters` must point to the kernel's parameters, in order. All memory to
/// which the parameters point must live until the kernel has ended.
#[inline]
pub(super) unsafe fn launch(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    parameters: &mut [*mut c_void],
) -> Result<(), Code> {
    let cuda_std::LaunchConfig { grid, block, shared_bytes, is_cooperative, cluster: _, tables: _ } = config;
    let parameters = parameters.as_mut_ptr();
    macro_rules! launch {
        ($function:ident $($last:expr)?) => {
            call!($function(
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
                $(, $last)?
            ))
        };
    }
    // SAFETY: the caller guarantees the parameters. The driver copies them before it returns.
    unsafe { if is_cooperative { launch!(cuLaunchCooperativeKernel) } else { launch!(cuLaunchKernel ptr::null_mut()) } }
}

/// Waits for everything in `stream`. The driver then prints the output of the kernels, and this function flushes it.
///
/// # Safety
/// The stream must exist in the current context.
pub(super) unsafe fn synchronize(stream: CUstream) -> Result<(), Code> {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: the caller guarantees that the stream exists in the current context.
    let result = unsafe { call!(cuStreamSynchronize(stream)) };
    // SAFETY: a null pointer flushes all output streams of the C library, through which the driver prints.
    unsafe { fflush(ptr::null_mut()) };
    result
}

/// Returns the text in `buffer` that ends before its first zero byte.
fn until_zero(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|&byte| byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
