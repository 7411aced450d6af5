//! Tensor cores: the warps of a block multiply fragments by `mma.sync`, which they load from shared memory by
//! `ldmatrix`. The module `warp_tiles` has the tiles and their multiplication.
//!
//! The kernel is limited by the issue of `mma.sync`, which reaches about two thirds of an H100's tensor cores; the
//! other third needs `wgmma`. Sources: the kernels `MmaMultistage` of NVIDIA's CUTLASS; NVIDIA, "Parallel Thread
//! Execution ISA", the fragments of `mma`.

use cuda_std::tensor::{mma, tf32};
use cuda_std::{Global, GlobalMut, bf16, dynamic_shared, f16, kernel};

use crate::matmul::warp_tiles::{Arguments, multiply_tile};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// Computes tiles of C by tensor cores. A has contiguous rows and B contiguous columns, and both views and each row of
/// A or column of B begin at a multiple of 16 bytes. Launch one block of 128 threads per tile of 128 × 128 elements of
/// C (128 × 64 for `f64`): blocks along x for its columns, along y for its rows, and along z for the products, with the
/// dynamic shared memory of `tuning::mma_sync`.
#[kernel(
    max_threads = 128,
    min_blocks = 2,
    instances(T = [f16], C = [f16, f32], E = [Linear<f32>]),
    instances(T = [bf16], C = [bf16, f32], E = [Linear<f32>]),
    instances(T = [tf32], C = [f32], E = [Linear<f32>]),
    instances(T = [i8], C = [i32], E = [Linear<i32>]),
    instances(T = [f64], C = [f64], E = [Linear<f64>]),
    exported = "matmul_tensor"
)]
pub fn matmul_mma_sync<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    mma::require();
    let arguments = Arguments { problem, a, b, c, bias, epilogue };
    multiply_tile(arguments, dynamic_shared::<T>());
}
