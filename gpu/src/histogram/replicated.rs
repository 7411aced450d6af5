//! Replicated: up to 32 copies of each counter, one in each bank, so that lanes of a warp do not meet. One launch.
//!
//! What it changes:
//!
//! - Copies of a block's counters. With 32 of them lane *l* adds in bank *l* alone, whatever the keys are: keys that are all
//!   alike take no longer than others. More bins have fewer copies, down to one; bins that do not fit into shared memory even
//!   once are counted in segments, as in the rung before.
//! - Loads of 16 bytes: [`VECTORS`] per thread are under way while it counts those before.
//! - Bytes are counted by value: the bin is looked for 256 times per block, and not once per key. A vector whose bytes are
//!   all alike is one addition.
//! - No launch before it clears the counts: the block that starts first does, while all blocks count.
//!
//! Limited by memory where one segment holds all bins; each further one reads the keys again, by way of the L2 cache.
//!
//! Forward progress: blocks wait for the counts to be cleared, by the block that has started before all others, which waits
//! for nobody.
//!
//! Source: V. Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA, 2007, for counters of a thread's own; CUB's
//! `DeviceHistogram` for runs of one key.

use cuda_std::{Global, GlobalMut, Shared, dynamic_shared, kernel, opaque, thread, warp};

use super::tuning::VECTORS;
use super::{EvenBins, Key};

/// Values of a key that is counted by value.
pub const VALUES: u32 = 256;

/// The most copies of a counter: one per bank.
pub const MOST_REPLICAS: u32 = warp::SIZE;

/// Words by which the blocks of a launch coordinate. They are 0 before the launch, and 0 again after it.
pub const STATE_WORDS: usize = 3;

/// How many blocks have started.
const STARTED: usize = 0;

/// Whether the counts are cleared.
const CLEARED: usize = 1;

/// How many blocks have read [`CLEARED`].
const FINISHED: usize = 2;

/// 16 bytes of keys.
type Vector = [u32; 4];

