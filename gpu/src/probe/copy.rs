//! globalCopy: `UNROLL` loads into registers, then as many stores, per thread and pass.
//!
//! The loads are under way together, and the first store waits for the first of them alone. Limited by memory. Source: the
//! CUDA Handbook's globalCopy.

use cuda_std::{Global, GlobalMut, kernel};

use super::groups::{Groups, load, store};
use super::operand::{Operand, U32x4};

/// `y[i] = x[i]` for every `i` that both have. A one-dimensional grid of blocks of up to 512 threads.
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
            // SAFETY: the group is whole, so that this index is below both lengths.
            values[j] = unsafe { load(x, first + j * groups.step) };
        }
        for j in 0..UNROLL {
            // SAFETY: as above.
            unsafe { store(y, first + j * groups.step, values[j]) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, x.load(i));
        }
    }
}
