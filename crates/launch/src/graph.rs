//! Graphs: work that is recorded once and launched many times.
//!
//! # Design
//!
//! `Device::record` takes the buffers, by value or by reference, and passes references to them to the closure. The
//! closure can therefore pass a buffer to one kernel for writing and to the next kernel for reading.
//!
//! The graph looks up the memory behind a call's views when the call is recorded. It does so again at each launch,
//! while the buffers are borrowed. The views therefore never dangle, although a recorded call has no lifetime. On a GPU
//! the operations are captured after all their kernels are loaded; the simulator replays them.

use std::fmt;

use cuda_std::KernelInfo;

use crate::backend::Executable;
use crate::device::Device;
use crate::error::Error;
use crate::memory::MemoryId;
use crate::operation::Operation;
use crate::queue::Queue;
use crate::recorder::Recorder;
use crate::resources::{Held, HeldMemory, Resources};

/// Work that [`Device::record`] has recorded and that can be launched many times. On a GPU it is a CUDA graph, which
/// one call of the driver launches. In the simulator it is a list of calls.
///
/// A graph owns its resources `R`, the buffers that its work uses, and returns them on request. Buffers that the graph
/// holds by reference stay borrowed as long as it lives:
///
/// ```compile_fail,E0502
/// # use cuda_std::{GlobalMut, kernel, thread};
/// # #[kernel]
/// # pub fn count(x: GlobalMut<u32>) {}
/// # fn early(device: &launch::Device, x: &mut launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let config = launch::LaunchConfig::new(1, 32);
/// let mut graph = device.record(&mut *x, |queue, x| queue.launch(config, count(x.view_mut())))?;
/// x.download()?; // does not compile: the graph has `x`
/// graph.launch()
/// # }
/// ```
///
/// ```compile_fail,E0505
/// # use cuda_std::{Global, kernel, thread};
/// # #[kernel]
/// # pub fn look(x: Global<u32>) {}
/// # fn freed(device: &launch::Device, x: launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let config = launch::LaunchConfig::new(1, 32);
/// let mut graph = device.record(&x, |queue, x| queue.launch(config, look(x.view())))?;
/// drop(x); // does not compile: the graph reads `x`
/// graph.launch()
/// # }
/// ```
///
/// The work of a graph cannot write a buffer that the graph may only read:
///
/// ```compile_fail,E0596
/// # use cuda_std::{GlobalMut, kernel, thread};
/// # #[kernel]
/// # pub fn count(x: GlobalMut<u32>) {}
/// # fn written(device: &launch::Device, x: &launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let config = launch::LaunchConfig::new(1, 32);
/// device.record(x, |queue, x| queue.launch(config, count(x.view_mut())))?; // does not compile: `x` is shared
/// # Ok(())
/// # }
/// ```
pub struct Graph<R> {
    resources: R,
    len: usize,
    needs: Vec<Need>,
    /// Reused storage for the list of the resources' memory, so that a launch allocates nothing.
    scratch: Vec<HeldMemory>,
    /// The back end's form of the work, or `None` if the graph has no work.
    executable: Option<Box<dyn Executable>>,
    /// The device. This is the last field, so that the device is dropped after the graph's memory and kernels.
    device: Device,
}

/// A piece of memory that the graph's work uses.
#[derive(Clone, Copy)]
struct Need {
    id: MemoryId,
    is_written: bool,
    /// The kernel or operation that uses the memory.
    user: &'static str,
}

impl Need {
    fn is_met_by(&self, held: &HeldMemory) -> bool {
        held.id == self.id && (held.is_exclusive || !self.is_written)
    }
}

fn not_held(user: &'static str, is_written: bool) -> Error {
    Error::NotHeld { user, how: if is_written { "writes" } else { "reads" } }
}

/// Returns the memory that the operations `work` use. Returns an error if `held` lacks some of it.
fn needs(work: &[Operation], held: &[HeldMemory]) -> Result<Vec<Need>, Error> {
    let mut needs: Vec<Need> = Vec::new();
    work.iter().try_for_each(|work| {
        work.uses(&mut |start, bytes, is_written, user| {
            let contains = |held: &HeldMemory| start >= held.start && start + bytes <= held.start + held.bytes;
            let memory = held.iter().find(|held| contains(held) && (held.is_exclusive || !is_written));
            let id = memory.ok_or_else(|| not_held(user, is_written))?.id;
            match needs.iter_mut().find(|need| need.id == id) {
                Some(need) => need.is_written |= is_written,
                None => needs.push(Need { id, is_written, user }),
            }
            Ok(())
        })
    })?;
    Ok(needs)
}

