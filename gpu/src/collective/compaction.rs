//! Compaction: a block gathers the chosen items of a tile in shared memory, in order, and stores them together.
//!
//! A *row* has one item per lane, and a warp's rows follow each other. The votes of the lanes on a row give each chosen
//! item its position. The block then stores the gathered items to consecutive elements, so that all accesses to memory
//! are whole, whatever part of the items is chosen.

use cuda_std::{Element, GlobalMut, Shared, thread, unroll, warp};

use super::tile::left;

/// Returns the position of the lane's item in its row among the chosen items, and the number of chosen items of the
/// row. All lanes of a full warp must call this function.
#[inline(always)]
#[track_caller]
pub fn rank_in_row(is_chosen: bool) -> (u32, u32) {
    let votes = warp::ballot(warp::FULL_MASK, is_chosen);
    ((votes & ((1 << warp::lane_id()) - 1)).count_ones(), votes.count_ones())
}

/// Stores the chosen items of the calling warp in `place` from element `first` on, row after row and in each row lane
/// after lane. Bit `r` of `chosen` says whether the lane's item of row `r` is chosen. All lanes of a full warp must
/// call this function; `R` must be at most 18.
///
/// # Safety
/// `place` must have an element for each chosen item of the warp from `first` on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub unsafe fn gather<T: Element, const R: usize>(place: Shared<T>, first: u32, items: &[T; R], chosen: u32) {
    let mut before_row = first;
    unroll!(ROW in R => {
        let is_chosen = chosen >> ROW & 1 != 0;
        let (rank, count) = rank_in_row(is_chosen);
        if is_chosen {
            // SAFETY: by this function's contract, `place` has this element.
            unsafe { place.store_unchecked((before_row + rank) as usize, items[ROW]) };
        }
        before_row += count;
    });
}

/// Stores the items of `place` in `y` from element `first` on. Items that do not fit into `y` are not stored. All
/// threads of a one-dimensional block must call this function, after a barrier.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub fn store_gathered<T: Element>(y: GlobalMut<T>, first: usize, place: Shared<T>) {
    let room = left(y.len(), first).min(place.len() as u32);
    let mut i = thread::thread_idx_x();
    while i < room {
        // SAFETY: `room` limits the index to the items, and to the elements of `y` from `first` on.
        unsafe { y.store_unchecked(first + i as usize, place.load_unchecked(i as usize)) };
        i += thread::block_dim_x();
    }
}

/// The number of bytes of a line, which a warp should store as a whole.
const LINE: usize = 128;

/// Stores the first `count` items of `place` in `y` from element `first` on, by `THREADS` threads, of which the caller
/// is number `thread`. Each warp stores whole lines where it can. Items that do not fit into `y` are not stored. A
/// barrier must come before this function.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[track_caller]
pub fn store_lines<T: Element, const THREADS: u32>(
    y: GlobalMut<T>,
    first: usize,
    place: Shared<T>,
    count: u32,
    thread: u32,
) {
    const ROWS: usize = 4;
    let room = left(y.len(), first).min(count);
    // The first warp leaves out the elements of its line before `first`: their indices wrap and are not below `room`.
    let skipped = (y.as_ptr() as usize / size_of::<T>()).wrapping_add(first) % (LINE / size_of::<T>());
    let (mut at, mut to) =
        (thread.wrapping_sub(skipped as u32), first.wrapping_add(thread as usize).wrapping_sub(skipped));
    while (at as i32) < room as i32 {
        let mut items = [T::zeroed(); ROWS];
        unroll!(ROW in ROWS => {
            let at = at.wrapping_add(ROW as u32 * THREADS);
            if at < room {
                // SAFETY: `room` limits the index to the items.
                items[ROW] = unsafe { place.load_unchecked(at as usize) };
            }
        });
        unroll!(ROW in ROWS => {
            if at.wrapping_add(ROW as u32 * THREADS) < room {
                // SAFETY: `room` limits the index to the elements of `y` from `first` on.
                unsafe { y.store_unchecked(to.wrapping_add(ROW * THREADS as usize), items[ROW]) };
            }
        });
        at = at.wrapping_add(ROWS as u32 * THREADS);
        to = to.wrapping_add(ROWS * THREADS as usize);
    }
}
