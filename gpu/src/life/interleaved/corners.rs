//! The corners of a cross-surface and of a sphere, around which four quarters of the board do not meet.
//!
//! Beyond both edges of such a corner there is a single cell, the corner itself, and no part of the board. So a margin of several
//! cells is wrong there, and after n generations so are the cells up to n away from the board's corner. One block computes these
//! once more, on a small board of the same topology that is made of the large one's corners.

use cuda_std::{Global, GlobalMut, grid, kernel, shared_array, thread};

use super::super::tuning::DEEPEST;
use super::{Interleaved, Surface};

/// Rows and columns of the small board: as far from a corner as its cells are right after [`DEEPEST`] generations, and as many
/// that are not.
pub const CORNERS_SIDE: u32 = 4 * DEEPEST as u32;

/// Threads of the block: one for each of its cells.
pub const CORNERS_THREADS: u32 = CORNERS_SIDE * CORNERS_SIDE;

const CELLS: usize = CORNERS_THREADS as usize;

/// The eight neighbours of a cell.
const NEIGHBOURS: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// The column or row of a side of `length` that is as far from the same end as `i` on the small board.
#[inline(always)]
fn far(i: u32, length: u32) -> u32 {
    if i < CORNERS_SIDE / 2 { i } else { length - CORNERS_SIDE + i }
}

/// Puts the corners of `next` right, which is `generations` generations after `cells`, at most [`DEEPEST`]. Neither side of the board is
/// below [`CORNERS_SIDE`]. One block of [`CORNERS_THREADS`] threads.
///
/// `rule` has the rules of the first generation and of the next, which take turns: bit *n* is set if a dead cell with *n* live
/// neighbours comes to life, and bit 16 + *n* if a live one stays alive.
#[kernel(max_threads = 576)]
pub fn life_corners(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    board: Interleaved,
    surface: Surface,
    generations: u32,
    rule: [u32; 2],
) {
    grid::launch_dependents();
    assert!(cells.len() == board.words() && next.len() == cells.len() && thread::block_size() == CORNERS_THREADS);
    assert!(board.width.min(board.height) >= CORNERS_SIDE && generations <= DEEPEST as u32);
    let small = shared_array![u8; 2 * CELLS];
    let i = thread::index_in_block();
    let (x, y) = (i % CORNERS_SIDE, i / CORNERS_SIDE);
    let (index, bit) = board.place(far(x, board.width), far(y, board.height));
    let near: [u32; NEIGHBOURS.len()] = NEIGHBOURS.map(|(right, down)| {
        let seen = surface.source((CORNERS_SIDE, CORNERS_SIDE), x as i32 + right, y as i32 + down);
        seen.map_or(i, |(x, y)| y * CORNERS_SIDE + x)
    });
    grid::wait_for_dependencies();
    let mut state = (cells.load(index) >> bit & 1) as u8;
    let (mut half, [mut now, mut after]) = (0, rule);
    for _ in 0..generations {
        small.store(half + i as usize, state);
        thread::sync_threads();
        let lives = |k: usize| u32::from(small.load(half + near[k] as usize));
        let count = lives(0)
            + lives(1)
            + lives(2)
            + lives(3)
            + lives(4)
            + lives(5)
            + lives(6)
            + lives(7)
            + 16 * u32::from(state);
        state = (now >> count & 1) as u8;
        // Who is a generation ahead writes the other half, and waits for all before this one is written again.
        half = CELLS - half;
        (now, after) = (after, now);
    }
    let is_near = |i: u32| i.min(CORNERS_SIDE - 1 - i) < DEEPEST as u32;
    if is_near(x) && is_near(y) {
        // Other bits of the word may be other threads'.
        let wrong = (next.load_relaxed(index) >> bit & 1) ^ u32::from(state);
        if wrong != 0 {
            next.atomic_xor(index, wrong << bit);
        }
    }
}
