//! The sort of few keys by one cluster: [`sort_cluster()`].
//!
//! The module `sort` of the library launches this kernel for numbers of keys between those of
//! `gpu::sort::sort_one_block` and `gpu::sort::sort_one_sweep`. The kernel has a PTX module of its own, because the
//! other kernels need no PTX for sm_90.

mod one_cluster;

pub use one_cluster::{CLUSTER_BLOCKS, CLUSTER_ITEMS, CLUSTER_THREADS, cluster_bytes, sort_cluster};

cuda_std::kernels! {
    /// Puts up to 65536 keys in order, by the blocks of one cluster.
    sort_cluster
}
