//! One sweep: a pass sorts by eight bits and reads and writes every key once.
//!
//! A block ranks the keys of its tile by the digit of the pass ([`ranks`](crate::collective::ranks)) and publishes how
//! many keys it has of each digit. It then looks back: for each digit, a thread adds the counts of the tiles before,
//! until it finds a tile that has published the sum of its own and all earlier counts. Meanwhile the block puts the
//! keys in order in shared memory. Keys with the same digit are then adjacent, so the stores of a warp touch few cache
//! lines.
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
//! The kernel is limited by shared memory: the accesses at random digits conflict in banks.
//!
//! Sources: A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", NVIDIA, 2022;
//! CUB's `DeviceRadixSort`.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, opaque, shared_array, thread, unroll, warp};

use super::digit_counts::digit_mask;
use super::key::{Encoding, KeyBits, Masks, NoPayload, Payload, Words4};
use super::tuning::{LOOK_BACK, THREADS, WARPS};
use super::words::{CONSTANT, TICKET};
use crate::collective::LANES;
use crate::collective::ranks::{RADIX, RADIX_WARPS, rank_digits, rank_words};

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

/// The shared memory of a tile with `N` items per thread in a block of `WARPS` warps.
pub struct Staging<K, P, const N: usize, const WARPS: usize>(core::marker::PhantomData<(K, P)>);

impl<K, P, const N: usize, const WARPS: usize> Staging<K, P, N, WARPS> {
    /// The number of 64-bit words: for the counters and masks of the ranks, or for all keys, or for all payloads.
    pub const WORDS: usize = {
        let item = if size_of::<K>() > size_of::<P>() { size_of::<K>() } else { size_of::<P>() };
        let (items, ranks) = (N * WARPS * LANES * item, rank_words(WARPS) * 4);
        (if items > ranks { items } else { ranks }).div_ceil(8)
    };
}

