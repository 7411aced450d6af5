//! Functions of the driver that are wrapped in a single call each.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

use super::Code;
use super::functions::*;

/// Flags of `cuEventCreate`: `CU_EVENT_DISABLE_TIMING`, and the same flag together with `CU_EVENT_INTERPROCESS`.
pub(in crate::cuda) const DISABLE_TIMING: u32 = 2;
pub(in crate::cuda) const INTERPROCESS: u32 = DISABLE_TIMING | 4;

/// Flags of `cuStreamCreate`. `CU_STREAM_DEFAULT`: the new stream and the default stream wait for each other.
/// `CU_STREAM_NON_BLOCKING`: they do not.
pub(in crate::cuda) const BLOCKING: u32 = 0;
pub(in crate::cuda) const NON_BLOCKING: u32 = 1;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const CAPTURE_MODE_RELAXED: u32 = 2;

/// `CU_LIMIT_MALLOC_HEAP_SIZE`.
const MALLOC_HEAP_SIZE: u32 = 2;

/// The default stream, in which synchronous copies run.
pub(in crate::cuda) const DEFAULT_STREAM: CUstream = ptr::null_mut();

/// Declares functions that each make one driver call. In one use of the macro, either all functions are `unsafe` or
/// none is. A function declared with `-> value: Type = start, call` sets `value` to `start`, lets the driver write to
/// it, and returns it.
macro_rules! driver_calls {
    ($safety:tt $($(#[$doc:meta])* fn $name:ident $parameters:tt
        $(-> $value:ident: $Value:ty = $start:expr, $writes:ident $arguments:tt)? $(= $plain:ident $rest:tt)?;)*) => {
        $(driver_calls! { @one $safety [$(#[$doc])*] $name $parameters
            $([$value: $Value = $start] $writes $arguments)? $([_value: () = ()] $plain $rest)? })*
    };
    (@one [$($unsafe:tt)?] [$($doc:tt)*] $name:ident ($($parameters:tt)*)
        [$value:ident: $Value:ty = $start:expr] $function:ident ($($arguments:tt)*)) => {
        $($doc)*
        pub(in crate::cuda) $($unsafe)? fn $name($($parameters)*) -> Result<$Value, Code> {
            #[allow(unused_mut, clippy::let_unit_value, reason = "most functions write no result")]
            let mut $value: $Value = $start;
            // SAFETY: the driver writes the value at most. The caller guarantees the conditions that the function's
            // documentation names.
            unsafe { call!($function($($arguments)*)) }?;
            Ok($value)
        }
    };
}

driver_calls! { []
    /// Initialises the driver. Later calls of this function do nothing.
    fn init() = cuInit(0);

    /// Waits for everything in all streams of the current context.
    fn synchronize_context() = cuCtxSynchronize();

    /// Sets the size of the heap from which the kernels of the current context allocate.
    fn set_heap_bytes(bytes: usize) = cuCtxSetLimit(MALLOC_HEAP_SIZE, bytes);

    /// Returns the size of the device's memory in bytes.
    fn device_memory(device: CUdevice) -> bytes: usize = 0, cuDeviceTotalMem_v2(&mut bytes, device);

    /// Allocates `bytes` bytes, at least one, in the current context and returns their address.
    fn allocate(bytes: usize) -> address: u64 = 0, cuMemAlloc_v2(&mut address, bytes);

    /// Creates a stream of the current context. `flags` is [`BLOCKING`] or [`NON_BLOCKING`].
    fn create_stream(flags: u32) -> stream: CUstream = ptr::null_mut(), cuStreamCreate(&mut stream, flags);

    /// Creates an event of the current context. If `flags` is 0, the event measures time.
    fn create_event(flags: u32) -> event: CUevent = ptr::null_mut(), cuEventCreate(&mut event, flags);
}

driver_calls! { [unsafe]
    /// Releases a reference that `retain_context` took to the primary context.
    ///
    /// # Safety
    /// Each user of the context must have another reference.
    fn release_context(device: CUdevice) = cuDevicePrimaryCtxRelease_v2(device);

    /// Frees memory that [`allocate`] returned in the same context, after all earlier launches are done.
    ///
    /// # Safety
    /// `address` must not be used afterwards.
    fn free(address: u64) = cuMemFree_v2(address);

    /// Makes `context` the calling thread's current context.
    ///
    /// # Safety
    /// The context must exist.
    fn set_context(context: CUcontext) = cuCtxSetCurrent(context);

    /// Copies `data` to `address` on the device and waits for the copy to finish.
    ///
    /// # Safety
    /// `address` must point to `data.len()` bytes of the current context's memory.
    fn copy_to_device(address: u64, data: &[MaybeUninit<u8>]) =
        cuMemcpyHtoD_v2(address, data.as_ptr().cast(), data.len());

    /// Copies `bytes` bytes from `address` on the device to `target`, and waits for the copy to finish.
    ///
    /// # Safety
    /// `address` must point to `bytes` bytes of the current context's memory. `target` must be valid for writes of that
    /// size.
    fn copy_to_host(target: *mut u8, address: u64, bytes: usize) = cuMemcpyDtoH_v2(target.cast(), address, bytes);

    /// Copies `bytes` bytes within the device in `stream`.
    ///
    /// # Safety
    /// Both addresses must point to `bytes` bytes of the current context's memory, without overlap.
    fn copy_on_device(to: u64, from: u64, bytes: usize, stream: CUstream) =
        cuMemcpyDtoDAsync_v2(to, from, bytes, stream);

    /// Copies `bytes` bytes, at least one, to the device in `stream`.
    ///
    /// # Safety
    /// Until the copy is done, `address` must point to `bytes` bytes of the current context's memory. Until then,
    /// `source` must be valid for reads of that size and must not change.
    fn copy_to_device_in(stream: CUstream, address: u64, source: *const u8, bytes: usize) =
        cuMemcpyHtoDAsync_v2(address, source.cast(), bytes, stream);

    /// Copies `bytes` bytes, at least one, to the host in `stream`.
    ///
    /// # Safety
    /// Until the copy is done, `address` must point to `bytes` bytes of the current context's memory. Until then,
    /// `target` must be valid for writes of that size, and no other code may access it.
    fn copy_to_host_in(stream: CUstream, target: *mut u8, address: u64, bytes: usize) =
        cuMemcpyDtoHAsync_v2(target.cast(), address, bytes, stream);

    /// Copies `bytes` bytes, at least one, in `stream` from memory of one context to memory of the same or another
    /// context. The stream must belong to one of these contexts, and that context must be current.
    ///
    /// # Safety
    /// Until the copy is done, each address must point to `bytes` bytes of its context's memory, without overlap.
    fn copy_between(to: (u64, CUcontext), from: (u64, CUcontext), bytes: usize, stream: CUstream) =
        cuMemcpyPeerAsync(to.0, to.1, from.0, from.1, bytes, stream);

    /// Sets `bytes` bytes at `address` to zero in `stream`.
    ///
    /// # Safety
    /// `address` must point to `bytes` bytes of the current context's memory.
    fn zero(address: u64, bytes: usize, stream: CUstream) = cuMemsetD8Async(address, 0, bytes, stream);

    /// Gives the current context direct access to the memory of `peer`, a context of another device.
    ///
    /// # Safety
    /// The context `peer` must exist.
    fn enable_peer_access(peer: CUcontext) = cuCtxEnablePeerAccess(peer, 0);

    /// Closes memory of another process.
    ///
    /// # Safety
    /// `address` must be one that `open_memory` returned in the current context, and must not be used afterwards.
    fn close_memory(address: u64) = cuIpcCloseMemHandle(address);

    /// Unloads a module that was loaded into the same context.
    ///
    /// # Safety
    /// Neither the module nor a function of it may be used afterwards.
    fn unload_module(module: CUmodule) = cuModuleUnload(module);

    /// Returns the kernel of `module` with this name.
    ///
    /// # Safety
    /// `module` must be loaded.
    fn function(module: CUmodule, name: &CStr) -> function: CUfunction = ptr::null_mut(),
        cuModuleGetFunction(&mut function, module, name.as_ptr());

    /// Returns the address and the size in bytes of the static of `module` with this name.
    ///
    /// # Safety
    /// `module` must be loaded.
    fn global(module: CUmodule, name: &CStr) -> range: (u64, usize) = (0, 0),
        cuModuleGetGlobal_v2(&mut range.0, &mut range.1, module, name.as_ptr());

    /// Destroys the stream `stream`.
    ///
    /// # Safety
    /// `stream` must belong to the current context and must not be used afterwards.
    fn destroy_stream(stream: CUstream) = cuStreamDestroy_v2(stream);

    /// Makes the later work of `stream` wait for `event`. The stream must belong to the current context; the event may
    /// belong to any context.
    ///
    /// # Safety
    /// `stream` and `event` must exist.
    fn wait_in_stream(stream: CUstream, event: CUevent) = cuStreamWaitEvent(stream, event, 0);

    /// Destroys the event `event`. Streams that wait for it continue to wait.
    ///
    /// # Safety
    /// `event` must belong to the current context and must not be used afterwards.
    fn destroy_event(event: CUevent) = cuEventDestroy_v2(event);

    /// Records the event `event` in `stream`.
    ///
    /// # Safety
    /// `event` and `stream` must exist in the current context.
    fn record_event(event: CUevent, stream: CUstream) = cuEventRecord(event, stream);

    /// Waits until `event` has completed.
    ///
    /// # Safety
    /// `event` must exist in the current context.
    fn wait_for_event(event: CUevent) = cuEventSynchronize(event);

    /// Returns the milliseconds from the event `start` to the event `end`. Both must have completed.
    ///
    /// # Safety
    /// `start` and `end` must exist in the current context.
    fn elapsed(start: CUevent, end: CUevent) -> milliseconds: f32 = 0.0,
        cuEventElapsedTime(&mut milliseconds, start, end);

    /// Returns the address of mapped host memory for kernels of the current context's device.
    ///
    /// # Safety
    /// `page_locked` must have returned `start` with `PageLock::Mapping`.
    fn device_address(start: *mut u8) -> address: u64 = 0, cuMemHostGetDevicePointer_v2(&mut address, start.cast(), 0);

    /// Frees memory that `page_locked` returned, without waiting for any work.
    ///
    /// # Safety
    /// The memory must not be in use by the host, kernels or copies, and must not be used afterwards.
    fn free_page_locked(start: *mut u8) = cuMemFreeHost(start.cast());

    /// Makes `stream` record its work instead of executing it, until [`end_capture`]. The capture mode is the relaxed
    /// one, because the driver may load modules during the capture.
    ///
    /// # Safety
    /// `stream` must belong to the current context.
    fn begin_capture(stream: CUstream) =
        cuStreamBeginCapture_v2(stream, CAPTURE_MODE_RELAXED);

    /// Ends the capture of `stream` and returns the graph of the work since [`begin_capture`].
    ///
    /// # Safety
    /// `stream` must belong to the current context.
    fn end_capture(stream: CUstream) -> graph: CUgraph = ptr::null_mut(), cuStreamEndCapture(stream, &mut graph);

    /// Instantiates the captured graph `graph`, so that it can be launched.
    ///
    /// # Safety
    /// `graph` must exist.
    fn instantiate(graph: CUgraph) -> executable: CUgraphExec = ptr::null_mut(),
        cuGraphInstantiateWithFlags(&mut executable, graph, 0);

    /// Destroys the captured graph `graph`. Instances of it stay valid.
    ///
    /// # Safety
    /// `graph` must exist and must not be used afterwards.
    fn destroy_graph(graph: CUgraph) = cuGraphDestroy(graph);

    /// Launches the graph `executable` in `stream`.
    ///
    /// # Safety
    /// `executable` and `stream` must exist in the current context. No other thread may launch the graph at the same
    /// time. The modules of its kernels must be loaded, and the memory that it uses must live until it is done.
    fn launch_graph(executable: CUgraphExec, stream: CUstream) = cuGraphLaunch(executable, stream);

    /// Destroys the graph `executable`. A running launch of it continues.
    ///
    /// # Safety
    /// `executable` must exist and must not be used afterwards.
    fn destroy_executable(executable: CUgraphExec) = cuGraphExecDestroy(executable);
}
