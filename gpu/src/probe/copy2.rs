//! globalCopy2: two sources and one destination. In each pass, a thread loads `UNROLL` elements of each source into
//! registers and then stores the results.
//!
//! Two thirds of the transferred bytes are reads and one third are writes, as in `y = a·x + y`. The kernel is limited
//! by memory. Source: the CUDA Handbook's globalCopy2.

use cuda_std::{Global, GlobalMut, kernel};

use super::groups::{Groups, load, store};
use super::operand::{Operand, U32x4};

/// Computes `y[i] = a[i] ^ b[i]` for every `i` below all three lengths. Launch a one-dimensional grid with up to 512
/// threads per block.
#[kernel(
    max_threads = 512,
    instances(T = [u8, u16, u32, u64], UNROLL = [1, 2, 4, 8, 16]),
    instances(T = [U32x4], UNROLL = [1, 2, 4, 8], wide(loads, stores)),
    instances(
        T = [U32x4],
        UNROLL = [16],
        wide(loads, stores),
        allow(local_in_ptx = "the compiler does not unroll the loop over the operands of two arrays; the assembler does")
    )
)]
pub fn global_copy2<T: Operand, const UNROLL: usize>(a: Global<T>, b: Global<T>, y: GlobalMut<T>) {
    let mut groups = Groups::<UNROLL>::new(a.len().min(b.len()).min(y.len()));
    while let Some(first) = groups.next_whole() {
        let mut values = [T::ZERO; UNROLL];
        for j in 0..UNROLL {
            // SAFETY: `next_whole` returned a whole group, so this index is below all three lengths.
            values[j] = unsafe { load(a, first + j * groups.step) };
        }
        for j in 0..UNROLL {
            // SAFETY: this index is below all three lengths, because the loop over `a` has the same indices.
            values[j] = values[j] ^ unsafe { load(b, first + j * groups.step) };
        }
        for j in 0..UNROLL {
            // SAFETY: this index is below all three lengths, because the loop over `a` has the same indices.
            unsafe { store(y, first + j * groups.step, values[j]) };
        }
    }
    for j in 0..UNROLL {
        if let Some(i) = groups.rest(j) {
            y.store(i, a.load(i) ^ b.load(i));
        }
    }
}
