//! Clusters whose blocks do not wait for each other.
//!
//! - In [`cluster_unsynchronised()`], a block reads the tile of another block without a barrier of the cluster after
//!   the write.
//! - In [`cluster_not_begun()`], a block writes to the shared memory of another one that may not run yet.
//! - In [`cluster_ended()`], a block reads from the shared memory of another one that may have ended.
//! - In [`cluster_barrier_in_branch()`], only one block of the cluster reaches the barrier.
//! - In [`cluster_arrives_twice()`], the threads arrive at the barrier a second time and have not waited.
//! - In [`cluster_without_last()`], the last block accesses a block that its cluster does not have.
//!
//! [`cluster_reverse()`](crate::device_library::cluster_reverse()) is correct: a barrier of the cluster precedes the
//! first access to another block, separates writes and reads, and follows the last access.

use cuda_std::{GlobalMut, cluster, kernel, shared_array, thread};

/// The number of threads per block.
const THREADS: usize = 64;

/// Writes what the previous block of the cluster has written to the tile of each block.
#[kernel(max_threads = 64)]
pub fn cluster_unsynchronised(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let next = (cluster::block_rank() + 1) % cluster::num_blocks();
    tile.store(thread, 0);
    cluster::sync();
    cluster::map_shared(tile, next).store(thread, i as u32); // fault: write
    thread::sync_threads();
    y.store(i, tile.load(thread)); // fault: read
    cluster::sync();
}

/// Writes to the tile of the next block of the cluster at once.
#[kernel(max_threads = 64)]
pub fn cluster_not_begun(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let next = (cluster::block_rank() + 1) % cluster::num_blocks();
    cluster::map_shared(tile, next).store(thread, i as u32); // fault: early access
    cluster::sync();
    y.store(i, tile.load(thread));
}

/// Reads from the tile of the next block of the cluster, and ends.
#[kernel(max_threads = 64)]
pub fn cluster_ended(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let next = (cluster::block_rank() + 1) % cluster::num_blocks();
    tile.store(thread, i as u32);
    cluster::sync();
    y.store(i, cluster::map_shared(tile, next).load(thread)); // fault: late access
}

/// Waits in the first block of the cluster for the other blocks, which return. GPUs do not wait for threads that have
/// exited.
#[kernel(max_threads = 64)]
pub fn cluster_barrier_in_branch(y: GlobalMut<u32>) {
    if cluster::block_rank() == 0 {
        cluster::sync(); // fault: barrier
        y.store(thread::index_1d(), 1);
    }
}

/// Arrives at the barrier of the cluster after each of two stores, and waits once.
#[kernel(max_threads = 64)]
pub fn cluster_arrives_twice(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, 1);
    drop(cluster::arrive()); // fault: first arrival
    y.store(i, 2);
    cluster::wait(cluster::arrive()); // fault: second arrival
}

/// Reads the tile of the next block of the cluster. The last block has no next one.
#[kernel(max_threads = 64)]
pub fn cluster_without_last(y: GlobalMut<u32>) {
    let tile = shared_array![u32; THREADS];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    tile.store(thread, i as u32);
    cluster::sync();
    let next = cluster::map_shared(tile, cluster::block_rank() + 1); // fault: rank
    y.store(i, next.load(thread));
    cluster::sync();
}
