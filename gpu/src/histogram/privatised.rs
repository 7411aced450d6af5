//! Privatised: each block counts in shared memory, and adds its counts to the result once, at its end.
//!
//! The multiprocessors count the keys, and the L2 cache executes only one addition per block and bin. If the bins do
//! not fit into shared memory, they are divided into segments. The blocks with the same `blockIdx.y` count one segment,
//! and together read all keys. The kernel is limited by bank conflicts in shared memory, between lanes of a warp whose
//! bins are in the same bank.
//!
//! Source: the CUDA sample `histogram`; J. Gómez-Luna et al., "An optimized approach to histogram computation on GPU",
//! 2013.

use cuda_std::{Global, GlobalMut, dynamic_shared, kernel, thread};

use super::{EvenBins, Key};

/// Counts the keys per bin in shared memory: adds the number of keys in bin `b` to `counts[b]`. `counts` must have one
/// element per bin of `bins`.
///
/// The blocks of row *y* count the `segment` bins from `segment·y` on. They need four bytes of dynamic shared memory
/// per bin of a segment. The grid must have enough rows for all bins, and may have any number of blocks along x. Blocks
/// must be one-dimensional.
#[kernel(max_threads = 1024, instances(K = [u8, u32]), exported = "histogram")]
pub fn histogram_privatised<K: Key>(keys: Global<K>, bins: EvenBins, segment: u32, counts: GlobalMut<u32>) {
    let counters = dynamic_shared::<u32>().part(0, segment as usize);
    let first = thread::block_idx_y() * segment;
    for slot in thread::block_stride(counters.len()) {
        counters.store(slot, 0);
    }
    thread::sync_threads();
    for i in thread::grid_stride(keys.len()) {
        if let Some(bin) = bins.of(keys.load(i).value())
            && (first..first + segment).contains(&bin)
        {
            counters.atomic_add((bin - first) as usize, 1);
        }
    }
    thread::sync_threads();
    for slot in thread::block_stride(counters.len()) {
        let count = counters.load(slot);
        if count > 0 {
            counts.atomic_add(first as usize + slot, count);
        }
    }
}
