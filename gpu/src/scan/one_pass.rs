//! The steps that the one-pass kernels of select and of by key share: a block draws its tile, publishes the tile's
//! aggregate, and looks back. The module `look_back` explains the protocol and why it makes
//! progress.

use cuda_std::{Element, Global, GlobalMut, Shared, thread, warp};

pub use super::look_back::Before;
use super::look_back::LINE;
pub use super::tile_states::TileStates;
use super::tile_states::{AGGREGATE, PREFIX, Ticket};
use crate::operator::Operator;

/// Draws the block's tile of `elements` elements, and prefetches a tile of `x`. Returns the number of the tile and the
/// states of the tiles in `words`.
///
/// `drawn` must have two elements. All threads of the block must call this function, which has a barrier.
#[inline(always)]
#[track_caller]
pub fn draw_tile<'a, T: Element, S: Element>(
    x: Global<T>,
    elements: usize,
    words: GlobalMut<'a, u64>,
    drawn: Shared<u32>,
) -> (u32, TileStates<'a, S>) {
    let thread = thread::thread_idx_x();
    let ticket = if thread == 0 { Ticket::draw(words) } else { Ticket::default() };
    let line = thread as usize * LINE.div_ceil(size_of::<T>());
    if line < elements {
        x.prefetch(thread::block_idx_x() as usize * elements + line);
    }
    if thread == 0 {
        drawn.store(0, ticket.tile());
        drawn.store(1, ticket.epoch());
        ticket.begin_next(words, thread::grid_dim_x());
    }
    thread::sync_threads();
    let (tile, states) = (drawn.load(0), TileStates::new(words, drawn.load(1)));
    assert!(states.has(tile as usize + 1));
    (tile, states)
}

/// Draws the block's tile like [`draw_tile`], and calls `meanwhile` while thread 0 waits for its ticket.
#[inline(always)]
#[track_caller]
pub fn draw_tile_while<'a, S: Element>(
    words: GlobalMut<'a, u64>,
    drawn: Shared<u32>,
    meanwhile: impl FnOnce(),
) -> (u32, TileStates<'a, S>) {
    let thread = thread::thread_idx_x();
    let ticket = if thread == 0 { Ticket::draw(words) } else { Ticket::default() };
    meanwhile();
    if thread == 0 {
        drawn.store(0, ticket.tile());
        drawn.store(1, ticket.epoch());
        ticket.begin_next(words, thread::grid_dim_x());
    }
    thread::sync_threads();
    drawn_tile(words, drawn)
}

/// Returns what [`draw_tile_while`] has returned, from shared memory, so that a thread need not keep it in registers.
#[inline(always)]
#[track_caller]
pub fn drawn_tile<S: Element>(words: GlobalMut<'_, u64>, drawn: Shared<u32>) -> (u32, TileStates<'_, S>) {
    let (tile, states) = (drawn.load(0), TileStates::new(words, drawn.load(1)));
    assert!(states.has(tile as usize + 1));
    (tile, states)
}

/// Prefetches the tile of the block's index, of `elements` elements of `x`, to the L2 cache.
#[inline(always)]
pub fn prefetch_tile<T: Element>(x: Global<T>, elements: usize) {
    let line = thread::thread_idx_x() as usize * LINE.div_ceil(size_of::<T>());
    if line < elements {
        x.prefetch(thread::block_idx_x() as usize * elements + line);
    }
}

/// Publishes `aggregate`, the aggregate of the block's `tile`. All threads of the block may call this function.
#[inline(always)]
#[track_caller]
pub fn publish<S: Element>(states: TileStates<S>, tile: u32, aggregate: S) {
    if thread::thread_idx_x() == 0 {
        states.publish(tile as usize, if tile == 0 { PREFIX } else { AGGREGATE }, aggregate);
    }
}

/// Returns the prefix of the block's `tile`: the combination of the aggregates of all earlier tiles. Publishes it
/// combined with `aggregate`, which the block must have [published](publish).
///
/// `place` must have one element. All threads of the block must call this function, which has a barrier.
#[inline(always)]
#[track_caller]
pub fn look_back<S: Element, O: Operator<S>>(states: TileStates<S>, tile: u32, aggregate: S, place: Shared<S>) -> S {
    assert!(states.has(tile as usize + 1));
    if thread::thread_idx_x() < warp::SIZE {
        let mut before = O::IDENTITY;
        if tile > 0 {
            // SAFETY: the assertion has checked that this tile and all earlier tiles have words.
            before = unsafe { Before::combine::<O>(states, tile) };
            if warp::lane_id() == 0 {
                states.publish(tile as usize, PREFIX, O::combine(before, aggregate));
            }
        }
        if warp::lane_id() == 0 {
            place.store(0, before);
        }
    }
    thread::sync_threads();
    place.load(0)
}
