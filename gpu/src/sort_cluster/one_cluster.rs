//! One cluster: a radix sort of few keys in one launch, by the blocks of one cluster, whose shared memory holds all
//! keys.
//!
//! The places of the whole order are divided evenly among the blocks: block *b* has the places from *b* · *share* on.
//! In each pass of eight bits, a block has the keys of its places in registers. It counts their digits and stores the
//! counts in the shared memory of every block. While it waits for the counts of the others, it ranks its keys
//! ([`ranks`](crate::collective::ranks)) and puts them in order in its own shared memory. It then knows where its first
//! key of each digit belongs in the whole order, and stores its keys in the shared memory of the blocks that have these
//! places. Keys with the same digit are adjacent, so the stores of a warp touch few blocks and segments. The last pass
//! stores to global memory instead.
//!
//! The kernel is limited by latency: of the barriers of the cluster, two per pass, and of shared memory.
//!
//! Sources: A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", NVIDIA, 2022, for
//! the passes; the guide for CUDA C++, "Distributed Shared Memory", for a histogram in the memory of a cluster.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

use cuda_std::{Global, GlobalMut, cluster, dynamic_shared, kernel, shared_array, thread, unroll, warp};

use crate::collective::LANES;
use crate::collective::arrangement::for_each_chunk;
use crate::collective::block::clear;
use crate::collective::ranks::{DIGIT_BITS, OfDigit, RADIX, RADIX_WARPS, WarpWords, rank_words, scan_counts};
use crate::sort_key::{Encoding, KeyBits, NoPayload, Payload, digit_mask};

/// The number of threads per block.
pub const CLUSTER_THREADS: u32 = 512;

const WARPS: usize = CLUSTER_THREADS as usize / LANES;

/// The largest number of keys per thread.
pub const CLUSTER_ITEMS: usize = 8;

/// The number of keys that a thread moves to other blocks at a time.
const CHUNK: usize = 4;

/// The largest number of blocks.
pub const CLUSTER_BLOCKS: u32 = 16;

/// The number of words of dynamic shared memory before the keys: those of the ranks, and the counts of all blocks.
const WORDS: usize = rank_words(WARPS) + CLUSTER_BLOCKS as usize * RADIX;

/// Returns the number of bytes of dynamic shared memory for `items` keys of `key` bytes per thread, with payloads of
/// `payload` bytes.
pub const fn cluster_bytes(items: usize, key: usize, payload: usize) -> usize {
    4 * WORDS + 2 * items * CLUSTER_THREADS as usize * (key + payload)
}

