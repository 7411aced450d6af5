//! Alternating copy: in each pass, a thread copies `UNROLL` elements one after the other. It stores each element before
//! it loads the next.
//!
//! In contrast to globalCopy, loads and stores alternate. The compiler cannot prove that the arrays do not overlap, so
//! it keeps this order. A thread therefore has only one load in flight. The kernel is limited by the latency of memory,
//! unless enough warps hide it.

use cuda_std::{Global, GlobalMut, kernel};

use super::groups::{Groups, load, store};
use super::operand::{Operand, U32x4};

/// Copies `x` to `y`: `y[i] = x[i]` for every `i` below both lengths. A thread stores each element before it loads the
/// next. Launch a one-dimensional grid with up to 512 threads per block.
#[kernel(max_threads = 512, instances(T = [u8, u16, u32, u64, U32x4], UNROLL = [1, 2, 4, 8, 16]))]
pub fn global_copy_alternating<T: Operand, const UNROLL: usize>(x: Global<T>, y: GlobalMut<T>) {
    let mut groups = Groups::<UNROLL>::new(x.len().min(y.len()));
    while let Some(first) = groups.next_whole() {
        for j in 0..UNROLL {
            let i = first + j * groups.step;
            // SAFETY: `next_whole` returned a whole group, so this index is below both lengths.
            unsafe { store(y, i, load(x, i)) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, x.load(i));
        }
    }
}
