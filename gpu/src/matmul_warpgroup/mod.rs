//! The rungs of `matmul` that need the instructions of warpgroups, which only GPUs of compute capability 9.0 have.
//!
//! The kernels have a PTX module of their own, because the other rungs need no PTX for sm_90a.

mod arrangement;
mod clustered;
mod finish;
mod wgmma;

pub use arrangement::Arranged;
pub use clustered::{A_ACROSS, B_ACROSS, SHARED_BYTES, STORES, THREADS, TILE_ROWS, matmul_clustered};
pub use wgmma::matmul_wgmma;

cuda_std::kernels! {
    /// Products of matrices by the instructions of warpgroups for tensor cores.
    matmul_wgmma,
    matmul_clustered,
}
