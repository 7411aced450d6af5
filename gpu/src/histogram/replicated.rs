//! Replicated: a block has up to 32 copies of each counter, one per bank, so that the lanes of a warp do not conflict.
//! The kernel needs only one launch.
//!
//! Changes from [`histogram_privatised()`](super::histogram_privatised()):
//!
//! - A block has several copies of its counters. With 32 copies, lane *l* adds only in bank *l*, so equal keys cause no
//!   conflicts. The more bins there are, the fewer copies fit, down to one. If even one copy does not fit into shared
//!   memory, the bins are divided into segments, as in the privatised kernel.
//! - Loads have 16 bytes. Each thread has [`VECTORS`] loads in flight while it counts the vectors that it loaded
//!   before.
//! - Keys of one byte are counted by value. A block therefore computes the bins of 256 values, instead of one bin per
//!   key. A vector of 16 equal bytes needs only one addition.
//! - No separate launch sets the counts to zero. The block that starts first does this, while all blocks count.
//!
//! The kernel is limited by memory if one segment holds all bins. Each further segment reads the keys again, through
//! the L2 cache.
//!
//! Forward progress: all blocks wait until the block that started first has cleared the counts. The first block itself
//! never waits for another block.
//!
//! Source: V. Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA, 2007, for separate counters per thread; CUB's
//! `DeviceHistogram`, for the single addition for a run of equal keys.

use cuda_std::{Global, GlobalMut, Shared, dynamic_shared, kernel, opaque, thread, warp};

use super::tuning::VECTORS;
use super::{EvenBins, Key};

/// The number of different values of a key, for the key type that is counted by value.
pub const VALUES: u32 = 256;

/// The largest number of copies of a counter: one per bank.
pub const MAX_REPLICAS: u32 = warp::SIZE;

/// The number of words through which the blocks of a launch coordinate. The words must be 0 before the launch, and the
/// kernel leaves them 0.
pub const STATE_WORDS: usize = 3;

/// The index of the word that counts the blocks that have started.
pub const STARTED: usize = 0;

/// The index of the word that is not 0 once the counts are cleared.
pub const CLEARED: usize = 1;

/// The index of the word that counts the blocks that have read [`CLEARED`].
pub const FINISHED: usize = 2;

/// 16 bytes of keys.
type Vector = [u32; 4];

