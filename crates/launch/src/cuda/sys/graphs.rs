//! The driver's functions for graphs.

use std::ptr;

use cust::sys;
use cust::sys::{CUgraph, CUgraphExec, CUresult, CUstream};

use super::{Code, Numbered};

/// Lets `stream` note what it is asked, instead of doing it, until [`end_capture`]. The driver may load what it needs
/// meanwhile, which another mode would forbid.
///
/// # Safety
/// `stream` must be of the current context.
pub(in crate::cuda) unsafe fn begin_capture(stream: CUstream) -> Result<(), Code> {
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the caller's word.
    unsafe { call!(cuStreamBeginCapture_v2(stream, mode)) }
}

/// What `stream` was asked since [`begin_capture`].
///
/// # Safety
/// `stream` must be of the current context.
pub(in crate::cuda) unsafe fn end_capture(stream: CUstream) -> Result<CUgraph, Code> {
    let mut graph = ptr::null_mut();
    // SAFETY: writes one pointer; the rest is the caller's word.
    unsafe { call!(cuStreamEndCapture(stream, &mut graph)) }?;
    Ok(graph)
}

/// Makes `graph` ready to be launched.
///
/// # Safety
/// `graph` must exist.
pub(in crate::cuda) unsafe fn instantiate(graph: CUgraph) -> Result<CUgraphExec, Code> {
    let mut executable = ptr::null_mut();
    // SAFETY: writes one pointer; the rest is the caller's word.
    unsafe { call!(cuGraphInstantiateWithFlags(&mut executable, graph, 0)) }?;
    Ok(executable)
}

/// # Safety
/// `graph` must exist and not be used afterwards. What was made of it stays.
pub(in crate::cuda) unsafe fn destroy_graph(graph: CUgraph) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuGraphDestroy(graph)) }
}

/// Does all that is in the graph, in the order of `stream`.
///
/// # Safety
/// Both must exist in the current context, nobody else may launch the graph at the same time, the modules of its
/// kernels must be loaded, and what memory it uses must live until it is done.
pub(in crate::cuda) unsafe fn launch_graph(executable: CUgraphExec, stream: CUstream) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuGraphLaunch(executable, stream)) }
}

/// # Safety
/// `executable` must exist and not be used afterwards. A launch of it that is under way goes on.
pub(in crate::cuda) unsafe fn destroy_executable(executable: CUgraphExec) -> Result<(), Code> {
    // SAFETY: the caller's word.
    unsafe { call!(cuGraphExecDestroy(executable)) }
}