/// Sorts one portion of the keys by one digit: the keys from `first` on, one tile per block.
///
/// The digit has the bits `shift..shift + bits` of the encoded key; `pass` is its number. `ends` has [`FIRST`] or
/// [`LAST`] or both set in the passes that encode or decode the keys by `encoding`, the code of an [`Encoding`].
///
/// `values` has a value for each key. If it is empty, the values are the indices of the keys. `keys_out` and
/// `values_out` must be as long as `keys`. Launch a one-dimensional grid with one block of [`THREADS`] threads per tile
/// of `N` · [`THREADS`] keys.
///
/// `words` must have [`WORDS`](super::WORDS) elements. `starts` is the index of the portion's starts and `next_starts`
/// that of the next portion's, which this launch writes. `states` has two sets. This launch uses set `set`, which must
/// be 0, and clears the other set.
#[kernel(
    max_threads = 384,
    min_blocks = 2,
    instances(K = [u8, u16], P = [NoPayload, u32], N = [10]),
    instances(K = [u32], P = [NoPayload], N = [17]),
    instances(K = [u32], P = [u32], N = [10]),
    instances(K = [u64], P = [NoPayload], N = [12]),
    instances(K = [u64], P = [u64], N = [11]),
    instances(K = [u64], P = [u32], N = [8]),
    instances(K = [u32], P = [u64], N = [12]),
    instances(K = [u32, u64], P = [Words4], N = [7])
)]
pub fn sort_one_sweep<K: KeyBits, P: Payload, const N: usize>(
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
) {
    assert!(thread::block_size() == THREADS && keys_out.len() == keys.len());
    assert!(P::IS_NONE || values_out.len() == keys.len() && (values.is_empty() || values.len() == keys.len()));
    assert!(starts as usize + RADIX <= words.len() && next_starts as usize + RADIX <= words.len());
    let drawn = shared_array![u32; 1];
    let aggregates = shared_array![u32; RADIX_WARPS];
    let offsets = shared_array![u32; 2 * RADIX];
    let staging = shared_array![u64; Staging::<K, P, N, WARPS>::WORDS];
    let (thread, blocks) = (thread::thread_idx_x() as usize, thread::grid_dim_x());
    if thread == 0 {
        let ticket = words.atomic_add(TICKET, 1) as u32;
        if ticket + 1 == blocks {
            words.store_relaxed(TICKET, 0);
        }
        drawn.store(0, ticket);
    }
    let counters = staging.cast::<u32>().part(0, rank_words(WARPS));
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
            word += THREADS as usize;
        }
    }

    let items = Items::<N> { first: first + tile * Items::<N>::TILE, len: keys.len() };
    let masks = K::masks(Encoding::from_code(encoding));
    let encodes = ends & FIRST != 0 && encoding != 0;
    let decodes = ends & LAST != 0 && encoding != 0;
    let mut own = items.load(keys, K::MAX);
    if words.load(CONSTANT) >> pass & 1 != 0 {
        if encodes != decodes {
            items.recode(&mut own, masks, encodes);
        }
        items.store(keys_out, own);
        if !P::IS_NONE {
            items.store(values_out, items.load_values(values));
        }
        return;
    }
    if encodes {
        items.recode(&mut own, masks, true);
    }

    let mask = digit_mask(bits);
    let ranks = rank_digits::<N, WARPS>(
        |item| own[item].digit(shift, mask),
        counters,
        aggregates,
        |count| states.store_relaxed(tile * RADIX + thread, if tile == 0 { PREFIX } else { AGGREGATE } | count),
    );
    thread::sync_threads();
    let sorted = staging.cast::<K>();
    // SAFETY: a rank is below the number of keys in a tile.
    unroll!(I in N => { unsafe { sorted.store_unchecked(ranks.ranks[I] as usize, own[I]) } });
    if thread < RADIX {
        // SAFETY: the assertion above has checked that this tile and all earlier tiles have states.
        let before = unsafe { look_back(states, tile, thread) };
        if tile > 0 {
            states.store_relaxed(tile * RADIX + thread, PREFIX | (before + ranks.count));
        }
        let start = words.load(starts as usize + thread) + u64::from(before);
        if is_last_tile {
            words.store(next_starts as usize + thread, start + u64::from(ranks.count));
        }
        // All keys with smaller digits are before the start, also those of this tile.
        let offset = start - u64::from(ranks.start);
        offsets.store(thread, offset as u32);
        offsets.store(RADIX + thread, (offset >> 32) as u32);
    }
    thread::sync_threads();

    let scatter = Scatter { offsets, is_far: keys.len() > u32::MAX as usize };
    // The digits of four keys per word.
    let mut digits = [0; N];
    unroll!(I in N => {
        let position = I * THREADS as usize + thread;
        if position < items.count() {
            // SAFETY: `position` is below the number of keys in the tile.
            let key = unsafe { sorted.load_unchecked(position) };
            let digit = key.digit(shift, mask);
            digits[I / 4] |= digit << (8 * (I % 4));
            let key = if decodes { key.decode(masks) } else { key };
            // SAFETY: the starts, the counts of the tiles before and the position in the tile add up to the key's index
            // among all keys.
            unsafe { keys_out.store_unchecked(scatter.index(digit, position), key) };
        }
    });
    if P::IS_NONE {
        return;
    }
    let own = items.load_values(values);
    thread::sync_threads();
    let sorted = staging.cast::<P>();
    // SAFETY: a rank is below the number of values in a tile.
    unroll!(I in N => { unsafe { sorted.store_unchecked(ranks.ranks[I] as usize, own[I]) } });
    thread::sync_threads();
    unroll!(I in N => {
        let position = I * THREADS as usize + thread;
        if position < items.count() {
            let index = scatter.index(digits[I / 4] >> (8 * (I % 4)), position);
            // SAFETY: `position` is below the number of values in the tile, and `values_out` is as long as `keys_out`,
            // which has element `index`.
            unsafe { values_out.store_unchecked(index, sorted.load_unchecked(position)) };
        }
    });
}

