//! Sort: puts *n* keys in order, and optionally moves a payload with each key. Equal keys keep their order.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`sort_bitonic_block()`] | a sorting network in the shared memory of one block | n ≤ 2048; a barrier per step |
//! | [`sort_bitonic_step()`] | the same network in global memory, over a grid | log₂ n · (log₂ n + 1) / 2 launches |
//! | [`sort_split_flags()`], [`sort_split_move()`] | by one bit per pass; a scan computes the places | 32 passes of three launches |
//! | [`sort_four_bit_counts()`], [`sort_four_bit_move()`] | by four bits per pass: count, scan, move | memory: 8 passes, each reads the keys twice |
//! | [`sort_digit_counts()`], [`sort_one_sweep()`] | by eight bits per pass, in one launch with look-back | shared memory: conflicts at random digits; with payloads: scattered stores |
//! | [`sort_one_block()`] | the same for few keys: all passes in one block and launch | the latency of shared memory |
//!
//! The last two rows form one rung, and the host selects one of them by the number of keys. For numbers between theirs,
//! one cluster of blocks sorts keys of 32 and 64 bits in one launch, if the device has clusters (`gpu::sort_cluster`).
//! The other rungs sort `u32` keys in ascending order, without a payload. A key of the last rung is an unsigned integer
//! of 8 to 64 bits, or is encoded as one ([`Encoding`]). A payload has 4, 8 or 16 bytes. All types of the same sizes
//! share one kernel instance. Structures are sorted by several fields through their indices ([`sort_gather()`]).
//!
//! Floor (the least possible time): the device reads all keys once for the counts, and reads and writes keys and
//! payloads once per pass, at its copy bandwidth. For 32-bit keys without a payload, these are 36 bytes per key.
//!
//! Sources: K. E. Batcher, "Sorting Networks and their Applications", AFIPS 1968; G. E. Blelloch, "Prefix Sums and
//! Their Applications", 1990; N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore
//! GPUs", IPDPS 2009; A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", NVIDIA,
//! 2022; CUB's `DeviceRadixSort`.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

pub mod tuning;
mod words;

pub use crate::sort_key::{Encoding, KeyBits, NoPayload, Payload, Words4};
pub use bitonic::pairs;
pub use bitonic_block::BLOCK_KEYS;
pub use digit_counts::count_bytes;
pub use four_bit::{DIGITS, FOUR_BIT_THREADS, FOUR_BIT_TILE, FOUR_BITS};
pub use one_block::one_block_bytes;
pub use one_sweep::{FIRST, LAST, one_sweep_bytes};
pub use words::{COUNTS, FINISHED, MAX_PASSES, MAX_PORTION, TICKET, WORDS, starts_of};

cuda_std::ladder! {
    /// Puts *n* keys in order, with or without payloads; equal keys keep their order.
    pub enum SortRung: sort {
        /// A sorting network in the shared memory of one block, for up to 2048 keys.
        bitonic_block,
        /// The same sorting network in global memory, with one launch per step.
        bitonic = sort_bitonic_step,
        /// By one bit per pass: a scan computes the place of each key.
        split = sort_split_flags + sort_split_move,
        /// By four bits per pass, in three launches: count, scan, move.
        four_bit = sort_four_bit_counts + sort_four_bit_move,
        /// By eight bits per pass, in one launch with look-back. Few keys are sorted by one block.
        one_sweep = sort_one_sweep + one_block::sort_one_block + digit_counts::sort_digit_counts,
    } also {
        gather::sort_gather
    }
}
