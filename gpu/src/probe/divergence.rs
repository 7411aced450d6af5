//! Warp divergence: the same two paths, once divided among the lanes of each warp and once among the warps.
//!
//! The lanes of a warp share an instruction stream: where they go two ways, the warp goes both, one after the other. A
//! branch that whole warps agree on costs nothing. Each path is a chain of dependent multiply-adds, whose length is known
//! at run time alone: long enough for a branch rather than predicated instructions, and with other constants than the
//! other path's, so that they cannot be merged. Limited by arithmetic. Source: mathKernel1 and mathKernel2 of
//! *Professional CUDA C Programming*, whose paths are one assignment each, which compilers predicate.

use cuda_std::{GlobalMut, GpuFloat, kernel, thread, warp};

/// One way through the branch: `v ← factor·v + addend`, again and again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// What the value is multiplied by.
    pub factor: f32,
    /// What is added then.
    pub addend: f32,
}

impl Path {
    /// Taken where the number that decides is even.
    pub const EVEN: Self = Self { factor: 0.9995, addend: 0.25 };

    /// Taken where it is odd.
    pub const ODD: Self = Self { factor: 0.9998, addend: -0.125 };

    /// `rounds` dependent multiply-adds, each rounded once, from the value that element `i` starts with.
    #[inline(always)]
    pub fn follow(self, i: usize, rounds: u32) -> f32 {
        let mut value = (i % 256) as f32;
        for _ in 0..rounds {
            value = GpuFloat::mul_add(value, self.factor, self.addend);
        }
        value
    }
}

/// What decides in [`divergence_by_thread()`]: the thread's number.
#[inline(always)]
pub fn by_thread(i: usize) -> usize {
    i
}

/// What decides in [`divergence_by_warp()`]: the warp's number.
#[inline(always)]
pub fn by_warp(i: usize) -> usize {
    i / warp::SIZE as usize
}

/// Even and odd threads go different ways: every warp goes both. At least one thread per element.
#[kernel(max_threads = 256)]
pub fn divergence_by_thread(rounds: u32, y: GlobalMut<f32>) {
    let i = thread::index_1d();
    if i < y.len() {
        let is_even = by_thread(i).is_multiple_of(2);
        y.store(i, if is_even { Path::EVEN.follow(i, rounds) } else { Path::ODD.follow(i, rounds) });
    }
}

/// Even and odd warps go different ways: every warp goes one. At least one thread per element, in blocks of whole warps.
#[kernel(max_threads = 256)]
pub fn divergence_by_warp(rounds: u32, y: GlobalMut<f32>) {
    let i = thread::index_1d();
    if i < y.len() {
        let is_even = by_warp(i).is_multiple_of(2);
        y.store(i, if is_even { Path::EVEN.follow(i, rounds) } else { Path::ODD.follow(i, rounds) });
    }
}
