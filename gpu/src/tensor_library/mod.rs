//! Test kernels that together use every instruction of tensor cores. They must give the same results on every device,
//! GPU or simulator.
//!
//! The test kernels do not belong to an algorithm, and the program `host` does not contain them.

mod fp8;
mod matrix;
mod mma;

pub use fp8::round_fp8;
pub use matrix::{move_matrices, multiply_tiles, multiply_whole_tiles};
pub use mma::multiply;

cuda_std::kernels![multiply, move_matrices, multiply_tiles, multiply_whole_tiles, round_fp8];
