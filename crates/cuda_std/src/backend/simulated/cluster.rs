//! Clusters in the simulator.

use core::mem::MaybeUninit;
use core::panic::Location;

use simt::cluster;

use super::memory::{load, store};
use crate::device_copy::{DeviceCopy, access_bytes, checked_value, with_word};

pub use simt::cluster::{
    block_rank as cluster_block_rank, map as cluster_map, out_of_bounds as out_of_bounds_cluster, sync as cluster_sync,
};

/// True: the simulator has clusters.
pub const HAS_CLUSTERS: bool = true;

/// The number of the barrier's phase in which the thread has arrived.
pub type ClusterArrival = u64;

macro_rules! indices {
    ($($name:ident $of:ident $axis:ident;)*) => {
        $(#[inline(always)] pub fn $name() -> u32 { cluster::$of().$axis })*
    };
}

indices! {
    cluster_idx_x cluster_idx x;
    cluster_idx_y cluster_idx y;
    cluster_idx_z cluster_idx z;
    cluster_grid_dim_x grid_dim x;
    cluster_grid_dim_y grid_dim y;
    cluster_grid_dim_z grid_dim z;
    cluster_block_idx_x block_idx x;
    cluster_block_idx_y block_idx y;
    cluster_block_idx_z block_idx z;
    cluster_dim_x dim x;
    cluster_dim_y dim y;
    cluster_dim_z dim z;
}

pub fn cluster_num_blocks() -> u32 {
    cluster::dim().count() as u32
}

#[track_caller]
pub fn cluster_arrive() -> ClusterArrival {
    cluster::arrive(false)
}

#[track_caller]
pub fn cluster_arrive_relaxed() -> ClusterArrival {
    cluster::arrive(true)
}

#[track_caller]
pub fn cluster_wait(arrival: ClusterArrival) {
    cluster::wait(arrival);
}

/// Does nothing: `cluster_map` checks the rank.
#[inline(always)]
pub const fn check_cluster_rank(_rank: u32) {}

/// Loads the value at `address`. The kernel ends with an error if the bits are not a valid `T`.
///
/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_load<T: DeviceCopy>(address: u32) -> T {
    let at = Location::caller();
    checked_value(load!(T, offset, Word => cluster::load_at::<Word>(address.wrapping_add(offset as u32), at)))
}

/// # Safety
/// No condition, because the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_store<T: DeviceCopy>(address: u32, value: T) {
    let at = Location::caller();
    store!(T, value, offset, Word, word => cluster::store_at(address.wrapping_add(offset as u32), word, at));
}

pub use cluster_load as cluster_load_numbers;
pub use cluster_store as cluster_store_numbers;