/// `counts[b]` = how many of `keys` are in bin `b` of `bins`, whatever was there before. `counts` has an element for each bin.
///
/// The blocks of row *y* count the bins from `segment·y` on, `segment` of them, in `replicas` copies, a power of two up to
/// [`MOST_REPLICAS`]; that takes four bytes of dynamic shared memory per bin and copy, and the grid has rows for all bins.
/// Bytes, which are counted by value, have one row, a `segment` of [`VALUES`], and all copies. Blocks of one dimension, of
/// whole warps; any number of them along x. `state` has [`STATE_WORDS`].
#[kernel(max_threads = 1024, instances(K = [u8, u32]), wide(loads))]
pub fn histogram_replicated<K: Key>(
    keys: Global<K>,
    bins: EvenBins,
    segment: u32,
    replicas: u32,
    state: GlobalMut<u32>,
    counts: GlobalMut<u32>,
) {
    assert!(thread::block_dim_x().is_multiple_of(warp::SIZE) && thread::block_dim_y() * thread::block_dim_z() == 1);
    assert!(replicas.is_power_of_two() && replicas <= MOST_REPLICAS);
    assert!(!K::BY_VALUE || segment == VALUES && replicas == MOST_REPLICAS && thread::grid_dim_y() == 1);
    // Constants for bytes, so that the compiler drops a test per byte.
    let (segment, replicas) = if K::BY_VALUE { (VALUES, MOST_REPLICAS) } else { (segment, replicas) };
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
        // Opaque, or the compiler takes it apart again and multiplies twice.
        before: if K::BY_VALUE { 0 } else { opaque(first * replicas) },
        keys: core::marker::PhantomData,
    };
    let (vectors, before) = vectors(keys);
    let tile = thread::block_dim_x() as usize * VECTORS;
    // Fewer than 2³²: a tile has 2 KiB at least, and no memory has so many. Words of 32 bits save registers.
    let tiles = (vectors.len() / tile) as u32;
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());

    // The first loads are under way while all is made ready.
    let mut next = [[0; 4]; VECTORS];
    if block < tiles {
        // SAFETY: a whole tile.
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

    // What is no whole tile: the turn is that of a block that has one tile less than the first has.
    if block == tiles % blocks {
        counters.count_rest(keys, before, vectors, tiles as usize * tile);
    }
    let mut number = block;
    while number < tiles {
        let current = next;
        number += blocks;
        if number < tiles {
            // SAFETY: a whole tile.
            next = unsafe { load(vectors, number) };
        }
        // Not a loop: its body is so large that it would stay one, and the vectors would be in local memory.
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

/// The whole vectors among `keys`, and how many keys stand before the first.
#[inline(always)]
fn vectors<K: Key>(keys: Global<K>) -> (Global<Vector>, usize) {
    let size = size_of::<Vector>();
    let before = ((keys.as_ptr() as usize).wrapping_neg() % size / size_of::<K>()).min(keys.len());
    // Opaque, or the compiler keeps what it is computed from as well: registers are few.
    let len = opaque((keys.len() - before) / (size / size_of::<K>()));
    // SAFETY: `before` keys on, unless there are fewer and `len` is 0, is a multiple of 16 bytes; `len` vectors are there.
    let vectors = unsafe { Global::from_raw_parts(keys.as_ptr().wrapping_add(before).cast(), len, keys.device()) };
    (vectors, before)
}

/// The thread's vectors of tile `number`. Each warp has a part of the tile of its own: so a thread's addresses differ by
/// constants.
///
/// # Safety
/// The tile must be there as a whole.
#[inline(always)]
unsafe fn load(vectors: Global<Vector>, number: u32) -> [Vector; VECTORS] {
    const LANES: usize = warp::SIZE as usize;
    let (block, thread) = (thread::block_dim_x() as usize, thread::thread_idx_x() as usize);
    let first = (number as usize * block + thread / LANES * LANES) * VECTORS + thread % LANES;
    let mut loaded = [[0; 4]; VECTORS];
    for v in 0..VECTORS {
        // SAFETY: a vector of the tile.
        loaded[v] = unsafe { vectors.load_unchecked(first + v * LANES) };
    }
    loaded
}

/// A block's counters, as one of its threads sees them: counter `slot`'s copies stand side by side.
struct Counters<K> {
    words: Shared<u32>,
    bins: EvenBins,
    /// The first bin of the block's segment.
    first: u32,
    segment: u32,
    replicas: u32,
    /// The words from the thread's own copy of the first counter on: it adds to every `replicas`-th of them.
    own: Shared<u32>,
    /// How many copies the bins before the segment have.
    before: u32,
    keys: core::marker::PhantomData<K>,
}

impl<K: Key> Counters<K> {
    /// Sets all copies to 0; a barrier follows.
    #[inline(always)]
    fn clear(&self) {
        let vectors = self.words.cast::<Vector>();
        for i in thread::block_stride(vectors.len()) {
            vectors.store(i, [0; 4]);
        }
        for i in thread::block_stride(self.words.len() % 4) {
            self.words.store(vectors.len() * 4 + i, 0);
        }
    }

    /// Adds `n` keys of `value`.
    #[inline(always)]
    fn add(&self, value: u32, n: u32) {
        let (slot, is_counted) = if K::BY_VALUE { (value, true) } else { self.bins.find(value) };
        // What is before the segment wraps, and so is beyond its end as well.
        let index = slot.wrapping_mul(self.replicas).wrapping_sub(self.before) as usize;
        if is_counted && (K::BY_VALUE || index < self.words.len()) {
            // SAFETY: this is the first copy of a counter in `words`, as just tested, or because a value is below `VALUES`. In
            // `own` it is the thread's copy, which is one of the `replicas` that follow.
            unsafe { self.own.atomic_add_unchecked(index, n) };
        }
    }

    /// Counts a vector of keys.
    #[inline(always)]
    fn count(&self, vector: Vector) {
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

    /// Counts what is no whole tile: the vectors from `first` on, at most as many as a tile has, and the keys before and
    /// behind all vectors.
    #[inline(always)]
    fn count_rest(&self, keys: Global<K>, before: usize, vectors: Global<Vector>, first: usize) {
        for i in thread::block_stride(vectors.len() - first) {
            self.count(vectors.load(first + i));
        }
        let in_vectors = vectors.len() * (4 * K::PER_WORD);
        for i in thread::block_stride(keys.len() - in_vectors) {
            self.add(keys.load(if i < before { i } else { in_vectors + i }).value(), 1);
        }
    }

    /// Adds the block's counts to `counts`, after a barrier.
    #[inline(always)]
    fn add_to(&self, counts: GlobalMut<u32>) {
        let replicas = self.replicas as usize;
        for slot in thread::block_stride(self.segment as usize) {
            let mut sum = 0_u32;
            for i in 0..replicas {
                // Each thread begins with another copy: with 32 of them lanes do not meet.
                let copy = (slot + i) & (replicas - 1);
                // SAFETY: one of the copies of a counter of the segment.
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
