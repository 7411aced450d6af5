//! Graphs: work that is recorded once and done again and again.

use std::cell::RefCell;
use std::fmt;

use cuda_std::{Call, Element, KernelInfo, LaunchConfig};
use simt::Region;

use crate::cuda::{GpuGraph, GpuWork};
use crate::device::Backend;
use crate::error::Error;
use crate::limits::Limits;
use crate::resources::{Held, HeldMemory, MemoryId, Resources};
use crate::simulated::SimulatedDevice;
use crate::{Buffer, Device, Queue};

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
    work: Vec<Work>,
    needs: Vec<Need>,
    /// Where the resources' memory is listed, so that a launch allocates nothing.
    scratch: Vec<HeldMemory>,
    /// On a GPU, the work as the driver has it; none where there is nothing to do.
    executable: Option<GpuGraph>,
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

/// A piece of work.
enum Work {
    Launch { config: LaunchConfig, call: Box<dyn AnyCall> },
    Zero { start: *mut u8, bytes: usize },
    Copy { to: *mut u8, from: *const u8, bytes: usize },
}

// SAFETY: the pointers are used only while the memory behind them is held.
unsafe impl Send for Work {}
// SAFETY: as above; and only `Graph::launch` uses them, which borrows the graph mutably.
unsafe impl Sync for Work {}

/// A call of any kernel.
trait AnyCall: Send + Sync {
    fn info(&self) -> &'static KernelInfo;
    fn params(&self) -> &[u64];
    fn regions(&self) -> &[Region];
    fn run(&self, simulated: &SimulatedDevice, config: LaunchConfig) -> Result<(), Error>;
}

impl<F: Fn() + Send + Sync> AnyCall for Call<F> {
    fn info(&self) -> &'static KernelInfo {
        self.info()
    }

    fn params(&self) -> &[u64] {
        self.params()
    }

    fn regions(&self) -> &[Region] {
        self.regions()
    }

    fn run(&self, simulated: &SimulatedDevice, config: LaunchConfig) -> Result<(), Error> {
        simulated.launch(config, self)
    }
}

/// The work recorded so far.
#[derive(Default)]
pub(crate) struct Recorder {
    work: RefCell<Vec<Work>>,
}

impl Recorder {
    pub(crate) fn launch<'c, F: Fn() + Send + Sync + 'c>(
        &self,
        device: &Device,
        config: LaunchConfig,
        call: Call<F>,
    ) -> Result<(), Error> {
        device.check_views(&call)?;
        match device.backend() {
            Backend::Simulated(_) => Limits::SIMULATOR.check(call.info(), config, None, 0)?,
            Backend::Gpu(gpu) => gpu.prepare(call.info(), config)?,
        }
        let call: Box<dyn AnyCall + 'c> = Box::new(call);
        // SAFETY: the box and what is in it outlive `'c` only as a value: `Graph::launch` alone runs the call, and only
        // while all memory that its views show is held, beside which it accesses none (`Call::from_parts`).
        let call = unsafe { std::mem::transmute::<Box<dyn AnyCall + 'c>, Box<dyn AnyCall>>(call) };
        self.work.borrow_mut().push(Work::Launch { config, call });
        Ok(())
    }

    pub(crate) fn zero<T: Element>(&self, buffer: &mut Buffer<T>) {
        let (start, bytes) = (buffer.view_mut().as_ptr().cast(), buffer.len() * size_of::<T>());
        if bytes > 0 {
            self.work.borrow_mut().push(Work::Zero { start, bytes });
        }
    }

    /// Both have as many elements, and are of one device.
    pub(crate) fn copy<T: Element>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        let (from, bytes) = (from.view().as_ptr().cast(), from.len() * size_of::<T>());
        if bytes > 0 {
            self.work.borrow_mut().push(Work::Copy { to: to.view_mut().as_ptr().cast(), from, bytes });
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Work {
    /// Gives `see` the memory that it uses, each as its start, its bytes and whether it is written, with the user's name.
    fn uses(&self, see: &mut dyn FnMut(usize, usize, bool, &'static str) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Launch { call, .. } => call
                .regions()
                .iter()
                .filter(|region| region.bytes > 0)
                .try_for_each(|region| see(region.start, region.bytes, region.is_writable, call.info().name)),
            Self::Zero { start, bytes } => see(start.addr(), *bytes, true, "fill_zero"),
            Self::Copy { to, from, bytes } => {
                see(from.addr(), *bytes, false, "copy")?;
                see(to.addr(), *bytes, true, "copy")
            }
        }
    }

    fn for_gpu(&self) -> GpuWork<'_> {
        match self {
            Self::Launch { config, call } => {
                GpuWork::Launch { kernel: call.info(), config: *config, slots: call.params() }
            }
            Self::Zero { start, bytes } => GpuWork::Zero { address: start.addr(), bytes: *bytes },
            Self::Copy { to, from, bytes } => GpuWork::Copy { to: to.addr(), from: from.addr(), bytes: *bytes },
        }
    }

    /// Does it.
    ///
    /// # Safety
    /// The memory that it uses must be held: exclusively, where it is written.
    unsafe fn run(&self, simulated: &SimulatedDevice) -> Result<(), Error> {
        match self {
            Self::Launch { config, call } => call.run(simulated, *config)?,
            // SAFETY: the caller's word.
            Self::Zero { start, bytes } => unsafe { simulated.zero(*start, *bytes) },
            // SAFETY: the caller's word; of two buffers, one of which was borrowed mutably, none overlaps the other.
            Self::Copy { to, from, bytes } => unsafe { simulated.copy(*to, *from, *bytes) },
        }
        Ok(())
    }
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
        let work = recorder.work.into_inner();
        let mut held = Held::new(self.id(), Vec::new());
        resources.hold(&mut held);
        let needs = needs(&work, held.memory())?;
        let executable = match self.backend() {
            // SAFETY: `Graph::launch` launches it while the memory is held. The calls hold what their kernels take; the
            // buffers that are cleared and copied are of this device, and those of a copy do not overlap.
            Backend::Gpu(gpu) if !work.is_empty() => Some(unsafe { gpu.graph(work.iter().map(Work::for_gpu)) }?),
            _ => None,
        };
        let scratch = held.into_memory();
        Ok(Graph { resources, work, needs, scratch, executable, device: self.clone() })
    }
}

impl<R: Resources> Graph<R> {
    /// Does all that was recorded, in that order, after what was asked of the device before. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::NotHeld`] if a buffer that it uses was exchanged for another; else as for [`Device::launch`].
    pub fn launch(&mut self) -> Result<(), Error> {
        let Self { resources, work, needs, scratch, executable, device } = self;
        // The resources are borrowed until the work is asked for, as they are for a launch.
        let mut held = Held::new(device.id(), std::mem::take(scratch));
        resources.hold(&mut held);
        let missing = needs.iter().find(|need| !held.memory().iter().any(|held| need.is_met_by(held)));
        let result = match (missing, device.backend()) {
            (Some(need), _) => Err(not_held(need.user, need.is_written)),
            // SAFETY: all memory that the work uses is held.
            (None, Backend::Simulated(simulated)) => work.iter().try_for_each(|work| unsafe { work.run(simulated) }),
            (None, Backend::Gpu(_)) => match executable {
                // SAFETY: as above; the device lives. What holds of a launch holds of a graph: memory that is freed later
                // waits for it.
                Some(executable) => unsafe { executable.launch() },
                None => Ok(()),
            },
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
        self.work.len()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.work.is_empty()
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
