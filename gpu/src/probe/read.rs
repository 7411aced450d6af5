//! globalRead: a thread issues `UNROLL` independent loads per pass. It combines the results, so that the compiler
//! cannot omit a load.
//!
//! The kernel is limited by memory if enough bytes are in flight. With small operands, enough bytes are in flight only
//! at a high unroll factor or with many warps. With 1-byte operands, the multiprocessor's load units are the limit. In
//! the PTX, the loads of a pass precede every use of their results. To save registers, ptxas may still place the use of
//! some results between the loads. The kernel has no launch bounds, because with them ptxas did this and also spilled
//! registers. Source: the CUDA Handbook's globalRead, which combines by addition instead of XOR.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::groups::{Groups, load};
use super::operand::{Operand, U32x4};

/// Computes, in each thread `t`, the XOR of all elements of `x` that the thread reads, and stores it in `y[t]` if this
/// element exists. With an empty `y` the kernel only reads. Launch a one-dimensional grid.
#[kernel(
    instances(T = [u8, u16, u32, u64], UNROLL = [1, 2, 4, 8, 16]),
    instances(T = [U32x4], UNROLL = [1, 2, 4, 8, 16], wide(loads)),
    allow(unbounded = "with a bound the assembler waits for some of the loads early, and spilled")
)]
pub fn global_read<T: Operand, const UNROLL: usize>(x: Global<T>, y: GlobalMut<T>) {
    let mut combined = T::ZERO;
    let mut groups = Groups::<UNROLL>::new(x.len());
    while let Some(first) = groups.next_whole() {
        let mut values = [T::ZERO; UNROLL];
        for j in 0..UNROLL {
            // SAFETY: `next_whole` returned a whole group, so this index is below the length.
            values[j] = unsafe { load(x, first + j * groups.step) };
        }
        for j in 0..UNROLL {
            combined = combined ^ values[j];
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            combined = combined ^ x.load(i);
        }
    }
    // The compiler does not know the length of `y`, so it cannot omit the loads above.
    let t = thread::index_1d();
    if t < y.len() {
        y.store(t, combined);
    }
}
