//! One block: all passes in one launch, for keys that fit into the shared memory of one block. Many segments of keys
//! are sorted by as many blocks.
//!
//! Shared memory has two buffers for keys, and two for payloads. In each pass, the block ranks the keys by eight bits
//! ([`ranks`](crate::collective::ranks)) and moves them from one buffer to the other. The loops are not unrolled,
//! because a small sort would wait for its instructions.
//!
//! The kernel is limited by latency: of memory, and of the accesses to shared memory, one after the other.

use cuda_std::{Global, GlobalMut, dynamic_shared, kernel, shared_array, thread, warp};

use super::digit_counts::digit_mask;
use super::key::{Encoding, KeyBits, NoPayload, Payload, Words4};
use super::one_sweep::clear;
use super::tuning::{ONE_BLOCK_THREADS, ONE_BLOCK_WARPS};
use crate::collective::LANES;
use crate::collective::ranks::{DIGIT_BITS, RADIX_WARPS, rank_digits_in_loop, rank_words};

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
        let items = (stop - start).div_ceil(ONE_BLOCK_THREADS as usize) as u32;
        // The position of the thread's first key in the segment. The others are `LANES` apart.
        let own = warp::warp_id() as usize * (items as usize * LANES) + warp::lane_id() as usize;
        let (mut from, mut to, mut values_from, mut values_to) = (keys_a, keys_b, values_a, values_b);
        let mut position = own;
        for _ in 0..items {
            let (index, mut key) = (start + position, K::MAX);
            if index < stop {
                key = if in_place { keys_out.load(index) } else { keys.load(index) }.encode(masks);
                if !P::IS_NONE {
                    let value = if in_place {
                        values_out.load(index)
                    } else if values.is_empty() {
                        P::of_index(index)
                    } else {
                        values.load(index)
                    };
                    values_from.store(position, value);
                }
            } else if !P::IS_NONE {
                values_from.store(position, P::of_index(0));
            }
            from.store(position, key);
            position += LANES;
        }

        let mut shift = begin;
        while shift < end {
            clear(counters);
            thread::sync_threads();
            let mask = digit_mask(end - shift);
            rank_digits_in_loop::<ONE_BLOCK_WARPS>(
                items,
                |item| from.load(own + item as usize * LANES).digit(shift, mask),
                counters,
                aggregates,
                |item, rank| {
                    to.store(rank as usize, from.load(own + item as usize * LANES));
                    if !P::IS_NONE {
                        values_to.store(rank as usize, values_from.load(own + item as usize * LANES));
                    }
                },
            );
            thread::sync_threads();
            (from, to, values_from, values_to) = (to, from, values_to, values_from);
            shift += DIGIT_BITS;
        }

        position = own;
        for _ in 0..items {
            if start + position < stop {
                keys_out.store(start + position, from.load(position).decode(masks));
                if !P::IS_NONE {
                    values_out.store(start + position, values_from.load(position));
                }
            }
            position += LANES;
        }
        segment += thread::grid_dim_x() as usize;
    }
}
