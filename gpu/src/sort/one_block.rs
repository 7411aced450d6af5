//! One block: all passes in one launch, for keys that fit into the shared memory of one block. Many segments of keys
//! are sorted by as many blocks.
//!
//! Shared memory has two buffers for keys, and two for payloads. In each pass, the block ranks the keys by eight bits
//! ([`ranks`](crate::collective::ranks)) and moves them from one buffer to the other. A thread processes
//! [`ONE_BLOCK_CHUNK`] keys at a time, so that their loads overlap. The loops are not unrolled further, because a small
//! sort would wait for its instructions.
//!
//! The kernel is limited by latency: of memory, and of the accesses to shared memory, one after the other.

use cuda_std::{Global, GlobalMut, dynamic_shared, kernel, shared_array, thread, unroll, warp};

use super::tuning::{ONE_BLOCK_CHUNK, ONE_BLOCK_THREADS, ONE_BLOCK_WARPS};
use crate::collective::LANES;
use crate::collective::arrangement::for_each_chunk;
use crate::collective::block::clear;
use crate::collective::ranks::{DIGIT_BITS, RADIX_WARPS, WarpWords, rank_words, scan_counts};
use crate::sort_key::{Encoding, KeyBits, NoPayload, Payload, Words4, digit_mask};

/// Returns the number of bytes of dynamic shared memory for `items` keys of `key` bytes per thread, with payloads of
/// `payload` bytes.
pub const fn one_block_bytes(items: u32, key: usize, payload: usize) -> usize {
    4 * rank_words(ONE_BLOCK_WARPS) + 2 * (items * ONE_BLOCK_THREADS) as usize * (key + payload)
}

