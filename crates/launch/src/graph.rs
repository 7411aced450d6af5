//! Graphs: work that is recorded once and done again and again.

use std::fmt;

use cuda_std::KernelInfo;

use crate::backend::Prepared;
use crate::device::Device;
use crate::error::Error;
use crate::memory::MemoryId;
use crate::queue::Queue;
use crate::recorder::Recorder;
use crate::resources::{Held, HeldMemory, Resources};
use crate::work::Work;

/// Work that a device does again and again, recorded by [`Device::record`]: on a GPU a CUDA graph, which one call of the
/// driver launches, however much there is in it; in the simulator a list of calls.
///
/// The graph has what its work uses, `R`, and gives it back when asked. So buffers that it was given by reference stay
/// borrowed as long as the graph lives:
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
/// and what it may only read it cannot write:
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
    /// Where the resources' memory is listed, so that a launch allocates nothing.
    scratch: Vec<HeldMemory>,
    /// The work, as the back end has it; none where there is nothing to do.
    prepared: Option<Box<dyn Prepared>>,
    /// Last, so that the device outlives the graph's memory and kernels.
    device: Device,
}

/// Memory that the work uses.
#[derive(Clone, Copy)]
struct Need {
    id: MemoryId,
    is_written: bool,
    /// What uses it.
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

/// What memory `work` uses, all of which must be `held`.
fn needs(work: &[Work], held: &[HeldMemory]) -> Result<Vec<Need>, Error> {
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
    /// What takes this device's work, for functions that also record it.
    pub fn queue(&self) -> Queue<'_> {
        Queue::from(self)
    }

    /// Compiles the kernels that `work` launches, and does none of that work.
    ///
    /// A GPU's driver compiles a kernel at its first launch. This call compiles all of them at the same time, each by
    /// itself, which takes less time than one after the other: it is for a program that launches several kernels
    /// without a graph. Kernels that use a `static`, and launches with tables, are left to their first launch, and so
    /// are all kernels with drivers before CUDA 12.0. If a kernel cannot be compiled, its launch returns the error. The
    /// simulator has nothing to compile.
    ///
    /// # Errors
    ///
    /// The error of `work`.
    pub fn load<E>(&self, work: impl FnOnce(Queue<'_>) -> Result<(), E>) -> Result<(), E> {
        self.backend().compile(&self.kernels_of(work)?);
        Ok(())
    }

    /// The kernels that `work` launches, without tables, each once; none of that work is done.
    ///
    /// # Errors
    ///
    /// The error of `work`.
    pub fn kernels_of<E>(&self, work: impl FnOnce(Queue<'_>) -> Result<(), E>) -> Result<Vec<&'static KernelInfo>, E> {
        let recorder = Recorder::of_kernels();
        work(Queue::recording(self, &recorder))?;
        Ok(recorder.into_kernels())
    }

    /// Records what `work` asks of the queue that it is given, and does none of it: [`Graph::launch`] does. All buffers that
    /// kernels, fills and copies use must be in `resources`, which the graph keeps.
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
    /// graph.resources_mut().0.upload(&[100, 0, 0])?; // between launches the buffers are there for anything
    /// graph.launch()?;
    /// assert_eq!(graph.resources().1.download()?, [110, 20, 30]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::NotHeld`] if it uses memory that is not in `resources`; on a GPU, whatever prevents the
    /// graph from being made.
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
        let prepared = match work {
            work if work.is_empty() => None,
            // SAFETY: `Graph::launch` launches it while the memory is held, and has the device. The views in the calls and the
            // buffers that are cleared and copied are of this device, and those of a copy do not overlap.
            work => Some(unsafe { self.backend().graph(work) }?),
        };
        let scratch = held.into_memory();
        Ok(Graph { resources, len, needs, scratch, prepared, device: self.clone() })
    }
}

impl<R: Resources> Graph<R> {
    /// Does all that was recorded, in that order, after what was asked of the device before. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::NotHeld`] if a buffer that it uses was exchanged for another; else as for [`Device::launch`].
    pub fn launch(&mut self) -> Result<(), Error> {
        let Self { resources, needs, scratch, prepared, device, .. } = self;
        // The resources are borrowed until the work is asked for, as they are for a launch.
        let mut held = Held::new(device.id(), std::mem::take(scratch));
        resources.hold(&mut held);
        let missing = needs.iter().find(|need| !held.memory().iter().any(|held| need.is_met_by(held)));
        let result = match (missing, prepared) {
            (Some(need), _) => Err(not_held(need.user, need.is_written)),
            // SAFETY: all memory that the work uses is held, and the device lives. What holds of a launch holds of a graph:
            // memory that is freed later waits for it.
            (None, Some(prepared)) => unsafe { prepared.launch() },
            (None, None) => Ok(()),
        };
        *scratch = held.into_memory();
        result
    }
}

impl<R> Graph<R> {
    /// What it uses. What is read there comes after the launches made before.
    pub fn resources(&self) -> &R {
        &self.resources
    }

    /// The same, to be changed: buffers may be filled anew, but not exchanged for others.
    pub fn resources_mut(&mut self) -> &mut R {
        &mut self.resources
    }

    /// Ends the graph, and gives back what it used.
    pub fn into_resources(self) -> R {
        self.resources
    }

    /// How many launches, fills and copies it does.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that does it.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<R> fmt::Debug for Graph<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("len", &self.len()).field("device", &self.device.name()).finish_non_exhaustive()
    }
}
