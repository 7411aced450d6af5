//! Views that begin anywhere: what stands before the first whole line of `y`, and what comes after it.
//!
//! Where `x` and `y` begin at the same place of a vector of 16 bytes, tiles are counted from the first line on, and so are moved by
//! 16 bytes as those of aligned views are. The few elements before it are the first tile's prefix.

use cuda_std::{Element, Global, GlobalMut, warp};

use crate::collective::tile::warp_scan;
use crate::collective::warp::warp_reduce;
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

/// `x`, of at most 32 elements, combined in order: in lane 0 of a warp. Its scan is written to `y`, if this warp `writes`.
#[inline(always)]
pub(super) fn scan_head<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, exclusive: bool, writes: bool) -> T {
    let lane = warp::lane_id() as usize;
    let item = if lane < x.len() { x.load(lane) } else { O::IDENTITY };
    let mut scanned = [[item]];
    warp_scan::<T, O, 1, 1>(&mut scanned, exclusive, None);
    if writes && lane < y.len() {
        y.store(lane, scanned[0][0]);
    }
    warp_reduce::<T, O>(warp::SIZE, item)
}
