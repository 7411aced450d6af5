//! Scans of views that begin at any address. The *head* consists of the elements before the first whole cache line of
//! `y`. The first tile starts after the head.
//!
//! If `x` and `y` have the same offset within a 16-byte vector, the first tile starts at the first cache line of `y`.
//! The kernel then moves all tiles in 16-byte accesses, as for aligned views. The combination of the head's elements is
//! the prefix of the first tile.

use cuda_std::{Element, Global, GlobalMut, warp};

use crate::collective::tile::warp_scan;
use crate::collective::warp::warp_reduce;
use crate::operator::Operator;

/// The number of bytes of a cache line. Tiles that start at a line boundary share no sector.
const LINE: usize = 128;

/// Returns the number of elements in the head. Returns 0 if `x` and `y` have different offsets within a 16-byte vector,
/// or if no elements follow the head. The host calls this function too.
pub fn head_of<T: Element>(x: &Global<T>, y: &GlobalMut<T>) -> usize {
    let (from, to) = (x.as_ptr().addr(), y.as_ptr().addr());
    let head = to.wrapping_neg() % LINE / size_of::<T>();
    let is_alike = (from ^ to).is_multiple_of(16) && to.is_multiple_of(size_of::<T>());
    if is_alike && head < x.len() { head } else { 0 }
}

/// Combines the elements of `x`, at most 32, in order, and returns the result in lane 0 of the calling warp. If
/// `writes` is true, the warp also stores the scan of `x` in `y`.
#[inline(always)]
pub fn scan_head<T: Element, O: Operator<T>>(x: Global<T>, y: GlobalMut<T>, exclusive: bool, writes: bool) -> T {
    let lane = warp::lane_id() as usize;
    let item = if lane < x.len() { x.load(lane) } else { O::IDENTITY };
    let mut scanned = [[item]];
    warp_scan::<T, O, 1, 1>(&mut scanned, exclusive, None);
    if writes && lane < y.len() {
        y.store(lane, scanned[0][0]);
    }
    warp_reduce::<T, O>(warp::SIZE, item)
}
