//! Branch: mend this kernel from its report alone.
//!
//! A block of 128 threads loads 128 elements into a tile. Then each thread adds its own element and the next one. The
//! last element of a block, and the last of all, have no next one and stay as they are:
//!
//! ```text
//! x      x0      x1      x2    …    x126        x127
//! y     x0+x1   x1+x2   x2+x3  …  x126+x127     x127
//! ```
//!
//! The length is arbitrary, so the last block has threads without an element. The kernel lets these return at once, as
//! one does in a kernel without a tile. Here that is a fault.
//!
//! `thread::sync_threads()` waits for all threads of the block. CUDA leaves open what happens if some of them never
//! reach it: the block may hang, or run on without order. The check reports the barrier, and who did not come.
//!
//! A thread without an element must load and store nothing, in the tile as well. It must wait with the others.

use cuda_std::prelude::*;

/// The number of threads per block.
pub const BLOCK: usize = 128;

/// `y[i] = x[i] + x[i + 1]` within each group of [`BLOCK`] elements; `y[i] = x[i]` for the last element of a group and
/// of `x`. One thread per element; the last block may have more threads than elements.
#[kernel]
pub fn add_next(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    // Your code begins here.
    let (me, i) = (thread::thread_idx_x() as usize, thread::index_1d());
    if i >= x.len() {
        return;
    }
    tile.store(me, x.load(i));
    thread::sync_threads();
    let next = if me + 1 < BLOCK && i + 1 < x.len() { tile.load(me + 1) } else { 0 };
    y.store(i, tile.load(me) + next);
    // Your code ends here.
}
