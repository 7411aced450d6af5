//! A GPU: its properties, its limits and its kernels.

use std::any::Any;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cuda_std::{Dim3, KernelInfo, LaunchConfig, Params};

use super::background;
use super::code::Target;
use super::context::{Base, Context};
use super::discovery::{fails, find_usable};
use super::kernels::LoadedKernel;
use super::modules::Modules;
use super::primary::Primary;
use super::staging::Staging;
use super::sys::{self, CUdevice, CUstream, Code, DeviceAttribute};
use super::tensor_maps::KeptMaps;
use crate::backend::Backend;
use crate::compiling::Background;
use crate::error::{Error, Launched};
use crate::limits::Limits;
use crate::module::PtxModule;
use crate::unavailable::Unavailable;

/// The maximum number of PTX parameters of a launch. A view has two PTX parameters.
const MAX_PTX_PARAMS: usize = 2 * cuda_std::MAX_PARAMS;

/// An open GPU.
pub(crate) struct GpuDevice {
    /// The compilation of the program's own kernels. The first field, so that it ends before the context does.
    background: Option<Arc<Background>>,
    pub(super) context: Arc<Context>,
    pub(super) limits: Limits,
    pub(super) multiprocessors: u32,
    has_cooperative_launches: bool,
    /// The number of threads in a warp.
    pub(super) warp_size: u32,
    pub(super) max_threads_per_multiprocessor: u32,
    pub(super) modules: Modules,
    pub(super) staging: Staging,
    pub(super) maps: KeptMaps,
}

/// Opens the GPU with this ordinal for the kernels of `modules`, in its primary context.
pub(crate) fn open(ordinal: u32, modules: &'static [PtxModule]) -> Result<GpuDevice, Unavailable> {
    open_on(ordinal, modules, |device| Primary::retain(device).map(Base::Primary))
}

