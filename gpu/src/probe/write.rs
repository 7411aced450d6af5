//! globalWrite: a thread issues `UNROLL` stores per pass.
//!
//! A store does not wait for other accesses, so the operand size matters more than the unroll factor. The kernel is
//! limited by memory. Source: the CUDA Handbook's globalWrite.

use cuda_std::{GlobalMut, kernel};

use super::groups::{Groups, store};
use super::operand::{Operand, U32x4};

/// Fills `y` with the low bytes of `word`. Launch a one-dimensional grid with up to 512 threads per block.
#[kernel(
    max_threads = 512,
    instances(T = [u8, u16, u32, u64], UNROLL = [1, 2, 4, 8, 16]),
    instances(T = [U32x4], UNROLL = [1, 2, 4, 8, 16], wide(stores))
)]
pub fn global_write<T: Operand, const UNROLL: usize>(word: u64, y: GlobalMut<T>) {
    let value = T::from_word(word);
    let mut groups = Groups::<UNROLL>::new(y.len());
    while let Some(first) = groups.next_whole() {
        for j in 0..UNROLL {
            // SAFETY: `next_whole` returned a whole group, so this index is below the length.
            unsafe { store(y, first + j * groups.step, value) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, value);
        }
    }
}
