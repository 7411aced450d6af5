//! One sweep: a pass sorts by eight bits and reads and writes every key once.
//!
//! A block ranks the keys of its tile by the digit of the pass ([`ranks`](crate::collective::ranks)) and publishes how
//! many keys it has of each digit. While it ranks, it puts the keys in order in shared memory. It then looks back: for
//! each digit, a thread adds the counts of the tiles before, until it finds a tile that has published the sum of its
//! own and all earlier counts. Keys with the same digit are adjacent in shared memory, so the stores of a warp touch
//! few cache lines.
//!
//! Changes from the sort by four bits in three kernels: half as many passes, and one read of the keys per pass instead
//! of two. All counts before the first pass come from one launch
//! ([`sort_digit_counts`](super::sort_digit_counts())).
//!
//! If all keys have the same digit, a pass only copies. Keys and payloads of any type with the same sizes share an
//! instance ([`Encoding`]).
//!
//! Forward progress: a block draws its tile's number from a counter when it starts, so it waits only for blocks that
//! started earlier. A block publishes its counts without waiting.
//!
//! The state of a tile and digit is one 32-bit word, a count with a flag, so it needs no fence. There are two sets of
//! states. A launch uses one of them and clears the other for the next launch.
//!
//! # Registers
//!
//! More warps per multiprocessor hide more latency, so registers are scarce. Each thread has its keys in registers
//! while it ranks, and nothing else per key: whether a key exists is a comparison with one number for all ([`Items`]),
//! digits are computed twice ([`recomputed`]), and payloads are loaded only after the keys are stored. Where no
//! register per item is needed, loops are not unrolled, so that the code fits into the instruction cache.
//!
//! Keys are limited by shared memory: the accesses at random digits conflict in banks. With payloads, the limit is the
//! number of places that are written at a time, so one large tile per multiprocessor is faster than several.
//!
//! Sources: A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", NVIDIA, 2022;
//! CUB's `DeviceRadixSort`.

use cuda_std::{Element, Global, GlobalMut, dynamic_shared, kernel, opaque, shared_array, thread, unroll, warp};

use super::tuning::{LOOK_BACK, SweepTile, one_sweep_tile};
use super::words::{CONSTANT, TICKET};
use crate::collective::LANES;
use crate::collective::block::clear;
use crate::collective::ranks::{RADIX, RADIX_WARPS, rank_digits, rank_words};
use crate::collective::words::shuffle_idx;
use crate::sort_key::{Encoding, KeyBits, Masks, NoPayload, Payload, Words4, digit_mask};

/// The flag of a state that has the count of a tile.
const AGGREGATE: u32 = 1 << 30;

/// The flag of a state that has the sum of the counts of a tile and all earlier tiles of the portion.
const PREFIX: u32 = 2 << 30;

/// The bits of a state that have the count.
const COUNT: u32 = AGGREGATE - 1;

/// True in the argument `ends` if the pass is the first: it encodes the keys.
pub const FIRST: u32 = 1;

/// True in the argument `ends` if the pass is the last: it decodes the keys.
pub const LAST: u32 = 2;

/// Returns the number of bytes of dynamic shared memory in a block of `warps` warps, for `items` keys per thread of
/// `key` bytes with payloads of `payload` bytes. It holds the counters and masks of the ranks, or later all payloads,
/// and all keys.
pub const fn one_sweep_bytes(items: usize, warps: usize, key: usize, payload: usize) -> usize {
    words_bytes(items, warps, payload) + items * warps * LANES * key
}

/// Returns the number of bytes before the keys.
const fn words_bytes(items: usize, warps: usize, payload: usize) -> usize {
    let (ranks, payloads) = (4 * rank_words(warps), items * warps * LANES * payload);
    if ranks > payloads { ranks } else { payloads }
}

