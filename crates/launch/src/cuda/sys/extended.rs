//! Launches with attributes: clusters, and launches that may start while the previous launch runs (programmatic stream
//! serialization).
//!
//! # Design
//!
//! Usually a launch begins when the previous launch in its stream has ended. A kernel whose own text contains
//! `griddepcontrol.wait`, the instruction of `grid::wait_for_dependencies`, is launched by `cuLaunchKernelEx` instead
//! and may begin at once, except in graphs. Only the kernel's text decides: a kernel without the instruction cannot be
//! launched this way by mistake.

use std::ffi::{c_uint, c_void};
use std::ptr;

use super::{CUfunction, CUstream, Code, launch};

/// The driver's `CUlaunchAttribute`. Its value has 64 bytes, of which up to three numbers are used.
#[derive(Clone, Copy)]
#[repr(C)]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    value: [c_uint; 16],
}

impl Attribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    const COOPERATIVE: c_uint = 2;
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    const CLUSTER_DIMENSION: c_uint = 4;
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
    const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;

    fn new(id: c_uint, first: [c_uint; 3]) -> Self {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&first);
        Self { id, padding: [0; 4], value }
    }
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

type LaunchEx = unsafe extern "C" fn(*const Config, CUfunction, *mut *mut c_void, *mut *mut c_void) -> u32;
type MaxActiveClusters = unsafe extern "C" fn(*mut i32, CUfunction, *const Config) -> u32;

/// The attributes of a launch: its clusters, if it has any, and true if it may overlap with the previous launch.
fn attributes(config: &cuda_std::LaunchConfig, may_overlap: bool) -> impl Iterator<Item = Attribute> {
    let cluster = config.cluster;
    [
        (config.has_clusters(), Attribute::CLUSTER_DIMENSION, [cluster.x, cluster.y, cluster.z]),
        (config.is_cooperative, Attribute::COOPERATIVE, [1, 0, 0]),
        (may_overlap, Attribute::PROGRAMMATIC_STREAM_SERIALIZATION, [1, 0, 0]),
    ]
    .into_iter()
    .filter(|&(is_used, ..)| is_used)
    .map(|(_, id, value)| Attribute::new(id, value))
}

/// Calls `f` with the driver's form of `config`.
fn with_config<R>(
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    may_overlap: bool,
    f: impl FnOnce(&Config) -> R,
) -> R {
    let mut all = [Attribute::new(0, [0; 3]); 3];
    let mut attributes_len = 0;
    for (slot, attribute) in all.iter_mut().zip(attributes(&config, may_overlap)) {
        *slot = attribute;
        attributes_len += 1;
    }
    let cuda_std::LaunchConfig { grid, block, shared_bytes, .. } = config;
    f(&Config {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared_bytes,
        stream,
        attributes: all.as_mut_ptr(),
        attributes_len,
    })
}

/// Launches `function` in `stream`, with clusters if `config` has any. With `may_overlap`, the kernel may start while
/// the previous launch runs. If the driver does not support overlapping launches, the kernel starts after the previous
/// launch.
///
/// # Safety
/// The same conditions as for [`launch`]. In addition, a kernel that may overlap must wait for the previous launch
/// before it accesses memory.
pub(in crate::cuda) unsafe fn launch_extended(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
    stream: CUstream,
    parameters: &mut [*mut c_void],
    may_overlap: bool,
) -> Result<(), Code> {
    // Drivers before CUDA 11.8 do not have this function.
    let Some(launch_ex) = driver_function!(c"cuLaunchKernelEx", 11_080, LaunchEx) else {
        if config.has_clusters() {
            return Err(Code::NOT_SUPPORTED);
        }
        // SAFETY: the caller guarantees the conditions of `launch`.
        return unsafe { launch(function, config, stream, parameters) };
    };
    let code = with_config(config, stream, may_overlap, |config| {
        // SAFETY: the caller guarantees the parameters. The driver copies everything that is passed before it returns.
        unsafe { launch_ex(config, function, parameters.as_mut_ptr(), ptr::null_mut()) }
    });
    if code == 0 { Ok(()) } else { Err(Code(code)) }
}

/// Returns the number of clusters of `config` that the GPU can run at the same time.
///
/// # Safety
/// The module of `function` must be loaded.
pub(in crate::cuda) unsafe fn max_active_clusters(
    function: CUfunction,
    config: cuda_std::LaunchConfig,
) -> Result<u32, Code> {
    let Some(query) = driver_function!(c"cuOccupancyMaxActiveClusters", 11_080, MaxActiveClusters) else {
        return Err(Code::NOT_SUPPORTED);
    };
    let mut clusters = 0;
    // SAFETY: the caller guarantees the function; the driver writes one integer.
    let code = with_config(config, ptr::null_mut(), false, |config| unsafe { query(&mut clusters, function, config) });
    if code == 0 { Ok(u32::try_from(clusters).unwrap_or(0)) } else { Err(Code(code)) }
}
