//! CUDA graphs: work that is recorded once and launched many times.

use std::sync::Arc;

use super::context::Context;
use super::gpu::GpuDevice;
use super::streams::GpuStream;
use super::sys::{self, CUgraph, CUgraphExec, CUstream};
use crate::backend::Executable;
use crate::error::{Error, Launched};
use crate::operation::Operation;

/// A CUDA graph. Dropping the value destroys the graph. A graph must not outlive the device whose kernels it launches.
pub(super) struct GpuGraph {
    executable: CUgraphExec,
    /// The last kernel of the graph, for errors.
    last: Option<Launched>,
    context: Arc<Context>,
}

// SAFETY: any thread in which the context is current may use the handle, one thread at a time.
unsafe impl Send for GpuGraph {}
// SAFETY: only `launch` uses the handle, and it takes `&mut self`.
unsafe impl Sync for GpuGraph {}

/// A captured graph that is not instantiated yet.
struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: `self` was the only owner, and the context is current. A failure to destroy it is harmless.
        let _ = unsafe { sys::destroy_graph(self.0) };
    }
}

impl GpuGraph {
    /// Creates a graph that executes the operations `work` in order.
    ///
    /// # Safety
    /// The same conditions as for [`Backend::graph`](crate::backend::Backend::graph).
    pub(super) unsafe fn new(gpu: &GpuDevice, work: &[Operation]) -> Result<Self, Error> {
        let context = &gpu.context;
        context.enter()?;
        let cannot = |code| context.error(code, || "record a graph".to_owned(), "");
        let stream = GpuStream::new(context)?;
        // SAFETY: only this function uses the stream.
        unsafe { sys::begin_capture(stream.raw()) }.map_err(cannot)?;
        // SAFETY: capturing does not execute the work. The caller guarantees the conditions at each launch of the
        // graph.
        let captured = work.iter().try_for_each(|work| unsafe { capture(gpu, stream.raw(), work) });
        // The capture ends also after a failure, because a capturing stream must not be destroyed.
        // SAFETY: only this function uses the stream, and its capture began above.
        let graph = unsafe { sys::end_capture(stream.raw()) }.map(Captured);
        captured?;
        let graph = graph.map_err(cannot)?;
        // SAFETY: the graph was captured above and not destroyed.
        let executable = unsafe { sys::instantiate(graph.0) }.map_err(cannot)?;
        let last = work.iter().rev().find_map(|work| match work {
            Operation::Launch(launch) => Some(Launched::new(launch.call.info(), launch.config)),
            _ => None,
        });
        Ok(Self { executable, last, context: context.clone() })
    }
}

/// Adds one operation to the graph that `stream` captures.
///
/// # Safety
/// The same conditions as for [`GpuGraph::new`]; `stream` must be capturing, and the context must be current.
unsafe fn capture(gpu: &GpuDevice, stream: CUstream, work: &Operation) -> Result<(), Error> {
    let (answer, bytes, what) = match work {
        Operation::Launch(launch) => {
            // SAFETY: the caller guarantees the conditions of a captured launch.
            return unsafe { gpu.enqueue(stream, launch.call.info(), launch.config, &launch.params, false) };
        }
        &Operation::Zero { start, bytes } => {
            // SAFETY: the caller guarantees that the bytes exist at each launch of the graph.
            (unsafe { sys::zero(start.addr() as u64, bytes, stream) }, bytes, "a fill")
        }
        &Operation::Copy { to, from, bytes } => {
            // SAFETY: the caller guarantees that the bytes exist, without overlap, at each launch of the graph.
            let answer = unsafe { sys::copy_on_device(to.addr() as u64, from.addr() as u64, bytes, stream) };
            (answer, bytes, "a copy")
        }
    };
    answer.map_err(|code| gpu.context.error(code, || format!("record {what} of {bytes} bytes"), ""))
}

impl Executable for GpuGraph {
    unsafe fn launch(&mut self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the graph and the device's own stream exist, and `self` is borrowed mutably. `Executable::launch`
        // requires the conditions of the captured work.
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
            // SAFETY: `self` was the only owner. A launch that is running continues.
            let _ = unsafe { sys::destroy_executable(self.executable) };
        }
    }
}
