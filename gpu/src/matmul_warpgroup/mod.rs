//! The rungs of `matmul` that need the instructions of warpgroups, which only GPUs of compute capability 9.0 have.
//!
//! The kernels have a PTX module of their own, because the other rungs need no PTX for sm_90a.

mod wgmma;

pub use wgmma::matmul_wgmma;

cuda_std::kernels! {
    /// Products of matrices by the instructions of warpgroups for tensor cores.
    matmul_wgmma
}