/// Sorts keys by the bits `begin..end` of their encodings, in the shared memory of one cluster.
///
/// `encoding` must be the code of an [`Encoding`]. If `keys` is empty, the kernel sorts `keys_out` in place, with its
/// values in `values_out`. Otherwise `keys_out` must be as long as `keys`, and `values` must have a value for each key
/// or be empty. If `values` is empty and `keys` is not, the values are the indices of the keys. `values_out` must be as
/// long as `keys_out`.
///
/// Launch one cluster of up to [`CLUSTER_BLOCKS`] blocks of [`CLUSTER_THREADS`] threads, with [`cluster_bytes`] bytes
/// of dynamic shared memory. Each thread processes `items` keys, at most [`CLUSTER_ITEMS`]. All threads together must
/// have room for all keys.
#[kernel(
    max_threads = 512,
    min_blocks = 1,
    instances(K = [u32, u64], P = [NoPayload, u32]),
    allow(generic = "so GPUs reach the memory of other blocks")
)]
pub fn sort_cluster<K: KeyBits, P: Payload>(
    keys: Global<K>,
    values: Global<P>,
    keys_out: GlobalMut<K>,
    values_out: GlobalMut<P>,
    begin: u32,
    end: u32,
    encoding: u32,
    items: u32,
) {
    let begun = cluster::arrive_relaxed();
    let (n, in_place, blocks) = (keys_out.len(), keys.is_empty(), cluster::num_blocks());
    let share = items * CLUSTER_THREADS;
    assert!(thread::block_size() == CLUSTER_THREADS && thread::grid_dim_x() == blocks && blocks <= CLUSTER_BLOCKS);
    assert!(share > 0 && items as usize <= CLUSTER_ITEMS && n <= (blocks * share) as usize);
    assert!(begin < end && end <= K::BITS && (in_place || n == keys.len()));
    assert!(P::IS_NONE || values_out.len() == n && (values.is_empty() || values.len() == n));
    let aggregates = shared_array![u32; RADIX_WARPS];
    let offsets = shared_array![u32; RADIX];
    let counters = dynamic_shared::<u32>().part(0, rank_words(WARPS));
    let counts = dynamic_shared::<u32>().part(rank_words(WARPS), CLUSTER_BLOCKS as usize * RADIX);
    let (room, before) = (share as usize, 4 * WORDS);
    let sorted = dynamic_shared::<K>().part(before / size_of::<K>(), room);
    let received = dynamic_shared::<K>().part(before / size_of::<K>() + room, room);
    let before = before + 2 * room * size_of::<K>();
    let values_room = if P::IS_NONE { 0 } else { room };
    let values_sorted = dynamic_shared::<P>().part(before / size_of::<P>(), values_room);
    let values_received = dynamic_shared::<P>().part(before / size_of::<P>() + values_room, values_room);
    clear(counters);

    let (thread, block) = (thread::thread_idx_x() as usize, cluster::block_rank());
    // The position of the thread's first key in the block's share. The others are `LANES` apart.
    let own = (warp::warp_id() * (items * warp::SIZE) + warp::lane_id()) as usize;
    let masks = K::masks(Encoding::from_code(encoding));
    let (mut own_keys, mut own_values) = ([K::MAX; CLUSTER_ITEMS], [P::of_index(0); CLUSTER_ITEMS]);
    unroll!(I in CLUSTER_ITEMS => {
        let index = block as usize * room + own + I * LANES;
        if (I as u32) < items && index < n {
            own_keys[I] = if in_place { keys_out.load(index) } else { keys.load(index) }.encode(masks);
            if !P::IS_NONE {
                own_values[I] = if in_place {
                    values_out.load(index)
                } else if values.is_empty() {
                    P::of_index(index)
                } else {
                    values.load(index)
                };
            }
        }
    });
    let digits = WarpWords::of_warp::<WARPS>(counters);
    // A product with this number has the quotient by `share` in its upper word, for each place of a cluster.
    let reciprocal = u32::MAX / share + 1;
    thread::sync_threads();
    cluster::wait(begun);

    let mut shift = begin;
    loop {
        let mask = digit_mask(end - shift);
        unroll!(I in CLUSTER_ITEMS => {
            if (I as u32) < items {
                digits.count(own_keys[I].digit(shift, mask));
            }
        });
        let of_digit = scan_counts::<WARPS>(counters, aggregates, |_| ());
        if thread < RADIX {
            for other in 0..blocks {
                // SAFETY: `other` is the rank of a block of the cluster.
                let counts = unsafe { cluster::map_shared_unchecked(counts, other) };
                counts.store(block as usize * RADIX + thread, of_digit.word());
            }
        }
        let arrival = cluster::arrive();
        unroll!(I in CLUSTER_ITEMS => {
            if (I as u32) < items {
                let rank = digits.rank_soon(own_keys[I].digit(shift, mask)) as usize;
                // SAFETY: a rank is below the number of items of the block, which is `room`.
                unsafe { sorted.store_unchecked(rank, own_keys[I]) };
                if !P::IS_NONE {
                    // SAFETY: the same.
                    unsafe { values_sorted.store_unchecked(rank, own_values[I]) };
                }
            }
        });
        digits.clear_counters();
        cluster::wait(arrival);

        if thread < RADIX {
            // The keys with smaller digits of all blocks come before the first key, and the keys with this digit of the
            // blocks before. A position in the sorted block already counts those of the block with smaller digits.
            let mut offset = 0;
            for other in 0..blocks {
                let of_other = OfDigit::from_word(counts.load(other as usize * RADIX + thread));
                offset += of_other.start() + if other < block { of_other.count() } else { 0 };
            }
            offsets.store(thread, offset - of_digit.start());
        }
        thread::sync_threads();
        let is_last = end - shift <= DIGIT_BITS;
        for_each_chunk::<CHUNK>(items as usize, |first| {
            unroll!(C in CHUNK => {
                if first + C < items as usize {
                    let position = thread + (first + C) * CLUSTER_THREADS as usize;
                    // SAFETY: the position is below the number of items of the block, and a digit below `RADIX`.
                    let (key, offset) = unsafe {
                        let key = sorted.load_unchecked(position);
                        (key, offsets.load_unchecked(key.digit(shift, mask) as usize))
                    };
                    let place = position as u32 + offset;
                    // SAFETY: the same.
                    let value = if P::IS_NONE { None } else { Some(unsafe { values_sorted.load_unchecked(position) }) };
                    if is_last {
                        if (place as usize) < n {
                            keys_out.store(place as usize, key.decode(masks));
                            if let Some(value) = value {
                                values_out.store(place as usize, value);
                            }
                        }
                    } else {
                        let owner = ((u64::from(place) * u64::from(reciprocal)) >> 32) as u32;
                        let position = (place - owner * share) as usize;
                        // SAFETY: a place is below `share` times the number of blocks. Its quotient by `share` is the
                        // rank of a block, and the remainder a position there.
                        unsafe { cluster::map_shared_unchecked(received, owner).store_unchecked(position, key) };
                        if let Some(value) = value {
                            // SAFETY: the same.
                            unsafe {
                                cluster::map_shared_unchecked(values_received, owner).store_unchecked(position, value);
                            }
                        }
                    }
                }
            });
        });
        if is_last {
            return;
        }
        cluster::sync();
        unroll!(I in CLUSTER_ITEMS => {
            if (I as u32) < items {
                own_keys[I] = received.load(own + I * LANES);
                if !P::IS_NONE {
                    own_values[I] = values_received.load(own + I * LANES);
                }
            }
        });
        shift += DIGIT_BITS;
    }
}
