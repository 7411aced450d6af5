//! Test kernels that together use every instruction of tensor cores. They must give the same results on every device,
//! GPU or simulator.
//!
//! The test kernels do not belong to an algorithm, and the program `host` does not contain them.

mod bulk;
mod fp8;
mod matrix;
mod mma;
mod steps;

pub use bulk::{
    BOX, TILE, bulk_combine, bulk_copy, bulk_exchange, bulk_multicast, bulk_pipeline, bulk_reduce, tensor_copy,
    tensor_dimensions, tensor_multicast, tensor_reduce,
};
pub use fp8::round_fp8;
pub use matrix::{move_matrices, multiply_tiles, multiply_whole_tiles};
pub use mma::multiply;
pub use steps::{matmul_shared, matmul_warp};

cuda_std::kernels![
    bulk_combine,
    bulk_copy,
    bulk_exchange,
    bulk_multicast,
    bulk_pipeline,
    bulk_reduce,
    tensor_copy,
    tensor_dimensions,
    tensor_multicast,
    tensor_reduce,
    multiply,
    move_matrices,
    multiply_tiles,
    multiply_whole_tiles,
    round_fp8,
    matmul_warp,
    matmul_shared,
];
