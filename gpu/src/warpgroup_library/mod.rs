//! Test kernels for the products of warpgroups (`wgmma`), which need a GPU of compute capability 9.0 and PTX for
//! `sm_90a`. They must give the same results on every device, GPU or simulator.
//!
//! The test kernels do not belong to an algorithm, and the program `host` does not contain them.

mod groups;
mod pipeline;
mod products;

pub use groups::{move_registers, multiply_double, multiply_groups, multiply_warpgroups};
pub use pipeline::{TILE, matmul_pipelined};
pub use products::{multiply_fragments, multiply_shared, multiply_transposed};

cuda_std::kernels![
    multiply_shared,
    multiply_transposed,
    multiply_fragments,
    multiply_groups,
    multiply_double,
    multiply_warpgroups,
    move_registers,
    matmul_pipelined,
];
