//! Launches with clusters on a GPU.

use cuda_std::{KernelInfo, LaunchConfig};

use super::gpu::GpuDevice;
use super::kernels::LoadedKernel;
use super::sys::{self, Code, FunctionAttribute};
use crate::error::{Error, Launched};

/// The compute capability from which on GPUs have clusters, and the architecture whose PTX has their instructions.
const FIRST_ARCH: u32 = 90;

/// The maximum number of blocks per cluster for which a kernel needs no permission of its own.
const PORTABLE_BLOCKS: u32 = 8;

/// The maximum number of blocks per cluster on a GPU of this compute capability, or 1 if it has no clusters. The driver
/// refuses a cluster that is too large for the GPU.
pub(super) fn max_blocks((major, minor): (u32, u32)) -> u32 {
    if 10 * major + minor >= FIRST_ARCH { 2 * PORTABLE_BLOCKS } else { 1 }
}

impl GpuDevice {
    /// Checks that `kernel` can run in clusters, and allows it the large ones. The context must be current.
    #[cold]
    pub(super) fn prepare_clusters(
        &self,
        kernel: &'static KernelInfo,
        loaded: &LoadedKernel,
        config: LaunchConfig,
    ) -> Result<(), Error> {
        let fails = |code| self.context.error(code, || format!("prepare clusters of `{}`", kernel.name), "");
        // SAFETY: the kernel's module is loaded as long as `self`.
        let arch =
            unsafe { sys::function_attribute(loaded.function, FunctionAttribute::PTX_VERSION) }.map_err(fails)?;
        if arch < FIRST_ARCH {
            let reason = format!(
                "the launch has clusters, and the PTX of the kernel is for sm_{arch}, which has none: also build it for \
                 sm_90 (`.archs([Arch::Sm70, Arch::Sm90])` of `cuda_builder`)"
            );
            return Err(Error::InvalidLaunch { launch: Launched::new(kernel, config), reason });
        }
        if config.cluster.count() > u128::from(PORTABLE_BLOCKS) {
            // SAFETY: the kernel's module is loaded as long as `self`.
            unsafe { sys::allow_large_clusters(loaded.function) }.map_err(fails)?;
        }
        Ok(())
    }

    /// Returns the number of clusters of `config` that the GPU runs at the same time. The context must be current.
    pub(super) fn max_clusters_of(&self, kernel: &'static KernelInfo, config: LaunchConfig) -> Result<u32, Error> {
        let loaded = self.prepare(kernel, config)?;
        // SAFETY: the kernel's module is loaded as long as `self`.
        match unsafe { sys::max_active_clusters(loaded.function, config) } {
            Err(Code::INVALID_CLUSTER_SIZE) => Ok(0),
            answer => answer.map_err(|code| {
                self.context.error(code, || format!("find the number of clusters of `{}`", kernel.name), "")
            }),
        }
    }
}
