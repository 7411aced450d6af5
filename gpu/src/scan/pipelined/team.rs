//! The team: the blocks that share the tiles of a scan. The first block counts the blocks that have started, and these
//! blocks form the team.
//!
//! With *t* blocks in the team, a block takes every *t*-th tile. It therefore knows all its tiles and need not draw
//! them one by one. A block of the team may safely wait for the other blocks of the team, because all of them have
//! started and stay on their multiprocessors until they end. A block may start too late for the team, because other
//! work occupies the multiprocessors. Such a block gets no tiles.

use cuda_std::GlobalMut;

use crate::scan::tile_states::{TICKET, Ticket};
use crate::scan::tuning::LOOKS;

/// The index of the word in which the first block publishes the team's size. The upper half of the word is the number
/// of the launch, starting at 1.
pub const TEAM: usize = TICKET + 8;

/// Returns the number of blocks in the team, in a grid of `grid` blocks. The block with the first ticket counts the
/// blocks that have started, and the other blocks wait for its result. A block is in the team if the number on its
/// ticket is below the returned size. One thread per block must call this function.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn size(words: GlobalMut<u64>, ticket: Ticket, grid: u32) -> u32 {
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
        // If the epoch has changed, the block with the last ticket has prepared the ticket word for the next launch.
        // All blocks have then started.
        size = if next.epoch() == ticket.epoch() { next.tile() } else { grid };
        looks += 1;
    }
    words.store_relaxed(TEAM, u64::from(launch) << 32 | u64::from(size));
    size
}
