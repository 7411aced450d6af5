//! Reduce across the lanes of a warp, by shuffles.

use core::marker::PhantomData;

use cuda_std::{Element, warp};

use crate::operator::{Operator, Reversed};

/// The values of the first `lanes` lanes of a warp, a power of two, combined in the order of the lanes: in lane 0. What other
/// lanes get means nothing.
///
/// After the step with distance *d*, a lane holds the values of the 2·*d* lanes from its own on; a lane that has no other so
/// far above it gets its own value from the shuffle, and lane 0 never takes that in. Steps in the other order, 16 lanes apart
/// first, would cost the same, but they would not keep the order of the operands.
///
/// The mask names all lanes, also in a block that is smaller than a warp: lanes that do not exist are not waited for, and a
/// mask that is no constant costs a dozen instructions per shuffle.
#[inline(always)]
pub fn warp_reduce<T: Element, O: Operator<T>>(lanes: u32, mut value: T) -> T {
    let mut distance = 1;
    // Its bounds are constant, so that the loop is unrolled. The test within has the same outcome in all lanes.
    while distance < warp::SIZE {
        let above = warp::shuffle_down(warp::FULL_MASK, value, distance);
        if distance < lanes {
            value = O::combine(value, above);
        }
        distance *= 2;
    }
    value
}

/// Rows of values, a value per lane of a warp, which are combined one row after the other.
///
/// Where the operator is commutative, each lane combines its own values, and the lanes shuffle once, at the end. Where it is
/// not, each row is reduced across the lanes as it comes.
#[derive(Clone, Copy)]
pub struct RowReduce<T, O> {
    /// The lanes that have values: as for [`warp_reduce`].
    lanes: u32,
    all: T,
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T>> RowReduce<T, O> {
    /// No row yet, of values in the first `lanes` lanes, a power of two.
    #[inline(always)]
    pub fn new(lanes: u32) -> Self {
        Self { lanes, all: O::IDENTITY, operator: PhantomData }
    }

    /// Takes in a row that stands behind those before, lane 0 first.
    #[inline(always)]
    pub fn append(&mut self, row: T) {
        self.all = O::combine(self.all, if O::COMMUTATIVE { row } else { warp_reduce::<T, O>(self.lanes, row) });
    }

    /// Takes in a row that stands in front of those before, the highest lane first.
    #[inline(always)]
    pub fn prepend(&mut self, row: T) {
        self.all = if O::COMMUTATIVE {
            O::combine(self.all, row)
        } else {
            O::combine(warp_reduce::<T, Reversed<O>>(self.lanes, row), self.all)
        };
    }

    /// All rows combined: in lane 0.
    #[inline(always)]
    pub fn aggregate(self) -> T {
        if O::COMMUTATIVE { warp_reduce::<T, O>(self.lanes, self.all) } else { self.all }
    }
}