/// Sets all elements of `words` to 0, in 16-byte stores.
#[inline(always)]
pub(super) fn clear(words: Shared<u32>) {
    let vectors = words.cast::<[u32; 4]>();
    for i in thread::block_stride(vectors.len()) {
        vectors.store(i, [0; 4]);
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
    let (mut before, mut word) = (0, tile * RADIX + digit);
    loop {
        // Before the first tile, a prefix of 0 ends the search.
        let mut loaded = [PREFIX; LOOK_BACK];
        unroll!(I in LOOK_BACK => {
            if word >= (I + 1) * RADIX {
                // SAFETY: by this function's contract, the tile has words.
                loaded[I] = unsafe { states.load_relaxed_unchecked(word - (I + 1) * RADIX) };
            }
        });
        let (mut is_published, mut is_done) = (true, false);
        unroll!(I in LOOK_BACK => {
            is_published &= loaded[I] >= AGGREGATE;
            if is_published && !is_done {
                before += loaded[I] & COUNT;
                is_done = loaded[I] >= PREFIX;
                word -= if is_done { 0 } else { RADIX };
            }
        });
        if is_done {
            return before;
        }
    }
}

/// The items of a thread in a tile, in the warp-striped arrangement.
#[derive(Clone, Copy)]
struct Items<const N: usize> {
    /// The index of the tile's first item.
    first: usize,
    /// The number of items in the array.
    len: usize,
}

impl<const N: usize> Items<N> {
    /// The number of items in a whole tile.
    const TILE: usize = N * THREADS as usize;

    /// Returns the number of items in the tile.
    #[inline(always)]
    fn count(self) -> usize {
        (self.len - self.first).min(Self::TILE)
    }

    /// Returns the index in the array of the thread's first item. The others are 32 apart.
    #[inline(always)]
    fn start(self) -> usize {
        // Without `opaque`, the compiler would keep the indices of all items in registers from one call to the next.
        opaque(self.first + warp::warp_id() as usize * (N * LANES) + warp::lane_id() as usize)
    }

    /// Loads the thread's items of `x`. An item beyond the end is `default`.
    #[inline(always)]
    fn load<T: Element>(self, x: Global<T>, default: T) -> [T; N] {
        let (mut items, start) = ([default; N], self.start());
        if self.count() == Self::TILE {
            // SAFETY: the whole tile lies in `x`.
            unroll!(I in N => { items[I] = unsafe { x.load_unchecked(start + I * LANES) }; });
        } else {
            unroll!(I in N => {
                if start + I * LANES < self.len {
                    // SAFETY: the index is below the length.
                    items[I] = unsafe { x.load_unchecked(start + I * LANES) };
                }
            });
        }
        items
    }

    /// Loads the thread's values, or returns the indices of its items if there are no `values`.
    #[inline(always)]
    fn load_values<P: Payload>(self, values: Global<P>) -> [P; N] {
        if !values.is_empty() {
            return self.load(values, P::zeroed());
        }
        let (mut items, start) = ([P::zeroed(); N], self.start());
        unroll!(I in N => { items[I] = P::of_index(start + I * LANES); });
        items
    }

    /// Stores the thread's items in `y`, at the indices where [`load`](Self::load) has found them.
    #[inline(always)]
    fn store<T: Element>(self, y: GlobalMut<T>, items: [T; N]) {
        let start = self.start();
        unroll!(I in N => {
            if start + I * LANES < self.len {
                // SAFETY: the index is below the length.
                unsafe { y.store_unchecked(start + I * LANES, items[I]) };
            }
        });
    }

    /// Encodes or decodes the keys of the thread that exist. The others stay [`KeyBits::MAX`].
    #[inline(always)]
    fn recode<K: KeyBits>(self, keys: &mut [K; N], masks: Masks<K>, encodes: bool) {
        let start = self.start();
        unroll!(I in N => {
            if start + I * LANES < self.len {
                keys[I] = if encodes { keys[I].encode(masks) } else { keys[I].decode(masks) };
            }
        });
    }
}

/// The offsets of a tile's digits: the index of an item is its position in the sorted tile plus the offset of its
/// digit.
#[derive(Clone, Copy)]
struct Scatter {
    /// The lower 32 bits of the offset of each digit, then the upper 32 bits.
    offsets: Shared<u32>,
    /// True if indices need more than 32 bits.
    is_far: bool,
}

impl Scatter {
    /// Returns the index of the item at `position` of the sorted tile, whose digit is `digit`.
    #[inline(always)]
    fn index(self, digit: u32, position: usize) -> usize {
        let digit = digit as usize % RADIX;
        let low = self.offsets.load(digit);
        if self.is_far {
            return (u64::from(low) | u64::from(self.offsets.load(RADIX + digit)) << 32) as usize + position;
        }
        low.wrapping_add(position as u32) as usize
    }
}
