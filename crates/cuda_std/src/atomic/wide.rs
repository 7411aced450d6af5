//! Atomic operations on 128 bits.
//!
//! A GPU of compute capability 9.0 or later has instructions for loads, stores, exchanges and comparisons. The other
//! updates are loops of comparisons. An older GPU has no such instructions, and a kernel cannot emulate them without a
//! lock: it ends with an error there.

use super::{Atomic, AtomicType, Update};

/// Pairs of two words, such as a pointer and its version, are a `u128` too.
///
/// Operations on 128 bits need a GPU of compute capability 9.0 or later and a driver for PTX 8.4 (CUDA 12.4). On an
/// older GPU the kernel prints this and ends with an error. `cuda_builder` also builds for sm_90 unless other
/// architectures are chosen.
///
/// ```
/// use cuda_std::{GlobalMut, kernel, thread};
///
/// /// Pushes the node of each thread to a stack. `top[0]` has the top node's index plus 1 in its lower half, and the
/// /// number of pushes in its upper half.
/// #[kernel]
/// pub fn push(top: GlobalMut<u128>, next: GlobalMut<u64>) {
///     let node = thread::index_1d();
///     let mut seen = top.load_relaxed(0);
///     loop {
///         next.store(node, seen as u64);
///         let pushed = ((seen >> 64) + 1) << 64 | (node as u128 + 1);
///         let old = top.atomic_compare_exchange(0, seen, pushed);
///         if old == seen {
///             break;
///         }
///         seen = old;
///     }
/// }
/// # fn main() {}
/// ```
impl Atomic for u128 {
    const TYPE: AtomicType = AtomicType::U128;

    #[inline(always)]
    fn updated(self, update: Update, value: Self) -> Self {
        match update {
            Update::Add => self.wrapping_add(value),
            _ => value,
        }
    }

    #[inline(always)]
    fn negated(self) -> Self {
        self.wrapping_neg()
    }
}