/// Sorts one portion of the keys by one digit: the keys from `first` on, one tile per block.
///
/// The digit has the bits `shift..shift + bits` of the encoded key; `pass` is its number. `ends` has [`FIRST`] or
/// [`LAST`] or both set in the passes that encode or decode the keys by `encoding`, the code of an [`Encoding`].
///
/// `values` has a value for each key. If it is empty, the values are the indices of the keys. `keys_out` and
/// `values_out` must be as long as `keys`. Launch a one-dimensional grid with one block of `WARPS` warps per tile of
/// `items` keys per thread, at most `N`, and with [`one_sweep_bytes`] bytes of dynamic shared memory. `N` and `WARPS`
/// must be those of [`one_sweep_tile`].
///
/// `words` must have [`WORDS`](super::WORDS) elements. `starts` is the index of the portion's starts and `next_starts`
/// that of the next portion's, which this launch writes. `states` has two sets. This launch uses set `set`, which must
/// be 0, and clears the other set.
#[kernel(
    instances(K = [u8], P = [NoPayload], N = [22], WARPS = [12], max_threads = 384, min_blocks = 3),
    instances(K = [u16, u32], P = [NoPayload], N = [21], WARPS = [12], max_threads = 384, min_blocks = 3),
    instances(K = [u64], P = [NoPayload], N = [22], WARPS = [12], max_threads = 384, min_blocks = 2),
    instances(K = [u8, u16, u32], P = [u32], N = [24], WARPS = [20], max_threads = 640, min_blocks = 1),
    instances(K = [u32], P = [u64], N = [24], WARPS = [20], max_threads = 640, min_blocks = 1),
    instances(K = [u64], P = [u32], N = [22], WARPS = [16], max_threads = 512, min_blocks = 1),
    instances(K = [u64], P = [u64], N = [18], WARPS = [20], max_threads = 640, min_blocks = 1),
    instances(K = [u32], P = [Words4], N = [16], WARPS = [20], max_threads = 640, min_blocks = 1),
    instances(K = [u64], P = [Words4], N = [12], WARPS = [20], max_threads = 640, min_blocks = 1)
)]
pub fn sort_one_sweep<K: KeyBits, P: Payload, const N: usize, const WARPS: usize>(
    keys: Global<K>,
    values: Global<P>,
    keys_out: GlobalMut<K>,
    values_out: GlobalMut<P>,
    first: usize,
    shift: u32,
    bits: u32,
    pass: u32,
    ends: u32,
    encoding: u32,
    words: GlobalMut<u64>,
    starts: u32,
    next_starts: u32,
    states: GlobalMut<u32>,
    set: u32,
    items: u32,
) {
    const {
        let tile = one_sweep_tile(size_of::<K>(), P::SIZE);
        assert!(matches!(tile, Some(SweepTile { items, warps, .. }) if items == N && warps == WARPS));
    }
    let threads = WARPS * LANES;
    assert!(thread::block_size() as usize == threads && keys_out.len() == keys.len() && items as usize <= N);
    assert!(P::IS_NONE || values_out.len() == keys.len() && (values.is_empty() || values.len() == keys.len()));
    assert!(starts as usize + RADIX <= words.len() && next_starts as usize + RADIX <= words.len());
    let drawn = shared_array![u32; 1];
    let aggregates = shared_array![u32; RADIX_WARPS];
    let offsets = shared_array![u64; RADIX];
    let counters = dynamic_shared::<u32>().part(0, rank_words(WARPS));
    let room = items as usize * threads;
    let payloads = dynamic_shared::<P>().part(0, if P::IS_NONE { 0 } else { room });
    let sorted = dynamic_shared::<K>().part(words_bytes(items as usize, WARPS, P::SIZE) / size_of::<K>(), room);
    let (thread, blocks) = (thread::thread_idx_x() as usize, thread::grid_dim_x());
    if thread == 0 {
        let ticket = words.atomic_add(TICKET, 1) as u32;
        if ticket + 1 == blocks {
            words.store_relaxed(TICKET, 0);
        }
        drawn.store(0, ticket);
    }
    clear(counters);
    thread::sync_threads();
    let (tile, half) = (drawn.load(0) as usize, states.len() / 2);
    let is_last_tile = tile as u32 + 1 == blocks;
    let other_set = states.part(if set == 0 { half } else { 0 }, half);
    let states = states.part(if set == 0 { 0 } else { half }, half);
    assert!((tile + 1) * RADIX <= half);
    if thread < RADIX {
        other_set.store(tile * RADIX + thread, 0);
    }
    if is_last_tile {
        // The next launch may have more tiles.
        let mut word = blocks as usize * RADIX + thread;
        while word < half {
            other_set.store(word, 0);
            word += threads;
        }
    }

    let first_of = |tile: usize| first + tile * room;
    // The cast is lossless, because it is the number of items in one tile.
    let count_of = |tile: usize| (keys.len() - first_of(tile)).min(room) as u32;
    let (first, count) = (first_of(tile), count_of(tile));
    let masks = K::masks(Encoding::from_code(encoding));
    let encodes = ends & FIRST != 0 && encoding != 0;
    let decodes = ends & LAST != 0 && encoding != 0;
    let own_items = Items::<N>::new(first, count, items);
    let mut own = own_items.load(keys, K::MAX);
    if words.load(CONSTANT) >> pass & 1 != 0 {
        for_each_position::<WARPS>(count, |position| {
            let index = first + position;
            // SAFETY: the tile has an item at this position. The assertion above has compared the lengths.
            unsafe {
                let key = keys.load_unchecked(index);
                let key = if encodes { key.encode(masks) } else { key };
                keys_out.store_unchecked(index, if decodes { key.decode(masks) } else { key });
                if !P::IS_NONE {
                    let value = if values.is_empty() { P::of_index(index) } else { values.load_unchecked(index) };
                    values_out.store_unchecked(index, value);
                }
            }
        });
        return;
    }
    if encodes {
        own_items.encode(&mut own, masks);
    }

    let mask = digit_mask(bits);
    let again = recomputed(shift);
    // Two ranks per word.
    let mut ranks = [0; N];
    let of_digit = rank_digits::<N, WARPS>(
        items,
        |item| own[item].digit(shift, mask),
        |item| own[item].digit(again, mask),
        counters,
        aggregates,
        |count| states.store_relaxed(tile * RADIX + thread, if tile == 0 { PREFIX } else { AGGREGATE } | count),
        |item, rank| {
            // SAFETY: a rank is below the number of keys in a tile.
            unsafe { sorted.store_unchecked(rank as usize, own[item]) };
            ranks[item / 2] |= rank << (16 * (item % 2));
        },
    );
    // Not kept in a register while the block ranks.
    let tile = drawn.load(0) as usize;
    let is_last_tile = tile as u32 + 1 == blocks;
    if thread < RADIX {
        let start = words.load(starts as usize + thread);
        // SAFETY: the assertion above has checked that this tile and all earlier tiles have states.
        let before = unsafe { look_back(states, tile, thread) };
        if tile > 0 {
            states.store_relaxed(tile * RADIX + thread, PREFIX | (before + of_digit.count()));
        }
        let start = start + u64::from(before);
        if is_last_tile {
            words.store(next_starts as usize + thread, start + u64::from(of_digit.count()));
        }
        // All keys with smaller digits are before the start, also those of this tile.
        // An offset may be negative: keys beyond the end of the last tile count as the largest digit.
        offsets.store(thread, start.wrapping_sub(u64::from(of_digit.start())));
    }
    let own = own_items.load_values(values);
    thread::sync_threads();
    if !P::IS_NONE {
        unroll!(I in N => {
            let rank = opaque(ranks[I / 2]) >> (16 * (I % 2)) & 0xFFFF;
            if (I as u32) < items {
                // SAFETY: a rank is below the number of payloads in a tile.
                unsafe { payloads.store_unchecked(rank as usize, own[I]) };
            }
        });
        thread::sync_threads();
    }

    let (masks, count) = (K::masks(Encoding::from_code(recomputed(encoding))), count_of(tile));
    // The index of an item is its position in the sorted tile plus the offset of its digit.
    for_each_position::<WARPS>(count, |position| {
        // SAFETY: the position is below the number of keys in the tile. The starts, the counts of the tiles before and
        // the position in the tile add up to the key's index among all keys.
        unsafe {
            let key = sorted.load_unchecked(position);
            let offset = offsets.load_unchecked(key.digit(shift, mask) as usize) as usize;
            let index = offset.wrapping_add(position);
            keys_out.store_unchecked(index, if decodes { key.decode(masks) } else { key });
        }
    });
    if !P::IS_NONE {
        for_each_position::<WARPS>(count, |position| {
            // SAFETY: the same, and `values_out` is as long as `keys_out`.
            unsafe {
                let digit = sorted.load_unchecked(position).digit(shift, mask);
                let index = (offsets.load_unchecked(digit as usize) as usize).wrapping_add(position);
                values_out.store_unchecked(index, payloads.load_unchecked(position));
            }
        });
    }
}

