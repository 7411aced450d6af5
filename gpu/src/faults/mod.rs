//! Faulty kernels, with errors from textbooks and other common errors. Do not use them. They show which faults the
//! simulator finds. Tests check that the simulator reports each fault at the right lines.
//!
//! | kernel | fault | reported as | correct kernel |
//! |---|---|---|---|
//! | [`prefix_in_place()`] | reads and writes one buffer in a step | race in the block | [`scan_naive_block()`](crate::scan::scan_naive_block()) |
//! | [`warp_tail_unsynchronised()`] | assumes that the lanes of a warp run in lockstep | race in the warp | [`reduce_unrolled_last_warp()`](crate::reduce::reduce_unrolled_last_warp()) |
//! | [`tail_dropped()`], [`sum_partials()`] | ignores the elements after the last whole tile | read of uninitialised memory; out of bounds; wrong sum | [`reduce_unrolled()`](crate::reduce::reduce_unrolled()) |
//! | [`bound_wraps()`], [`bound_underflows()`] | `n − span` underflows; work done four times | out of bounds; panic; wrong result | [`saxpy_unrolled()`](crate::saxpy::saxpy_unrolled()) |
//! | [`life_in_place()`], [`life_in_place_blocks()`] | reads and writes one board | race in the block; between blocks | [`life_global()`](crate::life::life_global()), [`life_block()`](crate::life::life_block()) |
//! | [`tile_unsynchronised()`] | no barrier between write and read | race in the block | [`transpose_tile()`](crate::transpose::transpose_tile()) |
//! | [`tile_reused()`] | no barrier between read and next write | race in the block | [`reduce`](crate::reduce) |
//! | [`aggregates_reused()`], [`collective_in_branch()`] | no barrier between two scans of a block in one array; a scan that only some threads call | race in the block; barrier not reached | [`collective::block`](crate::collective::block) |
//! | [`barrier_in_branch()`], [`barriers_of_branches()`] | a barrier that only some threads reach | barrier not reached; two barriers | [`transpose_tile()`](crate::transpose::transpose_tile()) |
//! | [`barrier_of_two_calls()`], [`barrier_skipped()`] | lanes reach one barrier line by two calls, or in two iterations | one barrier, two call paths | one call, outside the branch |
//! | [`shuffle_outside_mask()`] | a mask that names lanes outside the branch | warp operation whose lanes never meet | [`reduce_shuffle()`](crate::reduce::reduce_shuffle()) |
//! | [`flag_before_value()`], [`flag_relaxed()`] | a flag that does not order its value | race between blocks | [`scan_look_back()`](crate::scan::scan_look_back()) |
//! | [`ticket_without_fences()`] | assumes that atomics order other accesses | race between blocks | [`reduce_grid_stride()`](crate::reduce::reduce_grid_stride()) |
//! | [`double_checked()`] | a relaxed load of a published state | race between blocks | an acquire load |
//! | [`vectors_misaligned()`] | vector accesses at any address | misaligned access | [`saxpy_vectorised()`](crate::saxpy::saxpy_vectorised()) |
//! | [`copies_not_waited_for()`], [`copies_over_reads()`] | reads an asynchronous copy too early; starts one too early | read of uninitialised memory; race in the block | [`scan_pipelined()`](crate::scan::scan_pipelined()) |
//! | [`cluster_unsynchronised()`] | no barrier of the cluster between write and read | race between blocks | [`cluster_reverse()`](crate::device_library::cluster_reverse()) |
//! | [`cluster_not_begun()`], [`cluster_ended()`] | no barrier of the cluster before the first access to another block, or after the last one | access to a block that may not have begun, or that may have ended | [`cluster_reverse()`](crate::device_library::cluster_reverse()) |
//! | [`cluster_barrier_in_branch()`], [`cluster_arrives_twice()`] | a barrier of the cluster that only some threads reach; two arrivals and one wait | barrier not reached; two arrivals | [`cluster_sum()`](crate::device_library::cluster_sum()) |
//! | [`cluster_without_last()`] | a rank that the cluster does not have | rank out of range | [`cluster_sum()`](crate::device_library::cluster_sum()) |
//!
//! One fault from the textbooks cannot be written in Rust. The down-sweep in Tuomanen's ch. 4 uses `tid` before its
//! definition. A C compiler finds another `tid` in an outer scope or rejects the code. Rust always rejects it.
//! [`scan_down_sweep()`](crate::scan::scan_down_sweep()) implements that algorithm.
//!
//! The feature `faults` is off by default, and `cargo xtask build-ptx` builds no PTX for it. A comment such as `//
//! fault: read` marks each line that the simulator's report must name.

#![allow(clippy::needless_range_loop, reason = "as in the kernels that these are the faulty versions of")]

mod barriers;
mod bound;
mod clusters;
mod collectives;
mod copies;
mod flags;
mod initialisation;
mod life;
mod prefix;
mod shuffle;
mod tail;
mod ticket;
mod tile;
mod tile_reuse;
mod vectors;
mod warp_tail;

pub use barriers::{barrier_in_branch, barrier_of_two_calls, barrier_skipped, barriers_of_branches};
pub use bound::{UNROLL, bound_underflows, bound_wraps};
pub use clusters::{
    cluster_arrives_twice, cluster_barrier_in_branch, cluster_ended, cluster_not_begun, cluster_unsynchronised,
    cluster_without_last,
};
pub use collectives::{aggregates_reused, collective_in_branch};
pub use copies::{THREADS, copies_not_waited_for, copies_over_reads};
pub use flags::{flag_before_value, flag_relaxed};
pub use initialisation::double_checked;
pub use life::{life_in_place, life_in_place_blocks};
pub use prefix::prefix_in_place;
pub use shuffle::shuffle_outside_mask;
pub use tail::{ITEMS, sum_partials, tail_dropped};
pub use ticket::ticket_without_fences;
pub use tile::{TILE, tile_unsynchronised};
pub use tile_reuse::tile_reused;
pub use vectors::vectors_misaligned;
pub use warp_tail::warp_tail_unsynchronised;

cuda_std::kernels! {
    /// Kernels with faults that the simulator's checks find.
    prefix_in_place,
    warp_tail_unsynchronised,
    tail_dropped,
    sum_partials,
    bound_wraps,
    bound_underflows,
    life_in_place,
    life_in_place_blocks,
    tile_unsynchronised,
    tile_reused,
    barrier_in_branch,
    barriers_of_branches,
    barrier_of_two_calls,
    barrier_skipped,
    shuffle_outside_mask,
    flag_before_value,
    flag_relaxed,
    ticket_without_fences,
    double_checked,
    vectors_misaligned,
    copies_not_waited_for,
    copies_over_reads,
    aggregates_reused,
    collective_in_branch,
    cluster_unsynchronised,
    cluster_not_begun,
    cluster_ended,
    cluster_barrier_in_branch,
    cluster_arrives_twice,
    cluster_without_last,
}
