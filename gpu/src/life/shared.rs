//! Shared memory: one block computes many generations of a board without accesses to global memory in between.
//!
//! Both boards are in shared memory, whose latency is a tenth of the latency of global memory. The kernel reads global
//! memory once at the start and writes it once at the end. Its speed is limited by the single multiprocessor. Two
//! boards must fit into the shared memory of a multiprocessor.
//!
//! Source: Hands-On GPU Programming, ch. 5 (`conway_ker_shared`), without the race of the book's kernel (see `block`).

use cuda_std::{Global, GlobalMut, dynamic_shared, kernel, thread};

use super::{BlockCells, next_cell};

/// Advances `cells` by `generations` generations in one block, in shared memory, and writes the result to `next`.
///
/// Both boards must have `height` rows of `width` bytes. Launch one block with `2·width·height` bytes of dynamic shared
/// memory.
#[kernel(max_threads = 1024)]
pub fn life_shared(cells: Global<u8>, next: GlobalMut<u8>, width: usize, height: usize, generations: u64) {
    let size = cells.len();
    assert!(width > 0 && width.checked_mul(height) == Some(size) && next.len() == size);
    let boards = dynamic_shared::<u8>();
    let (mut now, mut after) = (boards.part(0, size), boards.part(size, size));
    for i in thread::block_stride(size) {
        now.store(i, cells.load(i));
    }
    thread::sync_threads();
    let mine = BlockCells::new(width, height);
    for _ in 0..generations {
        for (x, y) in mine.clone() {
            // SAFETY: `next_cell` passes only indices of cells of the board, and `now` has as many elements.
            let state = next_cell(x, y, width, height, |i| unsafe { now.load_unchecked(i) });
            // SAFETY: `(x, y)` is a cell of the board, and `after` has as many elements.
            unsafe { after.store_unchecked(y * width + x, state) };
        }
        thread::sync_threads();
        (now, after) = (after, now);
    }
    for i in thread::block_stride(size) {
        next.store(i, now.load(i));
    }
}
