//! The blocks that share a scan's tiles: those that had started when the first of them counted.
//!
//! They deal the tiles out in turn, so that a block knows all of its tiles without drawing them one by one. That a block
//! waits for the others' tiles is safe, since all of them have started, and stay on their multiprocessors until they end.
//! Blocks that start later, where something else has taken their place, find themselves outside and have nothing to do.

use cuda_std::GlobalMut;

use crate::scan::tile_states::{TICKET, Ticket};
use crate::scan::tuning::LOOKS;

/// The word in which the team's size is published, with the number of the launch above it, from 1 on.
pub const TEAM: usize = TICKET + 8;

/// How many blocks the team has, of a grid of `grid`: the block of the first ticket counts, and the others wait until it has.
/// Those whose tickets are not below that are not in the team. For one thread of a block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn size(words: GlobalMut<u64>, ticket: Ticket, grid: u32) -> u32 {
    let launch = ticket.epoch().wrapping_add(1);
    if ticket.tile() != 0 {
        loop {
            let team = words.load_relaxed(TEAM);
            if (team >> 32) as u32 == launch {
                return team as u32;
            }
        }
    }
    let (mut size, mut looks) = (0, 0);
    while looks < LOOKS && size < grid {
        let next = Ticket::next(words);
        // The block with the last ticket prepares the next launch.
        size = if next.epoch() == ticket.epoch() { next.tile() } else { grid };
        looks += 1;
    }
    words.store_relaxed(TEAM, u64::from(launch) << 32 | u64::from(size));
    size
}
