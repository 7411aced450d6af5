//! Launches with clusters on a GPU.

use cuda_std::{KernelInfo, LaunchConfig};

use super::code::{FIRST_CLUSTER_ARCH, PORTABLE_CLUSTER_BLOCKS};
use super::gpu::GpuDevice;
use super::kernels::LoadedKernel;
use super::sys::{self, Code, FunctionAttribute};
use crate::error::{Error, Launched};

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
        if arch < FIRST_CLUSTER_ARCH {
            let reason = format!(
                "the launch has clusters, and the PTX of the kernel is for sm_{arch}, which has none: also build it for \
                 sm_90 (`.archs([Arch::Sm70, Arch::Sm90])` of `cuda_builder`)"
            );
            return Err(Error::InvalidLaunch { launch: Launched::new(kernel, config), reason });
        }
        if config.cluster.count() > u128::from(PORTABLE_CLUSTER_BLOCKS) {
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
