//! Test kernels for clusters.

use cuda_std::{Global, GlobalMut, cluster, kernel, shared_array, thread};

/// The number of threads per block of the kernels here.
const BLOCK: usize = 64;

/// Writes the sum of the elements of each cluster to `sums`, one element per cluster. Launch blocks of 64 threads with
/// one element each.
#[kernel(max_threads = 64, allow(generic = "so GPUs reach the memory of other blocks"))]
pub fn cluster_sum(x: Global<u32>, sums: GlobalMut<u32>) {
    let total = shared_array![u32; 1];
    if thread::index_in_block() == 0 {
        total.store(0, 0);
    }
    cluster::sync();
    cluster::map_shared(total, 0).atomic_add(0, x.load(thread::index_1d()));
    cluster::sync();
    if cluster::thread_rank() == 0 {
        sums.store(cluster::index().x as usize, total.load(0));
    }
}

/// In each cluster of two blocks, copies `x` to `y` with the elements of the cluster in reverse order. Launch blocks of
/// 64 threads with one element each.
#[kernel(max_threads = 64, cluster = 2, allow(generic = "so GPUs reach the memory of other blocks"))]
pub fn cluster_reverse(x: Global<f64>, y: GlobalMut<f64>) {
    let (sent, received) = (shared_array![f64; BLOCK], shared_array![f64; BLOCK]);
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let other = 1 - cluster::block_rank();
    sent.store(thread, x.load(i));
    cluster::sync();
    // One half of the elements is stored in the other block's memory, the other half loaded from there.
    let across = BLOCK - 1 - thread;
    if thread < BLOCK / 2 {
        cluster::map_shared(received, other).store(across, sent.load(thread));
        y.store(i, cluster::map_shared(sent, other).load(across));
    }
    cluster::sync();
    if thread >= BLOCK / 2 {
        y.store(i, received.load(thread));
    }
}
