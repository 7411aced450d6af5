//! Saxpy: a times x plus y, with one rounding.
//!
//! `y = a·x + y` is the classic first kernel of linear algebra: "single precision a·x plus y". It reads two vectors,
//! writes one, and computes almost nothing, so memory limits its speed.
//!
//! The product of two `f32` has up to 48 bits, and an `f32` keeps 24. The expression `a * x + y` rounds twice: first
//! the product, then the sum. A GPU has an instruction that keeps all bits of the product until the end and rounds
//! once: the fused multiply-add. It is also faster, because it is one instruction.
//!
//! ```text
//! a * x + y                     round(round(a·x) + y)
//! GpuFloat::mul_add(p, q, r)    round(p·q + r)
//! ```
//!
//! Rust never fuses the two on its own: the kernel must call `mul_add`. In the check `y` is about −a·x, so the result
//! is what the rounding of the product would lose.
//!
//! `thread::index_1d()` returns the index of a thread in the grid. `x.load(i)`, `y.load(i)` and `y.store(i, value)`
//! access the vectors, and `y.len()` is their length. A value that is loaded is a copy: only a store changes memory.
//!
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// `y[i] = a·x[i] + y[i]` for every `i`, rounded once. Both vectors have the same length. One thread per element; the
/// grid may have more threads than elements.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    // Your code begins here.
    todo!("compute this thread's element of y");
    // Your code ends here.
}