impl Device {
    /// Returns the device's queue, for functions that also work for a graph.
    pub fn queue(&self) -> Queue<'_> {
        Queue::from(self)
    }

    /// Compiles the kernels that `work` launches, without executing any of that work.
    ///
    /// A GPU's driver compiles a kernel at its first launch. This function compiles all kernels of `work` in parallel,
    /// which takes less time. Call it in programs that launch several kernels without a graph.
    ///
    /// Kernels that use a `static`, and launches with [tables](cuda_std::LaunchConfig::tables), are still compiled at
    /// their first launch. Before CUDA 12.0, drivers compile every kernel at its first launch. If a kernel cannot be
    /// compiled, its launch returns the error. The simulator compiles nothing.
    ///
    /// # Errors
    ///
    /// The error that `work` returns.
    pub fn load<E>(&self, work: impl FnOnce(Queue<'_>) -> Result<(), E>) -> Result<(), E> {
        self.backend().compile(&self.kernels_of(work)?);
        Ok(())
    }

    /// Compiles all kernels of the modules that the device was opened with, and returns when they are compiled. As many
    /// kernels are compiled at the same time as the machine has cores, those with the longest PTX first.
    ///
    /// The kernels of [`include_ptx!`](crate::include_ptx) are compiled in the background as soon as a GPU is opened.
    /// This function waits for them. For other modules, call it only if most of their kernels are launched.
    ///
    /// The exceptions of [`load`](Self::load) apply. The simulator compiles nothing.
    pub fn compile_all(&self) {
        self.backend().compile_all();
    }

    /// Returns the kernels that `work` launches, each once, without executing any of that work. Omits launches with
    /// [tables](cuda_std::LaunchConfig::tables).
    ///
    /// # Errors
    ///
    /// The error that `work` returns.
    pub fn kernels_of<E>(&self, work: impl FnOnce(Queue<'_>) -> Result<(), E>) -> Result<Vec<&'static KernelInfo>, E> {
        let recorder = Recorder::of_kernels();
        work(Queue::recording(self, &recorder))?;
        Ok(recorder.into_kernels())
    }

    /// Records the work that `work` enqueues, without executing it; [`Graph::launch`] executes it. The graph keeps
    /// `resources`, which must include all buffers that kernels, fills and copies use.
    ///
    /// ```
    /// use launch::{Device, DeviceChoice, LaunchConfig};
    /// # use cuda_std::{Global, GlobalMut, kernel, thread};
    /// # /// `y[i] = y[i] + x[i]` for every `i`; any grid.
    /// # #[kernel]
    /// # pub fn add(x: Global<u32>, y: GlobalMut<u32>) {
    /// #     for i in thread::grid_stride(y.len()) {
    /// #         y.store(i, y.load(i) + x.load(i));
    /// #     }
    /// # }
    /// # fn main() -> Result<(), launch::Error> {
    /// # const MODULES: &[launch::PtxModule] = &[];
    /// let device = Device::open(DeviceChoice::Sim, MODULES)?;
    /// let (x, y) = (device.upload(&[1, 2, 3])?, device.zeroed(3)?);
    /// let config = LaunchConfig::new(1, 32);
    /// let mut graph = device.record((x, y), |queue, (x, y)| queue.launch(config, add(x.view(), y.view_mut())))?;
    /// for _ in 0..10 {
    ///     graph.launch()?;
    /// }
    /// assert_eq!(graph.resources().1.download()?, [10, 20, 30]);
    ///
    /// graph.resources_mut().0.upload(&[100, 0, 0])?; // between launches the buffers may be used
    /// graph.launch()?;
    /// assert_eq!(graph.resources().1.download()?, [110, 20, 30]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error that `work` returns; [`Error::NotHeld`] if the work uses memory that is not in `resources`; on a GPU,
    /// any error of creating the graph.
    pub fn record<R: Resources, E: From<Error>>(
        &self,
        mut resources: R,
        work: impl FnOnce(Queue<'_>, &mut R) -> Result<(), E>,
    ) -> Result<Graph<R>, E> {
        let recorder = Recorder::default();
        work(Queue::recording(self, &recorder), &mut resources)?;
        let work = recorder.into_work();
        let mut held = Held::new(self.id(), Vec::new());
        resources.hold(&mut held);
        let needs = needs(&work, held.memory())?;
        let len = work.len();
        let executable = match work {
            work if work.is_empty() => None,
            // SAFETY: `Graph::launch` launches the work only while its memory is held, and keeps the device alive. The
            // views in the calls and the buffers of fills and copies are in this device's memory, and the two buffers
            // of a copy do not overlap.
            work => Some(unsafe { self.backend().graph(work) }?),
        };
        let scratch = held.into_memory();
        Ok(Graph { resources, len, needs, scratch, executable, device: self.clone() })
    }
}

impl<R: Resources> Graph<R> {
    /// Enqueues the recorded work, in order, after the earlier work of the device. On a GPU the call returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::NotHeld`] if a buffer of the graph was replaced by another; otherwise the same errors as
    /// [`Device::launch`].
    pub fn launch(&mut self) -> Result<(), Error> {
        let Self { resources, needs, scratch, executable, device, .. } = self;
        // The resources stay borrowed until the work is enqueued, as for a launch.
        let mut held = Held::new(device.id(), std::mem::take(scratch));
        resources.hold(&mut held);
        let missing = needs.iter().find(|need| !held.memory().iter().any(|held| need.is_met_by(held)));
        let result = match (missing, executable) {
            (Some(need), _) => Err(not_held(need.user, need.is_written)),
            // SAFETY: all memory that the work uses is held, and the device lives. Memory that is freed later waits for
            // the graph, as it does for a launch.
            (None, Some(executable)) => unsafe { executable.launch() },
            (None, None) => Ok(()),
        };
        *scratch = held.into_memory();
        result
    }
}

impl<R> Graph<R> {
    /// Returns the resources of the graph. Reads of their buffers are ordered after earlier launches.
    pub fn resources(&self) -> &R {
        &self.resources
    }

    /// Returns the resources of the graph for changes. The buffers may be written, but must not be replaced by others.
    pub fn resources_mut(&mut self) -> &mut R {
        &mut self.resources
    }

    /// Destroys the graph and returns its resources.
    pub fn into_resources(self) -> R {
        self.resources
    }

    /// Returns the number of launches, fills and copies in the graph.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the graph has no work.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device that executes the graph.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<R> fmt::Debug for Graph<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("len", &self.len()).field("device", &self.device.name()).finish_non_exhaustive()
    }
}
