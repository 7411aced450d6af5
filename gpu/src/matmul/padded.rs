//! Padded: the rows of the tiles start 17 elements apart, so that the elements of a column are in different banks.
//!
//! Operands that are contiguous along their columns then go to shared memory without conflicts. The kernel is limited
//! by shared memory: each multiplication needs two loads from it. Source: the tile with a padded row of M. Harris, "An
//! Efficient Matrix Transpose in CUDA C/C++", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, kernel, shared_array};

use super::tile::through_tiles;
use super::tuning::SIDE;
use super::{Epilogue, Linear, Operand, Output, Problem};

/// The distance between two rows of a tile, in elements.
const PITCH: usize = SIDE + 1;

/// Computes each element of C from tiles whose rows are padded by one element. Launch one block of 16 × 16 threads per
/// 16 × 16 elements of C: blocks along x for its columns, along y for its rows, and along z for the products.
#[kernel(
    max_threads = 256,
    instances(T = [f32], C = [f32], E = [Linear<f32>]),
    instances(T = [f64], C = [f64], E = [Linear<f64>])
)]
pub fn matmul_padded<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let tiles = (shared_array![T; SIDE * PITCH], shared_array![T; SIDE * PITCH]);
    through_tiles::<T, C, E, PITCH>(tiles, problem, a, b, c, bias, epilogue);
}
