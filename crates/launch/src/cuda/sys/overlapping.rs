//! Launches that begin while the one before runs.

use std::ffi::{c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use cust::sys::{CUfunction, CUstream};

use super::{Code, driver_function, launch};

/// `CUlaunchAttribute`: 64 bytes of value, of which an `int` is used.
#[repr(C)]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    value: c_int,
    rest: [c_int; 15],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: CUstream,
    attributes: *mut Attribute,
    attributes_len: c_uint,
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;

type LaunchEx = unsafe extern "C" fn(*const Config, CUfunction, *mut *mut c_void, *mut *mut c_void) -> u32;

/// `cuLaunchKernelEx`, which `cust_raw` does not know. Drivers before CUDA 11.8 have none.
fn launch_ex() -> Option<LaunchEx> {
    static FUNCTION: OnceLock<Option<LaunchEx>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        let function = driver_function(c"cuLaunchKernelEx", 11_080)?;
        // SAFETY: the driver's function of that name has this type.
        Some(unsafe { mem::transmute::<*mut c_void, LaunchEx>(function) })
    })
}

/// Launches `function` in the order of `stream`; it may begin while the launch before runs. A driver that cannot do
/// that lets it wait.
///
/// # Safety
/// As for [`launch`]; and the kernel must wait for the launch before, before it touches memory.
pub(in crate::cuda) unsafe fn launch_overlapping(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    parameters: &mut [*mut c_void],
) -> Result<(), Code> {
    let Some(launch_ex) = launch_ex() else {
        // SAFETY: the caller's word.
        return unsafe { launch(function, config, stream, parameters) };
    };
    let cuda_std::LaunchConfig { grid, block, shared_bytes, is_cooperative: _, tables: _ } = config;
    let mut attribute = Attribute { id: PROGRAMMATIC_STREAM_SERIALIZATION, padding: [0; 4], value: 1, rest: [0; 15] };
    let config = Config {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes,
        stream,
        attributes: &mut attribute,
        attributes_len: 1,
    };
    // SAFETY: the caller's word. The driver copies all that it is given before it returns.
    match unsafe { launch_ex(&config, function, parameters.as_mut_ptr(), ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(Code(code)),
    }
}
