//! The rungs of `matmul` that need instructions of sm_80: asynchronous copies and the tensor cores of a warp.
//!
//! The kernels have a PTX module of their own, because the other rungs need no PTX for sm_80.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod async_copies;
mod mma_sync;

pub use async_copies::matmul_async_copies;
pub use mma_sync::matmul_mma_sync;

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::tensor::{mma, tf32};
    pub use cuda_std::{AsyncCopies, Global, GlobalMut, bf16, dynamic_shared, f16, opaque, thread, unroll};

    pub use super::async_copies::{ACROSS, Copier, DOWN, Fragments, HEIGHT, STEP, WIDTH};
    pub use crate::matmul::staging::{Target, fragment, ordered_tile, per_vector};
    pub use crate::matmul::tuning::{
        ASYNC_BYTES, ASYNC_SIDE as SIDE, ASYNC_STAGES, ASYNC_THREADS as THREADS, async_pitch,
    };
    pub use crate::matmul::warp_tiles::{Arguments, multiply_tile};
    pub use crate::matmul::{Epilogue, Operand, Output, Problem, Sum};
}

cuda_std::kernels! {
    /// Products of matrices by asynchronous copies and the tensor cores of a warp.
    matmul_async_copies, matmul_mma_sync
}
