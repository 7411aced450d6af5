//! Split: sorts by one bit after the other, from the lowest. A scan computes where each key goes.
//!
//! In each of the 32 passes, the keys with a 0 in the bit come first and then the keys with a 1, both in their old
//! order. The inclusive scan of the flags "the bit is 0" counts these keys up to each position. Their number is the
//! index of a key with a 0, and the index of a key with a 1 follows from it.
//!
//! The speed is limited by memory: a pass reads the keys twice, writes and reads the flags and their scan, and its
//! stores touch two places of the output at a time.
//!
//! Source: G. E. Blelloch, "Prefix Sums and Their Applications", 1990.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Sets `flags[i]` to 1 if bit `bit` of `keys[i]` is 0, and to 0 otherwise. `flags` must be as long as `keys`. Launch a
/// one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn sort_split_flags(keys: Global<u32>, bit: u32, flags: GlobalMut<u32>) {
    for i in thread::grid_stride(keys.len()) {
        flags.store(i, 1 - (keys.load(i) >> (bit & 31) & 1));
    }
}

/// Moves each key to its place in the order of bit `bit`. `zeros` must be the inclusive scan of the flags of
/// [`sort_split_flags()`]. `keys_out` must be as long as `keys`. Launch a one-dimensional grid with up to 256 threads
/// per block.
#[kernel(max_threads = 256)]
pub fn sort_split_move(keys: Global<u32>, bit: u32, zeros: Global<u32>, keys_out: GlobalMut<u32>) {
    let n = keys.len();
    for i in thread::grid_stride(n) {
        let (key, zeros_through) = (keys.load(i), zeros.load(i) as usize);
        let is_zero = key >> (bit & 31) & 1 == 0;
        let index = if is_zero { zeros_through - 1 } else { zeros.load(n - 1) as usize + i - zeros_through };
        keys_out.store(index, key);
    }
}
