//! The driver's functions for graphs.

use std::ptr;

use cust::sys;
use cust::sys::{CUgraph, CUgraphExec, CUresult, CUstream};

use super::{Code, Numbered};

/// Makes `stream` record its work instead of executing it, until [`end_capture`]. The mode is the relaxed one, because
/// the driver may load modules during the capture.
///
/// # Safety
/// `stream` must be of the current context.
pub(in crate::cuda) unsafe fn begin_capture(stream: CUstream) -> Result<(), Code> {
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the caller guarantees that the stream is of the current context.
    unsafe { call!(cuStreamBeginCapture_v2(stream, mode)) }
}

/// Ends the capture of `stream` and returns the graph of the work since [`begin_capture`].
///
/// # Safety
/// `stream` must be of the current context.
pub(in crate::cuda) unsafe fn end_capture(stream: CUstream) -> Result<CUgraph, Code> {
    let mut graph = ptr::null_mut();
    // SAFETY: the function writes one pointer. The caller guarantees that the stream is of the current context.
    unsafe { call!(cuStreamEndCapture(stream, &mut graph)) }?;
    Ok(graph)
}

/// Instantiates `graph`, so that it can be launched.
///
/// # Safety
/// `graph` must exist.
pub(in crate::cuda) unsafe fn instantiate(graph: CUgraph) -> Result<CUgraphExec, Code> {
    let mut executable = ptr::null_mut();
    // SAFETY: the function writes one pointer. The caller guarantees that the graph exists.
    unsafe { call!(cuGraphInstantiateWithFlags(&mut executable, graph, 0)) }?;
    Ok(executable)
}

/// Destroys `graph`. Its instances stay valid.
///
/// # Safety
/// `graph` must exist and must not be used afterwards.
pub(in crate::cuda) unsafe fn destroy_graph(graph: CUgraph) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the graph exists and is not used afterwards.
    unsafe { call!(cuGraphDestroy(graph)) }
}

/// Launches the graph in the order of `stream`.
///
/// # Safety
/// Both must exist in the current context. No other thread may launch the graph at the same time. The modules of its
/// kernels must be loaded, and the memory that it uses must live until it is done.
pub(in crate::cuda) unsafe fn launch_graph(executable: CUgraphExec, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller guarantees the conditions of the graph's work.
    unsafe { call!(cuGraphLaunch(executable, stream)) }
}

/// Destroys `executable`. A running launch of it continues.
///
/// # Safety
/// `executable` must exist and must not be used afterwards.
pub(in crate::cuda) unsafe fn destroy_executable(executable: CUgraphExec) -> Result<(), Code> {
    // SAFETY: the caller guarantees that the graph exists and is not used afterwards.
    unsafe { call!(cuGraphExecDestroy(executable)) }
}
