//! The limits of launches, on the simulator and on the GPUs that the crate `launch` uses.

use crate::block::arena::LIMIT;
use crate::block::cluster::MAX_CLUSTER;
use crate::faults::FaultKind;
use crate::geometry::{Dim3, KernelInfo, LaunchConfig};
use crate::lanes::MAX_THREADS;
use crate::worker::stacks::STACKS;

/// The maximum sizes of a launch on a device.
#[derive(Clone, Copy, Debug)]
pub struct LaunchLimits {
    /// The maximum number of blocks in each dimension of the grid.
    pub grid: Dim3,
    /// The maximum number of threads in each dimension of a block.
    pub block: Dim3,
    /// The maximum number of threads per block.
    pub block_threads: u32,
    /// The maximum shared memory per block in bytes, static and dynamic together.
    pub shared_bytes: u32,
    /// The maximum number of blocks per cluster, or 1 if the device has no clusters.
    pub cluster_blocks: u32,
}

/// The maximum number of blocks per cluster on every device with clusters.
const PORTABLE_CLUSTER: u32 = 8;

impl LaunchLimits {
    /// The limits of the simulator: the limits that all GPUs since 2017 share, with the shared memory of an H100.
    pub const SIMULATOR: Self = Self {
        grid: Dim3::new(i32::MAX as u32, 65535, 65535),
        block: Dim3::new(1024, 1024, 64),
        block_threads: MAX_THREADS as u32,
        shared_bytes: LIMIT as u32,
        cluster_blocks: MAX_CLUSTER,
    };

    /// Returns a message if a launch of `kernel` exceeds a limit, otherwise `None`. The message names the limit and the
    /// remedy.
    ///
    /// `register_threads` is the number of threads per block for which the compiled kernel's registers suffice, if
    /// known. `static_shared` is the size of the kernel's static shared memory in bytes.
    pub fn violation(
        &self,
        kernel: &KernelInfo,
        config: LaunchConfig,
        register_threads: Option<u32>,
        static_shared: u32,
    ) -> Option<String> {
        let LaunchConfig { grid, block, shared_bytes, .. } = config;
        let threads = block.count();
        if grid.count() == 0 {
            let remedy = "use at least 1 in each dimension, or leave the launch out if there is nothing to do";
            return Some(format!("the grid {grid} has no block: {remedy}"));
        }
        if threads == 0 {
            return Some(format!("the block {block} has no thread: use at least 1 in each dimension"));
        }
        for (what, given, max) in [("grid", grid, self.grid), ("block", block, self.block)] {
            for (axis, given, max) in [('x', given.x, max.x), ('y', given.y, max.y), ('z', given.z, max.z)] {
                if given > max {
                    let remedy = format!("use a smaller {what}, whose threads take several elements each");
                    return Some(format!("the {what}'s {axis} is {given}, and this device allows {max}: {remedy}"));
                }
            }
        }
        let too_many = |limit: String| Some(format!("the block has {threads} threads, and {limit}"));
        if threads > u128::from(self.block_threads) {
            return too_many(format!("this device allows {}: use a smaller block", self.block_threads));
        }
        if let Some(bound) = kernel.max_threads.filter(|&bound| threads > u128::from(bound)) {
            let remedy = "use a smaller block, or raise the kernel's `max_threads`";
            return too_many(format!("the kernel's launch bound is {bound}: {remedy}"));
        }
        if let Some(max) = register_threads.filter(|&max| threads > u128::from(max)) {
            let remedy = "use a smaller block, or declare the kernel's `max_threads`";
            return too_many(format!("the kernel's registers leave room for {max}: {remedy}"));
        }
        let shared = u64::from(shared_bytes) + u64::from(static_shared);
        if shared > u64::from(self.shared_bytes) {
            return Some(format!(
                "a block needs {shared} bytes of shared memory ({static_shared} static, {shared_bytes} dynamic), and \
                 this device has {}: use smaller shared arrays",
                self.shared_bytes
            ));
        }
        if config.has_clusters() { self.cluster_violation(kernel, config) } else { None }
    }

    /// Returns a message if the clusters of a launch exceed a limit or do not divide the grid, otherwise `None`.
    #[cold]
    fn cluster_violation(&self, kernel: &KernelInfo, config: LaunchConfig) -> Option<String> {
        let LaunchConfig { grid, cluster, .. } = config;
        let blocks = cluster.count();
        if blocks == 0 {
            return Some(format!("the cluster {cluster} has no block: use at least 1 in each dimension"));
        }
        if let Some(fixed) = kernel.cluster.filter(|&fixed| fixed != cluster) {
            return Some(format!(
                "the launch has clusters of {cluster} blocks, and the kernel is compiled for {fixed}: leave out \
                 `.cluster(…)` of the `LaunchConfig`"
            ));
        }
        if self.cluster_blocks < 2 {
            return Some(format!(
                "the launch has clusters of {blocks} blocks, and this GPU has no clusters: use a GPU of compute \
                 capability 9.0 or later, or the simulator"
            ));
        }
        if blocks > u128::from(self.cluster_blocks) {
            return Some(format!(
                "a cluster has {blocks} blocks, and this device allows {}: use a smaller cluster (every GPU with \
                 clusters allows {PORTABLE_CLUSTER})",
                self.cluster_blocks
            ));
        }
        for (axis, grid, cluster) in [('x', grid.x, cluster.x), ('y', grid.y, cluster.y), ('z', grid.z, cluster.z)] {
            if !grid.is_multiple_of(cluster) {
                return Some(format!(
                    "the grid's {axis} is {grid}, which is not a multiple of the cluster's {cluster}: use a multiple, \
                     such as {}",
                    u64::from(grid).next_multiple_of(cluster.into())
                ));
            }
        }
        None
    }
}

/// Returns the maximum number of threads of a cooperative launch in the simulator. This maximum depends on the number
/// of stacks, because all threads may have to wait at once.
pub(crate) fn max_cooperative_threads() -> usize {
    STACKS.half()
}

/// Checks that the simulator can run a launch.
///
/// # Errors
/// The fault's kind, which states the limit that the launch exceeds.
pub(crate) fn validate(kernel: &KernelInfo, config: &LaunchConfig) -> Result<(), FaultKind> {
    let LaunchConfig { grid, block, shared_bytes, is_cooperative, cluster, .. } = *config;
    let dynamic = shared_bytes as usize;
    if dynamic > LIMIT {
        return Err(FaultKind::SharedMemory { needed: dynamic, limit: LIMIT });
    }
    if let Some(reason) = LaunchLimits::SIMULATOR.violation(kernel, *config, None, 0) {
        return Err(FaultKind::InvalidLaunch(reason));
    }
    let max = max_cooperative_threads();
    if is_cooperative && grid.count().saturating_mul(block.count()) > max as u128 {
        return Err(FaultKind::SimulatorLimit(format!(
            "a cooperative launch of {} blocks of {} threads runs all of them at the same time, and the simulator runs \
             at most {max} threads at the same time: launch fewer blocks",
            grid.count(),
            block.count()
        )));
    }
    if cluster.count().saturating_mul(block.count()) > max as u128 {
        return Err(FaultKind::SimulatorLimit(format!(
            "the blocks of a cluster run at the same time, a cluster of {} blocks of {} threads needs as many stacks, \
             and the simulator has {max}: use smaller clusters or blocks",
            cluster.count(),
            block.count()
        )));
    }
    Ok(())
}
