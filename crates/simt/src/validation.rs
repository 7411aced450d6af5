//! Launches that no device would run, or not the simulator.

use crate::block::arena::LIMIT;
use crate::fault::FaultKind;
use crate::geometry::{KernelInfo, LaunchConfig};
use crate::lanes::MAX_THREADS;
use crate::worker::stacks::STACKS;

const MAX_BLOCK_Z: u32 = 64;
const MAX_GRID_X: u32 = i32::MAX as u32;
const MAX_GRID_YZ: u32 = 65535;

/// The most threads of a cooperative launch: all of them may have to wait at once.
pub(crate) fn max_cooperative_threads() -> usize {
    STACKS.half()
}

/// Checks extents, the kernel's launch bound and the dynamic shared memory.
///
/// # Errors
/// The kind of the fault, with the numbers that are wrong.
pub(crate) fn validate(kernel: &KernelInfo, config: &LaunchConfig) -> Result<(), FaultKind> {
    let LaunchConfig { grid, block, shared_bytes, is_cooperative, .. } = *config;
    let invalid = |reason: String| Err(FaultKind::InvalidLaunch(reason));
    for (what, extent) in [("grid", grid), ("block", block)] {
        if extent.x == 0 || extent.y == 0 || extent.z == 0 {
            return invalid(format!("the {what} {extent} has an extent of 0; each must be at least 1"));
        }
    }
    let threads = block.count();
    if threads > MAX_THREADS as u128 {
        return invalid(format!("the block {block} has {threads} threads; at most {MAX_THREADS} are allowed"));
    }
    if block.z > MAX_BLOCK_Z {
        return invalid(format!("the block {block} has the z extent {}; at most {MAX_BLOCK_Z} is allowed", block.z));
    }
    if let Some(bound) = kernel.max_threads
        && threads > u128::from(bound)
    {
        return invalid(format!(
            "the block {block} has {threads} threads; the kernel's launch bound is {bound} threads per block"
        ));
    }
    if grid.x > MAX_GRID_X || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ {
        return invalid(format!(
            "the grid {grid} is too large; at most ({MAX_GRID_X}, {MAX_GRID_YZ}, {MAX_GRID_YZ}) is allowed"
        ));
    }
    if is_cooperative {
        let most = max_cooperative_threads();
        if grid.count().saturating_mul(threads) > most as u128 {
            return Err(FaultKind::SimulatorLimit(format!(
                "a cooperative launch of {} blocks of {threads} threads, all of which run at the same time; the simulator \
                 runs at most {most} threads so",
                grid.count()
            )));
        }
    }
    if shared_bytes as usize > LIMIT {
        return Err(FaultKind::SharedMemory { needed: shared_bytes as usize, limit: LIMIT });
    }
    Ok(())
}