/// Returns `value`, which must be the same in all lanes. What is computed from the result is computed anew: the
/// compilers do not know that it equals `value`, and would otherwise keep earlier results in registers until they are
/// needed.
#[inline(always)]
fn recomputed(value: u32) -> u32 {
    shuffle_idx(value, 0)
}

/// Calls `process` with each position below `count` of the calling thread: the thread's index, and then in steps of the
/// block's size.
///
/// A few calls are unrolled, so that their loads overlap. More would only need space in the instruction cache.
#[inline(always)]
fn for_each_position<const WARPS: usize>(count: u32, process: impl Fn(usize)) {
    const CALLS: usize = 4;
    let threads = (WARPS * LANES) as u32;
    let mut position = thread::thread_idx_x();
    while position < count {
        unroll!(C in CALLS => {
            let position = position + C as u32 * threads;
            if position < count {
                process(position as usize);
            }
        });
        position += CALLS as u32 * threads;
    }
}

/// Returns the number of keys with `digit` in the tiles of the portion before `tile`.
///
/// A thread loads the states of several tiles at once, because it would otherwise wait for memory once per tile.
///
/// # Safety
/// `states` must have the words of `tile` and of all tiles before.
#[inline(always)]
unsafe fn look_back(states: GlobalMut<u32>, tile: usize, digit: usize) -> u32 {
    let (mut before, mut word) = (0, (tile * RADIX + digit) as u32);
    loop {
        // Before the first tile, a prefix of 0 ends the search.
        let mut loaded = [PREFIX; LOOK_BACK];
        unroll!(I in LOOK_BACK => {
            let back = ((I + 1) * RADIX) as u32;
            if word >= back {
                // SAFETY: by this function's contract, the tile has words.
                loaded[I] = unsafe { states.load_relaxed_unchecked((word - back) as usize) };
            }
        });
        let (mut is_published, mut is_done) = (true, false);
        unroll!(I in LOOK_BACK => {
            is_published &= loaded[I] >= AGGREGATE;
            if is_published && !is_done {
                before += loaded[I] & COUNT;
                is_done = loaded[I] >= PREFIX;
                word -= if is_done { 0 } else { RADIX as u32 };
            }
        });
        if is_done {
            return before;
        }
    }
}