/// Opens the GPU with this ordinal for the kernels of `modules`, in the context that `base` returns for the device and
/// makes current.
pub(super) fn open_on(
    ordinal: u32,
    modules: &'static [PtxModule],
    base: impl FnOnce(CUdevice) -> Result<Base, Code>,
) -> Result<GpuDevice, Unavailable> {
    use DeviceAttribute as A;
    let (device, gpu, driver) = find_usable(ordinal, modules)?;
    let target = Target { known: modules, capability: gpu.compute_capability, driver };
    // Making a context takes as long as compiling some kernels.
    let background = background::start(target);
    let open = || {
        let read = |attribute| sys::device_attribute(device, attribute);
        let limits = Limits {
            grid: Dim3::new(read(A::MAX_GRID_DIM_X)?, read(A::MAX_GRID_DIM_Y)?, read(A::MAX_GRID_DIM_Z)?),
            block: Dim3::new(read(A::MAX_BLOCK_DIM_X)?, read(A::MAX_BLOCK_DIM_Y)?, read(A::MAX_BLOCK_DIM_Z)?),
            block_threads: read(A::MAX_THREADS_PER_BLOCK)?,
            shared_bytes: read(A::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            cluster_blocks: target.max_cluster_blocks(),
        };
        let context = Context::new(gpu, driver, device, base(device)?);
        Ok(GpuDevice {
            background,
            context: Arc::new(context),
            limits,
            multiprocessors: read(A::MULTIPROCESSOR_COUNT)?,
            has_cooperative_launches: read(A::COOPERATIVE_LAUNCH)? != 0,
            warp_size: read(A::WARP_SIZE)?,
            max_threads_per_multiprocessor: read(A::MAX_THREADS_PER_MULTIPROCESSOR)?,
            modules: Modules::new(target),
            staging: Staging::default(),
            maps: KeptMaps::default(),
        })
    };
    open().map_err(|code: Code| fails(format!("open GPU {ordinal}"), code))
}

impl GpuDevice {
    /// Returns `other` as a GPU, or an error of the GPU of `context` if `other` is a simulated device.
    pub(super) fn of_backend<'b>(other: &'b dyn Backend, context: &Context) -> Result<&'b Self, Error> {
        let wrong = || Error::WrongDevice { what: "a copy".to_owned(), device: context.gpu.name.clone() };
        (other as &dyn Any).downcast_ref().ok_or_else(wrong)
    }

    /// Compiles all kernels of the device's modules.
    pub(super) fn compile_all(&self) {
        // From here on, this thread and its helpers take over.
        self.background.iter().for_each(|background| background.stop());
        self.modules.compile_all();
    }

    /// Loads `kernel` and checks `config` against the GPU's limits. The context must be current.
    #[inline]
    pub(super) fn prepare(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<&LoadedKernel, Error> {
        let loaded = self.modules.prepare(&self.context, kernel, config, &self.limits)?;
        if config.is_cooperative {
            self.check_cooperative(kernel, config)?;
        }
        if config.has_clusters() {
            self.prepare_clusters(kernel, loaded, config)?;
        }
        Ok(loaded)
    }

    /// Checks that all blocks of the launch can run at the same time. The context must be current.
    #[cold]
    fn check_cooperative(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<(), Error> {
        let invalid = |reason| Err(Error::InvalidLaunch { launch: Launched::new(kernel, config), reason });
        if !self.has_cooperative_launches {
            return invalid("this GPU has no cooperative launches".to_owned());
        }
        let threads = config.block.count() as u32;
        let per_sm = self.modules.blocks_per_sm(&self.context, kernel, threads, config.shared_bytes)?;
        let max = per_sm * self.multiprocessors;
        if config.grid.count() > u128::from(max) {
            return invalid(format!(
                "a cooperative launch runs all its blocks at the same time, and this GPU holds at most {max} blocks \
                of this size: launch fewer blocks (see `Device::max_cooperative_blocks`)"
            ));
        }
        Ok(())
    }

    /// Launches `kernel` with `params` in `stream`.
    ///
    /// `params` must be the kernel's parameters. The memory of their views must belong to this device and must live
    /// until the kernel has ended. Freeing such memory waits for kernels in the device's own stream. `stream` must
    /// belong to this device.
    #[inline]
    pub(super) unsafe fn launch_in(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        params: &Params,
    ) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the caller guarantees the parameters and the stream. The context is current.
        unsafe { self.enqueue(stream, kernel, config, params, true) }?;
        self.context.note(Launched::new(kernel, config));
        Ok(())
    }

    /// Enqueues the launch in `stream`, or adds it to the graph that `stream` is capturing. With `may_overlap`, a
    /// kernel that calls `griddepcontrol.wait` may start before the previous kernel has ended.
    ///
    /// # Safety
    /// The same conditions as for [`launch_in`](Self::launch_in). For a captured launch, these conditions must hold at
    /// each launch of the graph. The context must be current.
    #[inline]
    pub(super) unsafe fn enqueue(
        &self,
        stream: CUstream,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        params: &Params,
        may_overlap: bool,
    ) -> Result<(), Error> {
        let config = config.for_kernel(kernel);
        let invalid = |reason| Error::InvalidLaunch { launch: Launched::new(kernel, config), reason };
        let starts = params.starts();
        let mut addresses = [const { MaybeUninit::<*mut c_void>::uninit() }; MAX_PTX_PARAMS];
        let Some(addresses) = addresses.get_mut(..starts.len()) else {
            return Err(invalid(format!("it has {} parameters; at most {MAX_PTX_PARAMS} can be passed", starts.len())));
        };
        for (address, start) in addresses.iter_mut().zip(starts) {
            // The driver only reads a parameter.
            address.write(std::ptr::from_ref(start).cast_mut().cast());
        }
        // SAFETY: the slice has one element per parameter, and the loop has written each.
        let addresses = unsafe { addresses.assume_init_mut() };
        let loaded = self.prepare(kernel, config)?;
        // SAFETY: the module stays loaded as long as `self`. There is one address per parameter, and the caller
        // guarantees the values. A kernel that starts early waits before it accesses memory.
        let result = unsafe {
            let may_overlap = loaded.waits && may_overlap && !config.is_cooperative;
            if may_overlap || config.has_clusters() {
                sys::launch_extended(loaded.function, config, stream, addresses, may_overlap)
            } else {
                sys::launch(loaded.function, config, stream, addresses)
            }
        };
        result.map_err(|code| match code {
            Code::LAUNCH_OUT_OF_RESOURCES => {
                invalid("a block needs more registers than an SM has; use fewer threads per block".to_owned())
            }
            Code::INVALID_CLUSTER_SIZE => invalid(format!(
                "this GPU cannot run a cluster of {} such blocks at the same time: use a smaller cluster, smaller \
                 blocks, or less shared memory",
                config.cluster.count()
            )),
            code => self.context.error(code, || format!("launch {}", Launched::new(kernel, config)), ""),
        })
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        if self.context.set_current().is_ok() {
            self.modules.clear();
        }
    }
}
