//! Tuning constants. The attribute of a kernel repeats its `max_threads` as a literal.

/// The number of threads per block of all kernels of merge sort.
pub const THREADS: u32 = 256;

/// Returns the number of elements of `bytes` bytes per thread: up to 64 bytes of them, but at least 1 and at most 15.
/// The number is odd, so that the threads of a warp access different banks of shared memory.
pub const fn items(bytes: usize) -> usize {
    match 64 / bytes {
        0 | 1 => 1,
        items if items > 15 => 15,
        items => (items - 1) | 1,
    }
}

/// Returns the number of elements of `bytes` bytes in a tile, which a block sorts or merges.
pub const fn tile(bytes: usize) -> usize {
    THREADS as usize * items(bytes)
}