/// Counts the keys per bin in several copies of each counter: writes the number of keys in bin `b` to `counts[b]`,
/// whatever its old value is. `counts` must have one element per bin of `bins`.
///
/// The blocks of row *y* count the `segment` bins from `segment·y` on, in `replicas` copies. `replicas` must be a power
/// of two up to [`MAX_REPLICAS`]. A block needs four bytes of dynamic shared memory per bin and copy. The grid must
/// have enough rows for all bins, and may have any number of blocks along x. For keys of one byte, which are counted by
/// value, the grid must have one row, `segment` must be [`VALUES`], and `replicas` must be [`MAX_REPLICAS`]. Blocks
/// must be one-dimensional and consist of whole warps. `state` must have [`STATE_WORDS`] elements.
#[kernel(max_threads = 1024, instances(K = [u8, u32]), wide(loads), exported = "histogram")]
pub fn histogram_replicated<K: Key>(
    keys: Global<K>,
    bins: EvenBins,
    segment: u32,
    replicas: u32,
    state: GlobalMut<u32>,
    counts: GlobalMut<u32>,
) {
    assert!(thread::block_dim_x().is_multiple_of(warp::SIZE) && thread::block_dim_y() * thread::block_dim_z() == 1);
    assert!(replicas.is_power_of_two() && replicas <= MAX_REPLICAS);
    assert!(!K::BY_VALUE || segment == VALUES && replicas == MAX_REPLICAS && thread::grid_dim_y() == 1);
    // For keys of one byte, these values are constants, so the compiler omits one test per key.
    let (segment, replicas) = if K::BY_VALUE { (VALUES, MAX_REPLICAS) } else { (segment, replicas) };
    let first = if K::BY_VALUE { 0 } else { thread::block_idx_y() * segment };
    let words = dynamic_shared::<u32>().part(0, segment as usize * replicas as usize);
    let copy = (thread::thread_idx_x() & (replicas - 1)) as usize;
    let counters = Counters::<K> {
        words,
        bins,
        first,
        segment,
        replicas,
        own: words.part(copy, words.len() - copy),
        // Without `opaque`, the compiler would expand this product and multiply twice.
        before: if K::BY_VALUE { 0 } else { opaque(first * replicas) },
        keys: core::marker::PhantomData,
    };
    let (vectors, before) = vectors(keys);
    let tile = thread::block_dim_x() as usize * VECTORS;
    // The number of tiles is below 2³², because a tile has at least 2 KiB. 32-bit integers save registers.
    let tiles = (vectors.len() / tile) as u32;
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());

    // The first loads start here, so that they overlap with the set-up of the counters.
    let mut next = [[0; 4]; VECTORS];
    if block < tiles {
        // SAFETY: tile `block` is a whole tile.
        next = unsafe { load(vectors, block) };
    }
    let is_leader = thread::thread_idx_x() == 0;
    let is_first = is_leader && state.atomic_add(STARTED, 1) == 0;
    counters.clear();
    if thread::sync_threads_count(is_first) != 0 {
        for bin in thread::block_stride(counts.len()) {
            counts.store(bin, 0);
        }
        thread::sync_threads();
        if is_leader {
            state.store_release(CLEARED, 1);
        }
    }

    // This block processes the keys outside whole tiles, because it has one tile fewer than block 0.
    if block == tiles % blocks {
        counters.count_rest(keys, before, vectors, tiles as usize * tile);
    }
    let mut number = block;
    while number < tiles {
        let current = next;
        number += blocks;
        if number < tiles {
            // SAFETY: tile `number` is a whole tile.
            next = unsafe { load(vectors, number) };
        }
        // The calls are written out instead of a loop. LLVM does not unroll a loop with so large a body, and would put
        // the vectors into local memory.
        let [a, b, c, d] = current;
        counters.count(a);
        counters.count(b);
        counters.count(c);
        counters.count(d);
    }

    if is_leader {
        while state.load_acquire(CLEARED) == 0 {}
    }
    thread::sync_threads();
    counters.add_to(counts);
    let others = thread::grid_dim_x() * thread::grid_dim_y() - 1;
    if is_leader && state.atomic_add(FINISHED, 1) == others {
        for word in 0..STATE_WORDS {
            state.store_relaxed(word, 0);
        }
    }
}

/// Returns the whole vectors in `keys`, and the number of keys before the first vector.
#[inline(always)]
pub fn vectors<K: Key>(keys: Global<K>) -> (Global<Vector>, usize) {
    let size = size_of::<Vector>();
    let before = ((keys.as_ptr() as usize).wrapping_neg() % size / size_of::<K>()).min(keys.len());
    // Without `opaque`, the compiler keeps the inputs of this expression in registers too.
    let len = opaque((keys.len() - before) / (size / size_of::<K>()));
    // SAFETY: the address `before` keys after the start is a multiple of 16 bytes, and `len` vectors follow it. If
    // there are fewer than `before` keys, `len` is 0.
    let vectors = unsafe { Global::from_raw_parts(keys.as_ptr().wrapping_add(before).cast(), len, keys.device()) };
    (vectors, before)
}

/// Loads the thread's vectors of tile `number`. Each warp has its own contiguous part of the tile, so a thread's
/// addresses differ by constants.
///
/// # Safety
/// Tile `number` must be a whole tile of `vectors`.
#[inline(always)]
pub unsafe fn load(vectors: Global<Vector>, number: u32) -> [Vector; VECTORS] {
    const LANES: usize = warp::SIZE as usize;
    let (block, thread) = (thread::block_dim_x() as usize, thread::thread_idx_x() as usize);
    let first = (number as usize * block + thread / LANES * LANES) * VECTORS + thread % LANES;
    let mut loaded = [[0; 4]; VECTORS];
    for v in 0..VECTORS {
        // SAFETY: by this function's contract the tile is whole, and this vector lies in it.
        loaded[v] = unsafe { vectors.load_unchecked(first + v * LANES) };
    }
    loaded
}

