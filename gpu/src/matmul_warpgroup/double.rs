//! `f64` on the tensor cores of compute capability 9.0, whose products have 16 rows.

use cuda_std::tensor::wgmma;
use cuda_std::{Global, GlobalMut, dynamic_shared, kernel};

use crate::matmul::warp_tiles::{Arguments, multiply_tile};
use crate::matmul::{Epilogue, Linear, Operand, Output, Problem};

/// Does the same as `matmul_mma_sync`, by products of 16 × 8 elements.
#[kernel(
    max_threads = 128,
    min_blocks = 2,
    instances(T = [f64], C = [f64], E = [Linear<f64>]),
    exported = "matmul_warpgroup"
)]
pub fn matmul_mma_double<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    wgmma::require();
    let arguments = Arguments { problem, a, b, c, bias, epilogue };
    multiply_tile(arguments, dynamic_shared::<T>());
}
