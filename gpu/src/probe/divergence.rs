//! Warp divergence: two kernels with the same two paths. In one kernel, the lanes of a warp take different paths; in
//! the other, whole warps take different paths.
//!
//! The lanes of a warp share an instruction stream. If they take both paths of a branch, the warp executes one path
//! after the other. A branch on which all lanes of a warp agree costs nothing extra. Each path is a chain of dependent
//! multiply-adds whose length is known only at run time. The chain is long enough for the compiler to emit a branch
//! instead of predicated instructions. The paths have different constants, so the compiler cannot merge them.
//! Arithmetic limits both kernels.
//!
//! Source: mathKernel1 and mathKernel2 of *Professional CUDA C Programming*. In the book, each path is one assignment,
//! which compilers turn into predicated instructions.

use cuda_std::{GlobalMut, GpuFloat, kernel, thread, warp};

/// One path of the branch, which repeats `v ← factor·v + addend`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The factor of each multiply-add.
    pub factor: f32,
    /// The addend of each multiply-add.
    pub addend: f32,
}

impl Path {
    /// The path for even thread or warp numbers.
    pub const EVEN: Self = Self { factor: 0.9995, addend: 0.25 };

    /// The path for odd thread or warp numbers.
    pub const ODD: Self = Self { factor: 0.9998, addend: -0.125 };

    /// Returns the result for element `i`: its start value after `rounds` dependent multiply-adds, each rounded once.
    #[inline(always)]
    pub fn follow(self, i: usize, rounds: u32) -> f32 {
        let mut value = (i % 256) as f32;
        for _ in 0..rounds {
            value = GpuFloat::mul_add(value, self.factor, self.addend);
        }
        value
    }
}

/// Returns the number whose parity selects the path in [`divergence_by_thread()`]: the thread's number.
#[inline(always)]
pub fn by_thread(i: usize) -> usize {
    i
}

/// Returns the number whose parity selects the path in [`divergence_by_warp()`]: the warp's number.
#[inline(always)]
pub fn by_warp(i: usize) -> usize {
    i / warp::SIZE as usize
}

/// Runs different paths in even and odd threads, so that every warp executes both paths. Launch at least one thread per
/// element.
#[kernel(max_threads = 256)]
pub fn divergence_by_thread(rounds: u32, y: GlobalMut<f32>) {
    let i = thread::index_1d();
    if i < y.len() {
        let is_even = by_thread(i).is_multiple_of(2);
        y.store(i, if is_even { Path::EVEN.follow(i, rounds) } else { Path::ODD.follow(i, rounds) });
    }
}

/// Runs different paths in even and odd warps, so that every warp executes only one path. Launch at least one thread
/// per element, in blocks of whole warps.
#[kernel(max_threads = 256)]
pub fn divergence_by_warp(rounds: u32, y: GlobalMut<f32>) {
    let i = thread::index_1d();
    if i < y.len() {
        let is_even = by_warp(i).is_multiple_of(2);
        y.store(i, if is_even { Path::EVEN.follow(i, rounds) } else { Path::ODD.follow(i, rounds) });
    }
}