/// The counters of a block, as seen by one of its threads. The copies of counter `slot` are adjacent.
pub struct Counters<K> {
    /// All copies of the counters.
    pub words: Shared<u32>,
    /// The bins.
    pub bins: EvenBins,
    /// The first bin of the block's segment.
    pub first: u32,
    /// The number of bins in the segment.
    pub segment: u32,
    /// The number of copies of each counter.
    pub replicas: u32,
    /// The words from the thread's own copy of the first counter on. The thread adds to every `replicas`-th of them.
    pub own: Shared<u32>,
    /// The number of counters, including copies, of all bins before the segment.
    pub before: u32,
    /// The type of the keys.
    pub keys: core::marker::PhantomData<K>,
}

impl<K: Key> Counters<K> {
    /// Sets all copies to 0. The caller must execute a barrier afterwards.
    #[inline(always)]
    pub fn clear(&self) {
        let vectors = self.words.cast::<Vector>();
        for i in thread::block_stride(vectors.len()) {
            vectors.store(i, [0; 4]);
        }
        for i in thread::block_stride(self.words.len() % 4) {
            self.words.store(vectors.len() * 4 + i, 0);
        }
    }

    /// Adds `n` keys of `value` to the counters.
    #[inline(always)]
    fn add(&self, value: u32, n: u32) {
        let (slot, is_counted) = if K::BY_VALUE { (value, true) } else { self.bins.find(value) };
        // For a bin before the segment, the subtraction wraps to an index beyond the end. One test therefore rejects
        // bins before and after the segment.
        let index = slot.wrapping_mul(self.replicas).wrapping_sub(self.before) as usize;
        if is_counted && (K::BY_VALUE || index < self.words.len()) {
            // SAFETY: `index` is the index of a counter's first copy in `words`, because of the test above, or because
            // a value is below `VALUES`. `own` starts at the thread's copy, one of the `replicas` copies of each
            // counter.
            unsafe { self.own.atomic_add_unchecked(index, n) };
        }
    }

    /// Counts the keys of one vector.
    #[inline(always)]
    pub fn count(&self, vector: Vector) {
        let [a, b, c, d] = vector;
        if K::BY_VALUE && a == b && c == d && a == c && a == a.rotate_left(8) {
            self.add(K::in_word(a, 0), (4 * K::PER_WORD) as u32);
            return;
        }
        for word in 0..4 {
            for place in 0..K::PER_WORD {
                self.add(K::in_word(vector[word], place), 1);
            }
        }
    }

    /// Counts the keys outside whole tiles: the keys in the vectors from index `first` on, which are at most one tile,
    /// and the keys before and after all vectors.
    #[inline(always)]
    pub fn count_rest(&self, keys: Global<K>, before: usize, vectors: Global<Vector>, first: usize) {
        for i in thread::block_stride(vectors.len() - first) {
            self.count(vectors.load(first + i));
        }
        let in_vectors = vectors.len() * (4 * K::PER_WORD);
        for i in thread::block_stride(keys.len() - in_vectors) {
            self.add(keys.load(if i < before { i } else { in_vectors + i }).value(), 1);
        }
    }

    /// Adds the block's counts to `counts`. The caller must execute a barrier before the call.
    #[inline(always)]
    pub fn add_to(&self, counts: GlobalMut<u32>) {
        let replicas = self.replicas as usize;
        for slot in thread::block_stride(self.segment as usize) {
            let mut sum = 0_u32;
            for i in 0..replicas {
                // Each thread begins with a different copy. With 32 copies, the lanes have no bank conflicts.
                let copy = (slot + i) & (replicas - 1);
                // SAFETY: the index belongs to a copy of a counter of the segment.
                sum = sum.wrapping_add(unsafe { self.words.load_unchecked(slot * replicas + copy) });
            }
            let bin = if K::BY_VALUE { self.bins.of(slot as u32) } else { Some(self.first + slot as u32) };
            if let Some(bin) = bin
                && sum > 0
            {
                counts.atomic_add(bin as usize, sum);
            }
        }
    }
}
