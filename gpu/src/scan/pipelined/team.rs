//! The team: the blocks that share the tiles of a scan. The first block counts the blocks that have started, and these
//! blocks form the team.
//!
//! With *t* blocks in the team, a block takes every *t*-th tile. It therefore knows all its tiles and need not draw
//! them one by one. A block of the team may safely wait for the other blocks of the team, because all of them have
//! started and stay on their multiprocessors until they end. A block may start too late for the team, because other
//! work occupies the multiprocessors. Such a block gets no tiles.

use cuda_std::{GlobalMut, Shared, opaque, thread};

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

/// A block with a tile, in the kernel's first round.
pub struct Member {
    /// The number of earlier launches with the same words.
    pub epoch: u32,
    /// The number of the block, in the order in which the blocks started.
    pub number: u32,
    /// The block's first tile: `number`, or the number of tiles if the block started too late to be in the team.
    pub tile: u32,
    /// The number of blocks in the team, and the distance between two tiles of a block.
    pub team: u32,
}

/// Joins the team that shares `tiles` tiles, and calls `fetch` with the block's first `ahead` tiles and the numbers 0,
/// 1 and so on. Returns `None` if the grid has more blocks than tiles and this block has none.
///
/// `words` must have the words of the ticket and the team, and `deal` must have three elements. All threads of the
/// block must call this function, which has barriers. A block that started too late fetches tiles of other blocks: it
/// must end after one round without a tile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn join(
    words: GlobalMut<u64>,
    deal: Shared<u32>,
    tiles: u32,
    ahead: u32,
    mut fetch: impl FnMut(u32, usize),
) -> Option<Member> {
    let is_first = thread::thread_idx_x() == 0;
    let ticket = if is_first { Ticket::draw(words) } else { Ticket::default() };
    if is_first {
        deal.store(0, ticket.tile());
        deal.store(1, ticket.epoch());
        ticket.begin_next(words, thread::grid_dim_x());
    }
    thread::sync_threads();
    let (number, epoch) = (deal.load(0), deal.load(1));
    if number >= tiles {
        return None;
    }
    // `opaque` hides the number of rounds from the compilers, so that they emit the code of `fetch` only once here.
    let (mut tile, mut team, mut stage) = (number, 0, 0);
    while stage < opaque(ahead) {
        fetch(tile + stage * team, stage as usize);
        if stage == 0 {
            if is_first {
                deal.store(2, size(words, ticket, thread::grid_dim_x()));
            }
            thread::sync_threads();
            team = deal.load(2).min(tiles);
            if number >= team {
                tile = tiles;
            }
        }
        stage += 1;
    }
    Some(Member { epoch, number, tile, team })
}
