//! The corners of two topologies, cross-surface and sphere. At some of their corners, fewer than four quarters of the
//! board meet.
//!
//! At such a corner, there is only one cell beyond both edges: the corner cell itself. A margin of several cells cannot
//! represent this. After n generations, all cells up to n away from the corner are therefore wrong. One block
//! recomputes these cells. It uses a small board of the same topology, which consists of the corners of the large
//! board.

use cuda_std::{Global, GlobalMut, grid, kernel, shared_array, thread};

use super::super::tuning::DEEPEST;
use super::{Interleaved, Surface};

/// The number of rows, and of columns, of the small board. After [`DEEPEST`] generations, the outer half of the rows
/// and columns is still correct; the inner half is not.
pub const CORNERS_SIDE: u32 = 4 * DEEPEST as u32;

/// The number of threads in the block: one per cell of the small board.
pub const CORNERS_THREADS: u32 = CORNERS_SIDE * CORNERS_SIDE;

const CELLS: usize = CORNERS_THREADS as usize;

/// The offsets of the eight neighbours of a cell.
const NEIGHBOURS: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Converts column or row `i` of the small board to the column or row of the large board at the same distance from the
/// nearer edge. `length` is the width or height of the large board.
#[inline(always)]
fn far(i: u32, length: u32) -> u32 {
    if i < CORNERS_SIDE / 2 { i } else { length - CORNERS_SIDE + i }
}

/// Corrects the cells near the corners of `next`, a board that another kernel has computed. `next` must be
/// `generations` generations after `cells`, and `generations` must be at most [`DEEPEST`]. Neither side of the board
/// may be shorter than [`CORNERS_SIDE`]. Launch one block of [`CORNERS_THREADS`] threads.
///
/// `rule[0]` is the rule of the first, third, fifth generation, and `rule[1]` is the rule of the second, fourth, sixth.
/// In a rule, bit *n* is set if a dead cell with *n* live neighbours is born. Bit 16 + *n* is set if a live cell with
/// *n* live neighbours survives.
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
        // A thread that is one generation ahead writes to the other half. Because of the barrier above, no thread is
        // two generations ahead.
        half = CELLS - half;
        (now, after) = (after, now);
    }
    let is_near = |i: u32| i.min(CORNERS_SIDE - 1 - i) < DEEPEST as u32;
    if is_near(x) && is_near(y) {
        // Other threads may change other bits of the same word.
        let wrong = (next.load_relaxed(index) >> bit & 1) ^ u32::from(state);
        if wrong != 0 {
            next.atomic_xor(index, wrong << bit);
        }
    }
}
