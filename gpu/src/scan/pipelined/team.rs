//! The blocks that share a scan's tiles: those that had started when the first of them closed the list.
//!
//! They deal the tiles out in turn, so that a block knows all of its tiles without drawing them one by one. That a block
//! waits for the others' tiles is safe, since all of them have started, and stay on their multiprocessors until they end.
//! Blocks that start later, where something else has taken their place, find the list closed and have nothing to do.

use cuda_std::GlobalMut;

use crate::scan::tile_states::TICKET;
use crate::scan::tuning::LOOKS;

/// The word in which the team's size is published; 0 before.
pub const TEAM: usize = TICKET + 8;

/// What is added to the ticket to close the list: more than any number of blocks.
const CLOSED: u64 = 1 << 32;

/// Joins the team: the block's number in it, unless the list is closed. For one thread of the block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn join(words: GlobalMut<u64>) -> Option<u64> {
    let number = words.atomic_add(TICKET, 1);
    (number < CLOSED).then_some(number)
}

/// How many blocks the team has, of a grid of `grid`: block 0 closes the list, and the others wait until it has. For one
/// thread of a block that has joined as `number`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn size(words: GlobalMut<u64>, number: u64, grid: u32) -> u64 {
    if number != 0 {
        loop {
            let size = words.load_relaxed(TEAM);
            if size != 0 {
                return size;
            }
        }
    }
    let mut looks = 0;
    while looks < LOOKS && words.load_relaxed(TICKET) < u64::from(grid) {
        looks += 1;
    }
    let size = words.atomic_add(TICKET, CLOSED);
    words.store_relaxed(TEAM, size);
    size
}
