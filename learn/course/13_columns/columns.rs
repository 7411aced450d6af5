//! Columns: a layout of shared memory without bank conflicts.
//!
//! Shared memory has 32 banks, and the word with index `i` is in bank `i % 32`. A warp accesses 32 words in one pass if
//! each is in a bank of its own. If two lanes access different words of one bank, the accesses take two passes, and so
//! on: that is a bank conflict.
//!
//! In this kernel each thread counts how often each of 8 digits occurs among its own elements. Each thread therefore
//! has 8 counters in shared memory, which no other thread accesses, and `slot` says where they are. As it stands, the
//! counters of a thread are a row of 8 neighbours:
//!
//! ```text
//! word     0  1  2  …  7     8  9 10 … 15    16 17 18 … 23    24 … 31    32 33 …
//! bank     0  1  2  …  7     8  9 10 … 15    16 17 18 … 23    24 … 31     0  1 …
//! thread   0  0  0  …  0     1  1  1 …  1     2  2  2 …  2     3 …  3     4  4 …
//! ```
//!
//! When all threads clear their counter 0, the threads 0, 4, 8, … meet in bank 0. Later each thread adds to the counter
//! of another digit, and the digits are arbitrary. Find a layout in which the bank of a thread's counter does not
//! depend on the digit, and no two lanes of a warp share a bank. A block has [`BLOCK`] threads, a multiple of 32.
//!
//! Budget: no bank conflict.

use cuda_std::prelude::*;

/// The number of threads per block.
pub const BLOCK: usize = 64;
/// The number of elements per thread.
pub const ITEMS: usize = 8;
/// The number of different digits.
pub const DIGITS: usize = 8;
/// The number of words of shared memory: more than all counters need.
pub const WORDS: usize = 2 * BLOCK * DIGITS;

/// Returns the index of the counter of `digit` that belongs to the thread `me`, below [`WORDS`].
fn slot(me: usize, digit: usize) -> usize {
    // Your code begins here.
    me * DIGITS + digit
    // Your code ends here.
}

/// Counts the digits of each thread's [`ITEMS`] elements. Block `b` stores how often `digit` occurs for its thread `me`
/// to `y[(b * DIGITS + digit) * BLOCK + me]`. One block per `ITEMS * BLOCK` elements.
#[kernel]
pub fn count(x: Global<u32>, y: GlobalMut<u32>) {
    let counts = shared_array![u32; WORDS];
    let me = thread::thread_idx_x() as usize;
    let block = thread::block_idx_x() as usize;
    for digit in 0..DIGITS {
        counts.store(slot(me, digit), 0);
    }
    for step in 0..ITEMS {
        let digit = x.load((block * ITEMS + step) * BLOCK + me) as usize;
        let before = counts.load(slot(me, digit));
        counts.store(slot(me, digit), before + 1);
    }
    for digit in 0..DIGITS {
        y.store((block * DIGITS + digit) * BLOCK + me, counts.load(slot(me, digit)));
    }
}
