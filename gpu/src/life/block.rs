//! One block: many generations in one launch, with a barrier between them.
//!
//! What it changes: no launch and no host between generations, because `sync_threads` orders them. Only the threads of one
//! block can meet so, hence one block works on the whole board; each thread steps through the cells by the number of threads.
//! Limited by the one multiprocessor that works, and on it by the latency of nine loads from global memory before each barrier.
//! Source: Hands-On GPU Programming, ch. 5 (`conway_ker`), where the board is updated in place: that is a race unless
//! every cell has been read before the first is written, so here two boards take turns.

use cuda_std::{GlobalMut, kernel, thread};

use super::{BlockCells, next_cell};

/// Many generations by one block in global memory, a barrier between them.
///
/// `generations` generations of the board `even`, of `height` rows of `width` bytes. Launch one block.
///
/// The boards take turns: the last generation is in `even` if `generations` is even, else in `odd`.
#[kernel(max_threads = 1024)]
pub fn life_block(even: GlobalMut<u8>, odd: GlobalMut<u8>, width: usize, height: usize, generations: u64) {
    assert!(width > 0 && width.checked_mul(height) == Some(even.len()) && odd.len() == even.len());
    let cells = BlockCells::new(width, height);
    let (mut now, mut next) = (even, odd);
    for _ in 0..generations {
        for (x, y) in cells.clone() {
            // SAFETY: `next_cell` asks for cells of the board, whose size was checked above.
            let state = next_cell(x, y, width, height, |i| unsafe { now.load_unchecked(i) });
            // SAFETY: `(x, y)` is a cell of the board.
            unsafe { next.store_unchecked(y * width + x, state) };
        }
        thread::sync_threads();
        (now, next) = (next, now);
    }
}
