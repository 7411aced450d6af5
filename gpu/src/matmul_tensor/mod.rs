//! The rungs of `matmul` that need instructions of sm_80: asynchronous copies and the tensor cores of a warp.
//!
//! The kernels have a PTX module of their own, because the other rungs need no PTX for sm_80.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod async_copies;
mod mma_sync;

pub use async_copies::matmul_async_copies;
pub use mma_sync::matmul_mma_sync;

cuda_std::kernels! {
    /// Products of matrices by asynchronous copies and the tensor cores of a warp.
    matmul_async_copies, matmul_mma_sync
}
