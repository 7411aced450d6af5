//! Graphs: work that a GPU is given as a whole.

use std::sync::Arc;

use cust::sys::{CUgraph, CUgraphExec, CUstream};

use super::context::Context;
use super::gpu::GpuDevice;
use super::streams::GpuStream;
use super::sys;
use crate::backend::Prepared;
use crate::error::{Error, Launched};
use crate::work::Work;

/// A graph of a GPU, destroyed when dropped. It needs the device whose kernels it launches.
pub(super) struct GpuGraph {
    executable: CUgraphExec,
    /// The last kernel in it.
    last: Option<Launched>,
    context: Arc<Context>,
}

// SAFETY: a graph is a handle that any thread may use in which its context is current, one at a time.
unsafe impl Send for GpuGraph {}
// SAFETY: only `launch` uses it, which takes it mutably.
unsafe impl Sync for GpuGraph {}

/// What was captured, until something to launch is made of it.
struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more, and the context is current. What is left of it after a failure does no harm.
        let _ = unsafe { sys::destroy_graph(self.0) };
    }
}

impl GpuGraph {
    /// The graph that does `work`, one piece after the other.
    ///
    /// # Safety
    /// As for [`Backend::graph`](crate::backend::Backend::graph).
    pub(super) unsafe fn new(gpu: &GpuDevice, work: &[Work]) -> Result<Self, Error> {
        let context = &gpu.context;
        context.enter()?;
        let cannot = |code| context.error(code, || "record a graph".to_owned(), "");
        let stream = GpuStream::new(gpu)?;
        // SAFETY: the stream is this function's own.
        unsafe { sys::begin_capture(stream.raw()) }.map_err(cannot)?;
        // SAFETY: the stream notes the work and does not do it; what holds when it is done is the caller's word.
        let captured = work.iter().try_for_each(|work| unsafe { capture(gpu, stream.raw(), work) });
        // Also after a failure: a stream is not destroyed in the middle of it.
        // SAFETY: as above.
        let graph = unsafe { sys::end_capture(stream.raw()) }.map(Captured);
        captured?;
        let graph = graph.map_err(cannot)?;
        // SAFETY: the graph was just made.
        let executable = unsafe { sys::instantiate(graph.0) }.map_err(cannot)?;
        let last = work.iter().rev().find_map(|work| match work {
            Work::Launch(launch) => Some(Launched::new(launch.call.info(), launch.config)),
            _ => None,
        });
        Ok(Self { executable, last, context: context.clone() })
    }
}

/// # Safety
/// As for [`GpuGraph::new`]; `stream` must be capturing, and the context current.
unsafe fn capture(gpu: &GpuDevice, stream: CUstream, work: &Work) -> Result<(), Error> {
    let (answer, bytes, what) = match work {
        Work::Launch(launch) => {
            // SAFETY: the caller's word.
            return unsafe { gpu.enqueue(stream, launch.call.info(), launch.config, &launch.params, false) };
        }
        // SAFETY: the caller's word.
        &Work::Zero { start, bytes } => (unsafe { sys::zero(start.addr() as u64, bytes, stream) }, bytes, "cleared"),
        &Work::Copy { to, from, bytes } => {
            // SAFETY: the caller's word.
            let answer = unsafe { sys::copy_on_device(to.addr() as u64, from.addr() as u64, bytes, stream) };
            (answer, bytes, "copied")
        }
    };
    answer.map_err(|code| gpu.context.error(code, || format!("record that {bytes} bytes are {what}"), ""))
}

impl Prepared for GpuGraph {
    unsafe fn launch(&mut self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the graph and the device's own stream exist; it is borrowed mutably; the rest is the caller's word.
        unsafe { sys::launch_graph(self.executable, self.context.stream()) }
            .map_err(|code| self.context.error(code, || "launch a graph".to_owned(), ""))?;
        if let Some(last) = self.last {
            self.context.note(last);
        }
        Ok(())
    }
}

impl Drop for GpuGraph {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: nobody has it any more; a launch that is under way goes on.
            let _ = unsafe { sys::destroy_executable(self.executable) };
        }
    }
}
