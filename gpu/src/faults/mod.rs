//! Faulty kernels: what the textbooks got wrong, and what is easily got wrong. None is for use: they show what the checks of
//! the simulator find, and the tests that it finds it at the right lines.
//!
//! | kernel | fault | reported as | right instead |
//! |---|---|---|---|
//! | [`prefix_in_place()`] | reads and writes one buffer in a step | race in the block | [`scan_naive_block()`](crate::scan::scan_naive_block()) |
//! | [`warp_tail_unsynchronised()`] | lanes taken to run in step | race in the warp | [`reduce_unrolled_last_warp()`](crate::reduce::reduce_unrolled_last_warp()) |
//! | [`tail_dropped()`], [`sum_partials()`] | elements after the last whole tile left out | read of what nobody wrote; out of bounds; wrong sum | [`reduce_unrolled()`](crate::reduce::reduce_unrolled()) |
//! | [`bound_wraps()`], [`bound_underflows()`] | `n − span` below 0; work done four times | out of bounds; panic; wrong result | [`saxpy_unrolled()`](crate::saxpy::saxpy_unrolled()) |
//! | [`life_in_place()`], [`life_in_place_blocks()`] | one board, read and written | race in the block; between blocks | [`life_global()`](crate::life::life_global()), [`life_block()`](crate::life::life_block()) |
//! | [`tile_unsynchronised()`] | no barrier between write and read | race in the block | [`transpose_tile()`](crate::transpose::transpose_tile()) |
//! | [`tile_reused()`] | no barrier between read and next write | race in the block | [`reduce`](crate::reduce) |
//! | [`barrier_in_branch()`], [`barriers_of_branches()`] | a barrier for some threads | barrier not reached; two barriers | [`transpose_tile()`](crate::transpose::transpose_tile()) |
//! | [`barrier_of_two_calls()`], [`barrier_skipped()`] | lanes at one line of a barrier by two calls, in two iterations | one barrier, two ways | one call, outside of the branch |
//! | [`shuffle_outside_mask()`] | a mask with lanes that do not come | warp operation whose lanes never meet | [`reduce_shuffle()`](crate::reduce::reduce_shuffle()) |
//! | [`flag_before_value()`], [`flag_relaxed()`] | a flag that does not wait for its value | race between blocks | [`scan_look_back()`](crate::scan::scan_look_back()) |
//! | [`ticket_without_fences()`] | atomics taken to order other accesses | race between blocks | [`reduce_grid_stride()`](crate::reduce::reduce_grid_stride()) |
//! | [`double_checked()`] | a relaxed look at a published state | race between blocks | an acquire |
//! | [`vectors_misaligned()`] | vectors at any address | misaligned access | [`saxpy_vectorised()`](crate::saxpy::saxpy_vectorised()) |
//! | [`copies_not_waited_for()`], [`copies_over_reads()`] | an asynchronous copy is read too early; begun too early | read of what nobody wrote; race in the block | [`scan_pipelined()`](crate::scan::scan_pipelined()) |
//!
//! One fault of the sources cannot be written in Rust: the down-sweep of Tuomanen's ch. 4 uses `tid` before it is defined,
//! which the C compiler takes from another scope or refuses; Rust always refuses. That algorithm is
//! [`scan_down_sweep()`](crate::scan::scan_down_sweep()).
//!
//! The feature `faults` is off by default, and no PTX is built of it. A comment at the end of a line marks what the report
//! must name: `// fault: read`.

#![allow(clippy::needless_range_loop, reason = "as in the kernels that these are the faulty versions of")]

mod barriers;
mod bound;
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
    /// Faults that the simulator's checks find.
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
}
