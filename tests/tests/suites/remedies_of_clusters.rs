//! Tests the remedies for blocks of a cluster that access each other's shared memory.

use cuda_std::{GlobalMut, cluster, kernel, shared_array, thread};
use launch::LaunchConfig;
use simt::Remedy;

use super::remedies::{assert_cured, filled};

/// The barrier of the cluster that the faulty variant of the kernel does not have.
const BEFORE: u32 = 0;
const BETWEEN: u32 = 1;
const AFTER: u32 = 2;
/// The other blocks do not have the last barrier of the first block.
const FOR_ALL: u32 = 3;
/// Stands for the correct variant, which has all barriers.
const NONE: u32 = 4;

/// Each block writes its indices to the tile of the other block of its cluster, and then copies its own tile, or what
/// it has written, to `y`.
#[kernel]
fn exchange(y: GlobalMut<u32>, missing: u32) {
    let (first, second) = (shared_array![u32; 32], shared_array![u32; 32]);
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    let other = 1 - cluster::block_rank();
    first.store(thread, 0);
    second.store(thread, i as u32);
    if missing != BEFORE {
        cluster::sync();
    }
    cluster::map_shared(first, other).store(thread, i as u32);
    if missing == BETWEEN {
        thread::sync_threads();
    } else {
        cluster::sync();
    }
    let written = first.load(thread);
    y.store(i, if missing == AFTER || thread < 16 { cluster::map_shared(second, other).load(thread) } else { written });
    if missing != AFTER {
        cluster::sync();
    }
    if missing == FOR_ALL && cluster::block_rank() == 0 {
        cluster::sync();
    }
}

#[test]
fn a_barrier_of_the_cluster_cures() {
    let right: Vec<u32> = (32..64).chain(0..32).collect();
    for (missing, remedy) in [
        (BEFORE, Remedy::ClusterBarrierBefore),
        (BETWEEN, Remedy::ClusterBarrier),
        (AFTER, Remedy::ClusterBarrierAfter),
        (FOR_ALL, Remedy::ClusterBarrierForAll),
    ] {
        assert_cured(remedy, &right, |device, is_faulty| {
            let missing = if is_faulty { missing } else { NONE };
            filled!(device, LaunchConfig::new(2, 32).cluster(2), 64, |y| exchange(y, missing))
        });
    }
}
