//! The driver's types and functions that this crate uses, as `cuda.h` declares them.
//!
//! # Design
//!
//! The functions are the fields of one table, which is filled when the first of them is called. A function that the
//! driver lacks is replaced by one that returns `CUDA_ERROR_NOT_SUPPORTED`. A result is a number, not an enum, because
//! a newer driver may return any code.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use crate::objects::HANDLE_BYTES;

/// The driver's number of a device.
pub(in crate::cuda) type CUdevice = c_int;

macro_rules! handles {
    ($($(#[$doc:meta])* $Handle:ident = $Object:ident;)*) => {$(
        /// An object of the driver, which only the driver can access.
        #[repr(C)]
        pub(in crate::cuda) struct $Object {
            _opaque: [u8; 0],
        }

        $(#[$doc])*
        pub(in crate::cuda) type $Handle = *mut $Object;
    )*};
}

handles! {
    /// The driver's handle of a context.
    CUcontext = Context;
    /// The driver's handle of a stream, or null for the default stream.
    CUstream = Stream;
    /// The driver's handle of an event.
    CUevent = Event;
    /// The driver's handle of a loaded module.
    CUmodule = Module;
    /// The driver's handle of a kernel in a loaded module.
    CUfunction = Function;
    /// The driver's handle of a captured graph.
    CUgraph = Graph;
    /// The driver's handle of a graph that can be launched.
    CUgraphExec = GraphExec;
}

/// Memory or an event of another process: `CUipcMemHandle` and `CUipcEventHandle`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::cuda) struct IpcHandle(pub(in crate::cuda) [u8; HANDLE_BYTES]);

macro_rules! attributes {
    ($(#[$doc:meta])* $Attribute:ident { $($name:ident = $number:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(in crate::cuda) struct $Attribute(c_uint);

        impl $Attribute {
            $(pub(in crate::cuda) const $name: Self = Self($number);)*
        }
    };
}

attributes! {
    /// A property of a device: `CUdevice_attribute`, without the prefix `CU_DEVICE_ATTRIBUTE_`.
    DeviceAttribute {
        MAX_THREADS_PER_BLOCK = 1,
        MAX_BLOCK_DIM_X = 2,
        MAX_BLOCK_DIM_Y = 3,
        MAX_BLOCK_DIM_Z = 4,
        MAX_GRID_DIM_X = 5,
        MAX_GRID_DIM_Y = 6,
        MAX_GRID_DIM_Z = 7,
        MAX_SHARED_MEMORY_PER_BLOCK = 8,
        WARP_SIZE = 10,
        MAX_REGISTERS_PER_BLOCK = 12,
        CLOCK_RATE = 13,
        MULTIPROCESSOR_COUNT = 16,
        MEMORY_CLOCK_RATE = 36,
        GLOBAL_MEMORY_BUS_WIDTH = 37,
        L2_CACHE_SIZE = 38,
        MAX_THREADS_PER_MULTIPROCESSOR = 39,
        COMPUTE_CAPABILITY_MAJOR = 75,
        COMPUTE_CAPABILITY_MINOR = 76,
        MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
        MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
        COOPERATIVE_LAUNCH = 95,
        MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    }
}

attributes! {
    /// A property of a kernel: `CUfunction_attribute`, without the prefix `CU_FUNC_ATTRIBUTE_`.
    FunctionAttribute {
        MAX_THREADS_PER_BLOCK = 0,
        SHARED_SIZE_BYTES = 1,
        CONST_SIZE_BYTES = 2,
        LOCAL_SIZE_BYTES = 3,
        NUM_REGS = 4,
        PTX_VERSION = 5,
        BINARY_VERSION = 6,
        MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    }
}

/// Returns the table of the driver's functions.
#[inline]
pub(in crate::cuda) fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let functions = Functions::find();
        // `cust` launches the kernels, by the functions that it links with.
        #[cfg(all(feature = "cust", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        // SAFETY: these are the driver's functions of these names. `cust_raw` declares their results as an enum of four
        // bytes, for which any number is returned in the same way.
        let functions = unsafe {
            use std::mem::transmute_copy;
            Functions {
                cuLaunchKernel: transmute_copy(&(cust::sys::cuLaunchKernel as *const ())),
                cuLaunchCooperativeKernel: transmute_copy(&(cust::sys::cuLaunchCooperativeKernel as *const ())),
                ..functions
            }
        };
        functions
    })
}

/// Declares the table of functions, by their names in the driver's library and the types of their parameters.
macro_rules! functions {
    ($($name:ident($($Type:ty),* $(,)?);)*) => {
        /// The driver's functions. Each returns the driver's code, which is 0 for success.
        #[allow(non_snake_case, reason = "the fields have the driver's names")]
        pub(in crate::cuda) struct Functions {
            $(pub(in crate::cuda) $name: unsafe extern "system" fn($($Type),*) -> u32,)*
        }

        impl Functions {
            /// Finds the functions in the driver's library, which is loaded if necessary.
            fn find() -> Self {
                let driver = cuda_driver::load().ok();
                Self {$($name: {
                    type Function = unsafe extern "system" fn($($Type),*) -> u32;
                    unsafe extern "system" fn missing($(_: $Type),*) -> u32 {
                        super::Code::NOT_SUPPORTED.0
                    }
                    let found = driver.and_then(|driver| driver.function(stringify!($name)));
                    // SAFETY: the driver's function of this name has this type.
                    found.map_or(missing as Function, |function| unsafe { transmute(function) })
                },)*}
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(u32, *mut *const c_char);
    cuGetErrorString(u32, *mut *const c_char);
    cuGetProcAddress(*const c_char, *mut *mut c_void, c_int, u64);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, DeviceAttribute, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxGetCurrent(*mut CUcontext);
    cuCtxSetCurrent(CUcontext);
    cuCtxGetDevice(*mut CUdevice);
    cuCtxSetLimit(c_uint, usize);
    cuCtxSynchronize();
    cuCtxEnablePeerAccess(CUcontext, c_uint);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut u64, usize);
    cuMemFree_v2(u64);
    cuMemGetAddressRange_v2(*mut u64, *mut usize, u64);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemHostGetDevicePointer_v2(*mut u64, *mut c_void, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoD_v2(u64, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, u64, usize);
    cuMemcpyHtoDAsync_v2(u64, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, u64, usize, CUstream);
    cuMemcpyDtoDAsync_v2(u64, u64, usize, CUstream);
    cuMemcpyPeerAsync(u64, CUcontext, u64, CUcontext, usize, CUstream);
    cuMemsetD8Async(u64, u8, usize, CUstream);
    cuIpcGetMemHandle(*mut IpcHandle, u64);
    cuIpcOpenMemHandle_v2(*mut u64, IpcHandle, c_uint);
    cuIpcCloseMemHandle(u64);
    cuIpcGetEventHandle(*mut IpcHandle, CUevent);
    cuIpcOpenEventHandle(*mut CUevent, IpcHandle);
    cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuModuleGetGlobal_v2(*mut u64, *mut usize, CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, FunctionAttribute, CUfunction);
    cuFuncSetAttribute(CUfunction, FunctionAttribute, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
        *mut *mut c_void,
    );
    cuLaunchCooperativeKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
    );
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuStreamAddCallback(CUstream, unsafe extern "system" fn(CUstream, u32, *mut c_void), *mut c_void, c_uint);
    cuStreamBeginCapture_v2(CUstream, c_uint);
    cuStreamEndCapture(CUstream, *mut CUgraph);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventSynchronize(CUevent);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, u64);
    cuGraphDestroy(CUgraph);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuGraphExecDestroy(CUgraphExec);
}
