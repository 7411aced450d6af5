//! globalCopy: in each pass, a thread loads `UNROLL` elements into registers and then stores them.
//!
//! The loads overlap. The first store waits only for the first load. The kernel is limited by memory. Source: the CUDA
//! Handbook's globalCopy.

use cuda_std::{Global, GlobalMut, kernel};

use super::groups::{Groups, load, store};
use super::operand::{Operand, U32x4};

/// Copies `x` to `y`: `y[i] = x[i]` for every `i` below both lengths. Launch a one-dimensional grid with up to 512
/// threads per block.
#[kernel(
    max_threads = 512,
    instances(T = [u8, u16, u32, u64], UNROLL = [1, 2, 4, 8, 16]),
    instances(T = [U32x4], UNROLL = [1, 2, 4, 8, 16], wide(loads, stores))
)]
pub fn global_copy<T: Operand, const UNROLL: usize>(x: Global<T>, y: GlobalMut<T>) {
    let mut groups = Groups::<UNROLL>::new(x.len().min(y.len()));
    while let Some(first) = groups.next_whole() {
        let mut values = [T::ZERO; UNROLL];
        for j in 0..UNROLL {
            // SAFETY: `next_whole` returned a whole group, so this index is below both lengths.
            values[j] = unsafe { load(x, first + j * groups.step) };
        }
        for j in 0..UNROLL {
            // SAFETY: this index is below both lengths, because the load of element `j` has the same index.
            unsafe { store(y, first + j * groups.step, values[j]) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, x.load(i));
        }
    }
}
