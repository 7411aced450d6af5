//! globalRead: `UNROLL` independent loads per thread and pass, combined so that none can be left out.
//!
//! Limited by memory when enough bytes are under way: small operands need a high unroll factor or many warps for that,
//! and with loads of 1 byte the multiprocessor's load units are the limit. In the PTX the loads of a pass stand before
//! everything that needs them; the assembler may still wait for some of them early, to save registers, and with launch bounds
//! it did so until it spilled. Source: the CUDA Handbook's globalRead, which adds where this combines by XOR.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::groups::{Groups, load};
use super::operand::{Operand, U32x4};

/// `y[t]` = the XOR of the elements of `x` that thread `t` reads, for the threads that `y` has an element for. An empty `y`
/// measures reading alone. A one-dimensional grid.
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
            // SAFETY: the group is whole, so that this index is below the length.
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
    // Whether anybody wants the result is known at run time alone, so that the loads above are needed.
    let t = thread::index_1d();
    if t < y.len() {
        y.store(t, combined);
    }
}