/// Sorts the keys of each segment by the bits `begin..end` of their encodings. A block sorts one segment at a time.
///
/// `segments` has the indices of the first key of each segment and of the key after its last. Segments must not
/// overlap, and a segment must have at most `items` · [`ONE_BLOCK_THREADS`] keys. Keys in no segment are not accessed.
/// If `segments` is empty, all keys form one segment.
///
/// `encoding` must be the code of an [`Encoding`]. If `keys` is empty, the kernel sorts `keys_out` in place, with its
/// values in `values_out`. Otherwise `keys_out` must be as long as `keys`, and `values` must have a value for each key
/// or be empty. If `values` is empty and `keys` is not, the values are the indices of the keys. `values_out` must be as
/// long as `keys_out`. Launch a one-dimensional grid of any size with blocks of [`ONE_BLOCK_THREADS`] threads and
/// [`one_block_bytes`] bytes of dynamic shared memory.
#[kernel(
    max_threads = 512,
    min_blocks = 1,
    instances(K = [u8, u16], P = [NoPayload]),
    instances(K = [u32, u64], P = [NoPayload, u32, u64, Words4])
)]
pub fn sort_one_block<K: KeyBits, P: Payload>(
    keys: Global<K>,
    values: Global<P>,
    keys_out: GlobalMut<K>,
    values_out: GlobalMut<P>,
    segments: Global<u64>,
    begin: u32,
    end: u32,
    encoding: u32,
    items: u32,
) {
    let (n, in_place) = (keys_out.len(), keys.is_empty());
    assert!(thread::block_size() == ONE_BLOCK_THREADS && begin < end && end <= K::BITS);
    assert!((in_place || n == keys.len()) && segments.len().is_multiple_of(2));
    assert!(P::IS_NONE || values_out.len() == n && (values.is_empty() || values.len() == n));
    let aggregates = shared_array![u32; RADIX_WARPS];
    let (room, before) = ((items * ONE_BLOCK_THREADS) as usize, 4 * rank_words(ONE_BLOCK_WARPS));
    let counters = dynamic_shared::<u32>().part(0, rank_words(ONE_BLOCK_WARPS));
    let keys_a = dynamic_shared::<K>().part(before / size_of::<K>(), room);
    let keys_b = dynamic_shared::<K>().part(before / size_of::<K>() + room, room);
    let before = before + 2 * room * size_of::<K>();
    let values_room = if P::IS_NONE { 0 } else { room };
    let values_a = dynamic_shared::<P>().part(before / size_of::<P>(), values_room);
    let values_b = dynamic_shared::<P>().part(before / size_of::<P>() + values_room, values_room);
    let digits = WarpWords::of_warp::<ONE_BLOCK_WARPS>(counters);
    let masks = K::masks(Encoding::from_code(encoding));
    let count = if segments.is_empty() { 1 } else { segments.len() / 2 };
    let mut segment = thread::block_idx_x() as usize;
    while segment < count {
        let (start, stop) = if segments.is_empty() {
            (0, n)
        } else {
            (segments.load(2 * segment) as usize, segments.load(2 * segment + 1) as usize)
        };
        assert!(start <= stop && stop <= n && stop - start <= room);
        let items = (stop - start).div_ceil(ONE_BLOCK_THREADS as usize);
        // The position of the thread's first key in the segment. The others are `LANES` apart.
        let own = warp::warp_id() as usize * (items * LANES) + warp::lane_id() as usize;
        let (mut from, mut to, mut values_from, mut values_to) = (keys_a, keys_b, values_a, values_b);
        clear(counters);
        for_each_chunk::<ONE_BLOCK_CHUNK>(items, |first| {
            let (mut chunk, mut chunk_values) = ([K::MAX; ONE_BLOCK_CHUNK], [P::of_index(0); ONE_BLOCK_CHUNK]);
            unroll!(C in ONE_BLOCK_CHUNK => {
                let index = start + own + (first + C) * LANES;
                if first + C < items && index < stop {
                    chunk[C] = if in_place { keys_out.load(index) } else { keys.load(index) }.encode(masks);
                    if !P::IS_NONE {
                        chunk_values[C] = if in_place {
                            values_out.load(index)
                        } else if values.is_empty() {
                            P::of_index(index)
                        } else {
                            values.load(index)
                        };
                    }
                }
            });
            unroll!(C in ONE_BLOCK_CHUNK => {
                if first + C < items {
                    let position = own + (first + C) * LANES;
                    // SAFETY: the thread has `items` positions, and all threads together have at most `room`.
                    unsafe { from.store_unchecked(position, chunk[C]) };
                    if !P::IS_NONE {
                        // SAFETY: the same.
                        unsafe { values_from.store_unchecked(position, chunk_values[C]) };
                    }
                }
            });
        });
        thread::sync_threads();

        let mut shift = begin;
        while shift < end {
            let mask = digit_mask(end - shift);
            // SAFETY: the item exists, so its position is below `room`.
            let key = |item: usize| unsafe { from.load_unchecked(own + item * LANES) };
            for_each_chunk::<ONE_BLOCK_CHUNK>(items, |first| {
                unroll!(C in ONE_BLOCK_CHUNK => {
                    if first + C < items {
                        digits.count(key(first + C).digit(shift, mask));
                    }
                });
            });
            scan_counts::<ONE_BLOCK_WARPS>(counters, aggregates, |_| ());
            for_each_chunk::<ONE_BLOCK_CHUNK>(items, |first| {
                let mut chunk = [K::MAX; ONE_BLOCK_CHUNK];
                unroll!(C in ONE_BLOCK_CHUNK => {
                    if first + C < items {
                        chunk[C] = key(first + C);
                    }
                });
                unroll!(C in ONE_BLOCK_CHUNK => {
                    if first + C < items {
                        let rank = digits.rank_soon(chunk[C].digit(shift, mask)) as usize;
                        // SAFETY: a rank is below the number of items of the block, which is at most `room`.
                        unsafe { to.store_unchecked(rank, chunk[C]) };
                        if !P::IS_NONE {
                            // SAFETY: the same, and the item exists.
                            unsafe {
                                values_to.store_unchecked(rank, values_from.load_unchecked(own + (first + C) * LANES));
                            }
                        }
                    }
                });
            });
            digits.clear_counters();
            thread::sync_threads();
            (from, to, values_from, values_to) = (to, from, values_to, values_from);
            shift += DIGIT_BITS;
        }

        for item in 0..items {
            let position = own + item * LANES;
            if start + position < stop {
                keys_out.store(start + position, from.load(position).decode(masks));
                if !P::IS_NONE {
                    values_out.store(start + position, values_from.load(position));
                }
            }
        }
        segment += thread::grid_dim_x() as usize;
    }
}
