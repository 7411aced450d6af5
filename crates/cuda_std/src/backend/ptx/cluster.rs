//! Clusters on a GPU. PTX before sm_90 has no clusters: each block is a cluster of its own.

use super::trap;

/// True if the PTX has the instructions of clusters.
pub const HAS_CLUSTERS: bool = cfg!(target_feature = "sm_90");

/// A thread's arrival, which the hardware keeps.
#[derive(Debug)]
pub struct ClusterArrival;

#[inline(always)]
pub fn cluster_sync() {
    cluster_wait(cluster_arrive());
}

/// Traps if the cluster has no block of this rank.
#[inline(always)]
pub fn check_cluster_rank(rank: u32) {
    if rank >= cluster_num_blocks() {
        trap();
    }
}

#[inline(always)]
pub fn out_of_bounds_cluster(_view: u32, _index: usize, _len: usize) -> ! {
    trap()
}

#[cfg(target_feature = "sm_90")]
mod hardware {
    use core::arch::asm;
    use core::mem::MaybeUninit;

    use super::super::memory::{cast, load, shared_accesses, store};
    use super::ClusterArrival;
    use crate::device_copy::{DeviceCopy, checked_value, with_word};

    unsafe extern "C" {
        #[link_name = "llvm.nvvm.barrier.cluster.arrive"]
        fn barrier_arrive();
        #[link_name = "llvm.nvvm.barrier.cluster.wait"]
        fn barrier_wait();
    }

    #[inline(always)]
    pub fn cluster_arrive() -> ClusterArrival {
        // SAFETY: a barrier accesses no memory of the program.
        unsafe { barrier_arrive() };
        ClusterArrival
    }

    #[inline(always)]
    pub fn cluster_arrive_relaxed() -> ClusterArrival {
        // LLVM's intrinsic needs PTX 8.0, and LLVM writes an older version for sm_90. `cuda_builder` raises it.
        // SAFETY: a barrier accesses no memory of the program.
        unsafe { asm!("barrier.cluster.arrive.relaxed;", options(nostack, preserves_flags)) };
        ClusterArrival
    }

    #[inline(always)]
    pub fn cluster_wait(_arrival: ClusterArrival) {
        // SAFETY: a barrier accesses no memory of the program. If not all threads arrive, the kernel hangs.
        unsafe { barrier_wait() };
    }

    macro_rules! registers {
        ($($name:ident $register:literal)*) => {$(
            #[inline(always)]
            pub fn $name() -> u32 {
                let value;
                // SAFETY: the instruction only reads a special register, which never changes.
                unsafe {
                    asm!(concat!("mov.u32 {}, %", $register, ";"), out(reg32) value,
                        options(pure, nomem, nostack, preserves_flags));
                }
                value
            }
        )*};
    }

    registers! {
        cluster_idx_x "clusterid.x"
        cluster_idx_y "clusterid.y"
        cluster_idx_z "clusterid.z"
        cluster_grid_dim_x "nclusterid.x"
        cluster_grid_dim_y "nclusterid.y"
        cluster_grid_dim_z "nclusterid.z"
        cluster_block_idx_x "cluster_ctaid.x"
        cluster_block_idx_y "cluster_ctaid.y"
        cluster_block_idx_z "cluster_ctaid.z"
        cluster_dim_x "cluster_nctaid.x"
        cluster_dim_y "cluster_nctaid.y"
        cluster_dim_z "cluster_nctaid.z"
        cluster_block_rank "cluster_ctarank"
        cluster_num_blocks "cluster_nctarank"
    }

    /// Returns the address of `address`, which is in the block's shared memory, in that of the block with this rank.
    #[inline(always)]
    pub fn cluster_map(address: u32, rank: u32) -> u32 {
        let mapped;
        // SAFETY: the instruction only computes an address.
        unsafe {
            asm!("mapa.shared::cluster.u32 {}, {}, {};", out(reg32) mapped, in(reg32) address, in(reg32) rank,
                options(pure, nomem, nostack, preserves_flags));
        }
        mapped
    }

    shared_accesses! {
        cluster_load cluster_load_numbers cluster_store cluster_store_numbers "ld.shared::cluster" "st.shared::cluster";
    }
}

#[cfg(target_feature = "sm_90")]
pub use hardware::*;

#[cfg(not(target_feature = "sm_90"))]
mod alone {
    use super::super::{block_idx_x, block_idx_y, block_idx_z, grid_dim_x, grid_dim_y, grid_dim_z, sync_threads};
    use super::ClusterArrival;

    pub use super::super::{
        shared_load as cluster_load, shared_load_numbers as cluster_load_numbers, shared_store as cluster_store,
        shared_store_numbers as cluster_store_numbers,
    };

    #[inline(always)]
    pub fn cluster_arrive() -> ClusterArrival {
        fallback!("cluster" 90);
        ClusterArrival
    }

    pub use cluster_arrive as cluster_arrive_relaxed;

    #[inline(always)]
    pub fn cluster_wait(_arrival: ClusterArrival) {
        sync_threads();
    }

    macro_rules! of_one_block {
        ($($name:ident $value:expr;)*) => {$(
            #[inline(always)]
            pub fn $name() -> u32 {
                fallback!("cluster" 90);
                $value
            }
        )*};
    }

    of_one_block! {
        cluster_idx_x block_idx_x();
        cluster_idx_y block_idx_y();
        cluster_idx_z block_idx_z();
        cluster_grid_dim_x grid_dim_x();
        cluster_grid_dim_y grid_dim_y();
        cluster_grid_dim_z grid_dim_z();
        cluster_block_idx_x 0;
        cluster_block_idx_y 0;
        cluster_block_idx_z 0;
        cluster_dim_x 1;
        cluster_dim_y 1;
        cluster_dim_z 1;
        cluster_block_rank 0;
        cluster_num_blocks 1;
    }

    #[inline(always)]
    pub fn cluster_map(address: u32, _rank: u32) -> u32 {
        fallback!("cluster" 90);
        address
    }
}

#[cfg(not(target_feature = "sm_90"))]
pub use alone::*;
