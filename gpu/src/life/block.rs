//! One block: many generations in one launch, with a barrier between them.
//!
//! A block barrier (`sync_threads`) separates the generations, so they need no further launches. A barrier synchronises
//! only the threads of one block, so one block processes the whole board. Each thread processes every *n*-th cell,
//! where *n* is the number of threads. The kernel is limited by the single multiprocessor, and by the latency of nine
//! loads from global memory before each barrier.
//!
//! Source: Hands-On GPU Programming, ch. 5 (`conway_ker`), which updates the board in place. That is a race if a thread
//! writes a cell before another thread has read it. This kernel therefore reads one board, writes another, and swaps
//! the two after each generation.

use cuda_std::{GlobalMut, kernel, thread};

use super::{BlockCells, next_cell};

/// Advances the board `even` by `generations` generations in one block, in global memory, with a barrier after each
/// generation.
///
/// Both boards must have `height` rows of `width` bytes. Launch one block.
///
/// The kernel overwrites both boards. The last generation is in `even` if `generations` is even, else in `odd`.
#[kernel(max_threads = 1024)]
pub fn life_block(even: GlobalMut<u8>, odd: GlobalMut<u8>, width: usize, height: usize, generations: u64) {
    assert!(width > 0 && width.checked_mul(height) == Some(even.len()) && odd.len() == even.len());
    let cells = BlockCells::new(width, height);
    let (mut now, mut next) = (even, odd);
    for _ in 0..generations {
        for (x, y) in cells.clone() {
            // SAFETY: `next_cell` passes only indices of cells of the board, whose size was checked above.
            let state = next_cell(x, y, width, height, |i| unsafe { now.load_unchecked(i) });
            // SAFETY: `(x, y)` is a cell of the board.
            unsafe { next.store_unchecked(y * width + x, state) };
        }
        thread::sync_threads();
        (now, next) = (next, now);
    }
}
