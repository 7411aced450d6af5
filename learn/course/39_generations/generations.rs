//! Generations: many of them without a launch in between.
//!
//! A launch per generation reads and writes the whole board in global memory. If one block has the whole board, it can
//! keep it in shared memory and compute many generations in one launch. Each thread has one cell: in each generation it
//! reads its neighbours and stores its new state, where other threads read it in the next generation.
//!
//! ```text
//! generation 0      all threads read           board
//!                   all threads have stored →  board
//! generation 1      all threads read           board
//! ```
//!
//! Each line of this picture must be over before the next begins; otherwise a cell counts neighbours of two
//! generations. `thread::sync_threads()` waits until all threads of the block have reached it, and orders their
//! accesses.
//!
//! `next_state(board)` returns the next state of this thread's cell. `board.store(me, state)` stores it. The kernel as
//! it stands orders nothing. A second board, declared by `shared_array![u32; CELLS]`, saves barriers; it is not needed.

use cuda_std::prelude::*;

/// The number of columns of the board.
pub const WIDTH: usize = 16;
/// The number of cells of the board, and of threads.
pub const CELLS: usize = 128;

/// Returns the next state of this thread's cell on a torus.
#[device]
fn next_state(board: Shared<u32>) -> u32 {
    let me = thread::thread_idx_x() as usize;
    let (x, row) = (me % WIDTH, me - me % WIDTH);
    let mut neighbours = 0;
    for y in [row + CELLS - WIDTH, row, row + WIDTH] {
        for x in [x + WIDTH - 1, x, x + 1] {
            neighbours += board.load(y % CELLS + x % WIDTH);
        }
    }
    // The sum contains the cell itself.
    u32::from(neighbours == 3 || (neighbours == 4 && board.load(me) == 1))
}

/// Computes `generations` generations of `cells`, and stores the last one to `last`. Launch one block of `CELLS`
/// threads.
#[kernel]
pub fn life(cells: Global<u32>, generations: u32, last: GlobalMut<u32>) {
    let board = shared_array![u32; CELLS];
    let me = thread::thread_idx_x() as usize;
    board.store(me, cells.load(me));
    thread::sync_threads();
    // Your code begins here.
    for _ in 0..generations {
        board.store(me, next_state(board));
    }
    // Your code ends here.
    last.store(me, board.load(me));
}