/// The items of a thread in a tile, in the warp-striped arrangement: they are 32 apart.
#[derive(Clone, Copy)]
struct Items<const N: usize> {
    /// The index of the thread's first item in the array.
    start: usize,
    /// The number of items from the thread's first to the end of the tile. Item `I` exists if `I` · 32 is less. The
    /// comparison needs no register per item.
    room: u32,
}

impl<const N: usize> Items<N> {
    /// Returns the thread's items of the tile that starts at `first` and has `count` items, up to `items` per thread.
    #[inline(always)]
    fn new(first: usize, count: u32, items: u32) -> Self {
        let (own, lane) = (items * warp::SIZE, warp::lane_id());
        let before = warp::warp_id() * own + lane;
        Self { start: first + before as usize, room: count.saturating_sub(before).min(own - lane) }
    }

    /// Returns true if item `i` of the thread exists.
    #[inline(always)]
    fn has(self, i: usize) -> bool {
        ((i * LANES) as u32) < self.room
    }

    /// Loads the thread's items of `x`. An item beyond the end is `default`.
    #[inline(always)]
    fn load<T: Element>(self, x: Global<T>, default: T) -> [T; N] {
        let mut items = [default; N];
        unroll!(I in N => {
            if self.has(I) {
                // SAFETY: the item exists.
                items[I] = unsafe { x.load_unchecked(self.start + I * LANES) };
            }
        });
        items
    }

    /// Loads the thread's values, or returns the indices of its items if there are no `values`. Without payloads, the
    /// values have no meaning.
    #[inline(always)]
    fn load_values<P: Payload>(self, values: Global<P>) -> [P; N] {
        if !P::IS_NONE && !values.is_empty() {
            return self.load(values, P::zeroed());
        }
        let mut items = [P::zeroed(); N];
        unroll!(I in N => { items[I] = P::of_index(self.start + I * LANES); });
        items
    }

    /// Encodes the keys of the thread that exist. The others stay [`KeyBits::MAX`].
    #[inline(always)]
    fn encode<K: KeyBits>(self, keys: &mut [K; N], masks: Masks<K>) {
        unroll!(I in N => {
            if self.has(I) {
                keys[I] = keys[I].encode(masks);
            }
        });
    }
}
