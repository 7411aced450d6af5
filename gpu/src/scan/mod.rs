//! The prefix scan: `y[i]` = `x[0]` to `x[i]` combined in order by an associative operator (inclusive), or `x[0]` to
//! `x[i − 1]`, which for i = 0 is the identity (exclusive). Over *n* elements, for any n.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`scan_naive_block()`] | every element takes in the one 2ᵏ before it, in one block | n ≤ 1024; n log₂ n operations |
//! | [`scan_naive_step()`] | the same over any length, a launch a step | ⌈log₂ n⌉ passes over memory |
//! | [`scan_shifted_copy()`], [`scan_up_sweep()`], [`scan_down_sweep()`] | up and down a tree, a launch a level: 2n operations | 2 log₂ n launches, strided accesses |
//! | [`scan_look_back()`] | one pass: a tile looks back at what the tiles before it have published | memory |
//! | [`scan_pipelined()`] | blocks that stay: one tile is copied, one summed, one scanned at a time | memory |
//!
//! The operator need not be commutative: whatever stands first is the left operand, in every rung.
//!
//! Floor: every element is read once and written once, at the device's copy speed; 8 bytes for an `f32`.
//!
//! Sources: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, for the first three (after Hillis and
//! Steele, and Blelloch); D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA,
//! 2016, for the last two.

mod items;
mod look_back;
mod naive;
mod naive_block;
mod pipelined;
mod tile_states;
mod work_efficient;

pub use items::{CHUNKS, THREADS, WARPS, tile_elements};
pub use look_back::scan_look_back;
pub use naive::scan_naive_step;
pub use naive_block::{BLOCK_ELEMENTS, scan_naive_block};
pub use pipelined::{BLOCKS, PIPELINED_THREADS, RING_BYTES, STAGES, TEAM, pipelined_tile_elements, scan_pipelined};
pub use tile_states::{AGGREGATE, PREFIX, TICKET, first_word, state_words};
pub use work_efficient::{down_sweep_nodes, scan_down_sweep, scan_shifted_copy, scan_up_sweep, up_sweep_nodes};

use cuda_std::{Element, Global};

use crate::operator::Operator;

cuda_std::kernels! {
    /// Prefix sums, and prefixes by any associative operator.
    scan_naive_block,
    scan_naive_step,
    scan_shifted_copy,
    scan_up_sweep,
    scan_down_sweep,
    scan_look_back,
    scan_pipelined,
}

/// Element `i` of `x` moved up by `shift` elements: the identity where there is none.
#[inline(always)]
fn shifted<T: Element, O: Operator<T>>(x: Global<T>, i: usize, shift: usize) -> T {
    if i < shift { O::IDENTITY } else { x.load(i - shift) }
}
