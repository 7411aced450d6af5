//! Graphs: work that a GPU is given as a whole.

use std::sync::Arc;

use cuda_std::{KernelInfo, LaunchConfig};
use cust::sys::{CUgraph, CUgraphExec, CUstream};

use super::gpu::{Context, GpuDevice};
use super::streams::GpuStream;
use super::sys::{self, Code};
use crate::error::{Error, Launched};

/// A piece of a graph's work.
pub(crate) enum GpuWork<'a> {
    Launch {
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        slots: &'a [u64],
    },
    /// Sets `bytes` bytes, not 0, to zero.
    Zero {
        address: usize,
        bytes: usize,
    },
    /// Copies `bytes` bytes, not 0, within the device.
    Copy {
        to: usize,
        from: usize,
        bytes: usize,
    },
}

/// A graph of a GPU, destroyed when dropped. It needs the device whose kernels it launches.
pub(crate) struct GpuGraph {
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

impl GpuDevice {
    /// The graph that does `work`, one piece after the other.
    ///
    /// # Safety
    /// Whenever the graph is launched, what [`launch`](Self::launch) requires must hold for each launch, and the addresses
    /// must be those of as many bytes of this device's memory; a copy's may not overlap.
    pub(crate) unsafe fn graph<'a>(&self, work: impl Iterator<Item = GpuWork<'a>>) -> Result<GpuGraph, Error> {
        let context = self.context();
        context.enter()?;
        let cannot = |code| context.error(code, || "record a graph".to_owned(), "");
        let stream = GpuStream::new(context)?;
        // SAFETY: the stream is this function's own.
        unsafe { sys::begin_capture(stream.raw()) }.map_err(cannot)?;
        let mut last = None;
        let captured = work.into_iter().try_for_each(|work| {
            if let GpuWork::Launch { kernel, config, .. } = work {
                last = Some(Launched::new(kernel, config));
            }
            // SAFETY: the stream notes the work and does not do it; what holds when it is done is the caller's word.
            unsafe { self.capture(stream.raw(), work) }
        });
        // Also after a failure: a stream is not destroyed in the middle of it.
        // SAFETY: as above.
        let graph = unsafe { sys::end_capture(stream.raw()) }.map(Captured);
        captured?;
        let graph = graph.map_err(cannot)?;
        // SAFETY: the graph was just made.
        let executable = unsafe { sys::instantiate(graph.0) }.map_err(cannot)?;
        Ok(GpuGraph { executable, last, context: context.clone() })
    }

    /// # Safety
    /// As for [`graph`](Self::graph); `stream` must be capturing, and the context current.
    unsafe fn capture(&self, stream: CUstream, work: GpuWork<'_>) -> Result<(), Error> {
        let cannot = |what: &str, bytes: usize, code: Code| {
            self.context().error(code, || format!("record that {bytes} bytes are {what}"), "")
        };
        match work {
            // SAFETY: the caller's word.
            GpuWork::Launch { kernel, config, slots } => unsafe { self.enqueue(stream, kernel, config, slots) },
            GpuWork::Zero { address, bytes } => {
                // SAFETY: the caller's word.
                let answer = unsafe { sys::zero(address as u64, bytes, stream) };
                answer.map_err(|code| cannot("cleared", bytes, code))
            }
            GpuWork::Copy { to, from, bytes } => {
                // SAFETY: the caller's word.
                let answer = unsafe { sys::copy_on_device(to as u64, from as u64, bytes, stream) };
                answer.map_err(|code| cannot("copied", bytes, code))
            }
        }
    }
}

impl GpuGraph {
    /// Does its work, after what was asked of the device before.
    ///
    /// # Safety
    /// What [`GpuDevice::graph`] says must hold, and the device must live.
    pub(crate) unsafe fn launch(&mut self) -> Result<(), Error> {
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
