//! Reduction, scans and broadcast across the lanes of a warp, by shuffles.

use core::marker::PhantomData;

use cuda_std::{Element, warp};

use super::words::{shuffle_down, shuffle_idx, shuffle_up};
use crate::operator::{Operator, Reversed};

/// Combines the values of the first `lanes` lanes of a warp in lane order and returns the result in lane 0. `lanes`
/// must be a power of two. Other lanes get an unspecified value.
///
/// After the step with distance *d*, a lane has the combined values of 2·*d* consecutive lanes, starting with the lane
/// itself. If no lane exists at that distance, the shuffle returns the lane's own value. The result in lane 0 contains
/// no such value. Steps in the opposite order (16 lanes apart first) would cost the same, but would not preserve the
/// order of the operands.
///
/// The mask names all 32 lanes, even in a block smaller than a warp, because the hardware does not wait for lanes that
/// do not exist. A mask that is not a constant costs a dozen instructions per shuffle.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_reduce<T: Element, O: Operator<T>>(lanes: u32, mut value: T) -> T {
    let mut distance = 1;
    // The loop has constant bounds, so the compiler unrolls it. The test inside has the same result in all lanes.
    while distance < warp::SIZE {
        let above = shuffle_down(value, distance);
        if distance < lanes {
            value = O::combine(value, above);
        }
        distance *= 2;
    }
    value
}

/// Returns the combination of the values of the lanes up to the caller's own, in lane order. All lanes of the warp that
/// exist must call it.
#[inline(always)]
#[track_caller]
pub fn warp_inclusive_scan<T: Element, O: Operator<T>>(mut value: T) -> T {
    let lane = warp::lane_id();
    let mut distance = 1;
    while distance < warp::SIZE {
        let below = shuffle_up(value, distance);
        if lane >= distance {
            value = O::combine(below, value);
        }
        distance *= 2;
    }
    value
}

/// Returns the combination of the values of the lanes before the caller's own, in lane order, which is the identity in
/// lane 0. All lanes of the warp that exist must call it.
#[inline(always)]
#[track_caller]
pub fn warp_exclusive_scan<T: Element, O: Operator<T>>(value: T) -> T {
    let below = shuffle_up(warp_inclusive_scan::<T, O>(value), 1);
    if warp::lane_id() == 0 { O::IDENTITY } else { below }
}

/// Returns the value of lane `from`, 0 to 31, in all lanes. All lanes of the warp that exist must call it.
#[inline(always)]
#[track_caller]
pub fn warp_broadcast<T: Element>(value: T, from: u32) -> T {
    shuffle_idx(value, from)
}

/// Combines rows of values, one row after the other. Each row has one value per lane.
///
/// If the operator is commutative, each lane combines its own values, and the lanes shuffle once at the end. Otherwise
/// the warp reduces each row across its lanes before it combines the next row.
#[derive(Clone, Copy)]
pub struct RowReduce<T, O> {
    /// The number of lanes that have values: the argument `lanes` of [`warp_reduce`].
    lanes: u32,
    all: T,
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T>> RowReduce<T, O> {
    /// Creates a reduction without any rows. `lanes` is the number of lanes with values and must be a power of two.
    #[inline(always)]
    pub fn new(lanes: u32) -> Self {
        Self { lanes, all: O::IDENTITY, operator: PhantomData }
    }

    /// Adds a row that follows all rows added so far. Lane 0 has the row's first value.
    #[inline(always)]
    pub fn append(&mut self, row: T) {
        self.all = O::combine(self.all, if O::COMMUTATIVE { row } else { warp_reduce::<T, O>(self.lanes, row) });
    }

    /// Adds a row that precedes all rows added so far. The highest lane has the row's first value.
    #[inline(always)]
    pub fn prepend(&mut self, row: T) {
        self.all = if O::COMMUTATIVE {
            O::combine(self.all, row)
        } else {
            O::combine(warp_reduce::<T, Reversed<O>>(self.lanes, row), self.all)
        };
    }

    /// Returns the combination of all rows in lane 0.
    #[inline(always)]
    pub fn aggregate(self) -> T {
        if O::COMMUTATIVE { warp_reduce::<T, O>(self.lanes, self.all) } else { self.all }
    }
}
