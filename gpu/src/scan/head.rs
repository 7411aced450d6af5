//! Views that begin anywhere: what stands before the first whole line of `y`, and what comes after it.
//!
//! Where `x` and `y` begin at the same place of a vector of 16 bytes, tiles are counted from the first line on, and so are moved by
//! 16 bytes as those of aligned views are. The few elements before it are the first tile's prefix.

use cuda_std::{Element, Global, GlobalMut};

use crate::operator::Operator;

/// Bytes of a line. Tiles that begin with one share no sector.
const LINE: usize = 128;

/// How many elements stand before the first line of `y`; 0 where `x` begins at another place of a vector, or nothing follows. For the
/// host, too.
pub fn head_of<T: Element>(x: &Global<T>, y: &GlobalMut<T>) -> usize {
    let (from, to) = (x.as_ptr().addr(), y.as_ptr().addr());
    let head = to.wrapping_neg() % LINE / size_of::<T>();
    let is_alike = (from ^ to).is_multiple_of(16) && to.is_multiple_of(size_of::<T>());
    if is_alike && head < x.len() { head } else { 0 }
}

/// `x` combined, in order. Its scan is written to `y`, if this thread `writes`.
#[inline(always)]
pub(super) fn scan_head<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, exclusive: bool, writes: bool) -> T {
    let mut before = O::IDENTITY;
    for i in 0..x.len() {
        // SAFETY: an index of `x`.
        let with = O::combine(before, unsafe { x.load_unchecked(i) });
        if writes {
            y.store(i, if exclusive { before } else { with });
        }
        before = with;
    }
    before
}
