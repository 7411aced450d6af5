//! Launches that may start while the previous launch runs (programmatic stream serialization).
//!
//! # Design
//!
//! Usually a launch begins when the previous launch in its stream has ended. A kernel whose own text contains
//! `griddepcontrol.wait`, the instruction of `grid::wait_for_dependencies`, is launched by `cuLaunchKernelEx` instead
//! and may begin at once, except in graphs. Only the kernel's text decides: a kernel without the instruction cannot be
//! launched this way by mistake.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::{CUfunction, CUstream, Code, launch};

/// The driver's `CUlaunchAttribute`. Its value has 64 bytes, of which one `int` is used.
#[repr(C)]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    value: c_int,
    rest: [c_int; 15],
}

/// The driver's `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: CUstream,
    attributes: *mut Attribute,
    attributes_len: c_uint,
}

/// The attribute `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;

type LaunchEx = unsafe extern "C" fn(*const Config, CUfunction, *mut *mut c_void, *mut *mut c_void) -> u32;

/// Launches `function` in `stream`; the kernel may start while the previous launch runs. If the driver does not support
/// this, the kernel starts after the previous launch.
///
/// # Safety
/// The same conditions as for [`launch`]. In addition, the kernel must wait for the previous launch before it accesses
/// memory.
pub(in crate::cuda) unsafe fn launch_overlapping(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    parameters: &mut [*mut c_void],
) -> Result<(), Code> {
    // Drivers before CUDA 11.8 do not have this function.
    let Some(launch_ex) = driver_function!(c"cuLaunchKernelEx", 11_080, LaunchEx) else {
        // SAFETY: the caller guarantees the conditions of `launch`.
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
    // SAFETY: the caller guarantees the parameters. The driver copies everything that is passed before it returns.
    match unsafe { launch_ex(&config, function, parameters.as_mut_ptr(), ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(Code(code)),
    }
}
