//! The team: the blocks that share the tiles of a scan. The first block counts the blocks that have started, and these
//! blocks form the team.
//!
//! The blocks of the team take the tiles in turn, so a block knows all its tiles without drawing them one by one. A
//! block may safely wait for the tiles of the others, because all of them have started and stay on their
//! multiprocessors until they end. A block that starts later, because other work occupied its multiprocessor, is
//! outside the team and has no tiles.

use cuda_std::GlobalMut;

use crate::scan::tile_states::{TICKET, Ticket};
use crate::scan::tuning::LOOKS;

/// The index of the word that publishes the team's size. Its upper half is the number of the launch, starting at 1.
pub const TEAM: usize = TICKET + 8;

/// Returns the number of blocks in the team, in a grid of `grid` blocks. The block with the first ticket counts the
/// blocks that have started, and the other blocks wait for its result. A block whose number on the ticket is not below
/// this size is outside the team. One thread per block must call it.
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
        // If the epoch has changed, the block with the last ticket has already prepared the next launch, so all blocks
        // have started.
        size = if next.epoch() == ticket.epoch() { next.tile() } else { grid };
        looks += 1;
    }
    words.store_relaxed(TEAM, u64::from(launch) << 32 | u64::from(size));
    size
}
