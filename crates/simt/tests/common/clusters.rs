//! Helpers of the tests of clusters: positions, and an array of one word per thread.

use simt::shared::Site;
use simt::{LaunchConfig, Schedule, Simulator, cluster, shared, thread};

use super::races::checked;
use super::simulators;

/// The number of threads per block.
pub const THREADS: u32 = 48;

pub fn config(blocks: u32, size: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, THREADS).cluster(size)
}

pub fn all_simulators() -> impl Iterator<Item = Simulator> {
    let checked = Schedule::HOSTILE.into_iter().map(|schedule| checked().with_schedule(schedule));
    simulators().into_iter().chain(checked)
}

pub fn lane() -> u32 {
    thread::thread_idx().x
}

pub fn is_first() -> bool {
    lane() == 0
}

pub fn rank() -> u32 {
    cluster::block_rank()
}

/// Returns the address of this block's array of one word per thread.
pub fn tile() -> u32 {
    static TILE: Site = Site::named("tile");
    shared::allocate_array(&TILE, 4, THREADS as usize)
}

/// Sets this thread's word of the tile to 0 and returns its address.
#[track_caller]
pub fn init() -> u32 {
    let own = tile() + 4 * lane();
    shared::store(own, 0_u32);
    own
}

/// Returns the address of this thread's word of the tile in the next block of the cluster.
#[track_caller]
pub fn next() -> u32 {
    cluster::map(tile() + 4 * lane(), (rank() + 1) % cluster::dim().x)
}
