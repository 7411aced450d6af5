//! Views that begin within a vector of 16 bytes: what stands before the first whole vector, and what comes after it.
//!
//! Where `x` and `y` begin at the same place of a vector, tiles are counted from the first whole one on, and so are moved by 16
//! bytes as those of aligned views are. The few elements before it are the first tile's prefix.

use cuda_std::{Element, Global, GlobalMut};

use crate::collective::vectors::before_first_vector;
use crate::operator::Operator;

/// A view in two pieces.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'a, T> {
    x: Global<'a, T>,
    y: GlobalMut<'a, T>,
    /// Elements before the first vector.
    head: usize,
}

impl<'a, T: Element> Pieces<'a, T> {
    /// `x` and `y`, which are of the same length. There is no head where they begin at different places of a vector of `V`, nor
    /// where nothing follows it.
    #[inline(always)]
    pub(super) fn new<const V: usize>(x: Global<'a, T>, y: GlobalMut<'a, T>) -> Self {
        let (from, to) = (x.as_ptr() as usize, y.as_ptr() as usize);
        let head = before_first_vector::<T, V>(from);
        let is_alike = (from ^ to).is_multiple_of(V * size_of::<T>()) && from.is_multiple_of(size_of::<T>());
        Self { x, y, head: if is_alike && head < x.len() { head } else { 0 } }
    }

    /// What follows the head.
    #[inline(always)]
    pub(super) fn tail(&self) -> (Global<'a, T>, GlobalMut<'a, T>) {
        let Self { x, y, head } = *self;
        // Not `part`, after whose check ptxas takes the threads of a warp to diverge.
        // SAFETY: the head is a part of both views.
        unsafe {
            (
                Global::from_raw_parts(x.as_ptr().add(head), x.len() - head, x.device()),
                GlobalMut::from_raw_parts(y.as_ptr().add(head), y.len() - head, y.device()),
            )
        }
    }

    /// The head combined. Its scan is written, if this thread `writes`.
    #[inline(always)]
    pub(super) fn scan_head<O: Operator<T>>(&self, exclusive: bool, writes: bool) -> T {
        let mut before = O::IDENTITY;
        for i in 0..self.head {
            // SAFETY: the head is a part of `x`.
            let with = O::combine(before, unsafe { self.x.load_unchecked(i) });
            if writes {
                // SAFETY: likewise of `y`.
                unsafe { self.y.store_unchecked(i, if exclusive { before } else { with }) };
            }
            before = with;
        }
        before
    }
}
