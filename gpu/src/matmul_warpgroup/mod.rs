//! The rungs of `matmul` that need the instructions of warpgroups, which only GPUs of compute capability 9.0 have.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`matmul_wgmma()`] | a warpgroup multiplies tiles in shared memory, which a tensor map loads | latency |
//! | [`matmul_pipelined()`] | one warpgroup loads several steps ahead, two multiply | the start and the end of a tile |
//! | [`matmul_clustered()`] | persistent clusters share loads; stores overlap the next tile | the tensor cores and their power |
//! | [`matmul_cluster_split()`] | the blocks of a cluster split the sums of a tile | memory, with few rows |
//!
//! The kernels have a PTX module of their own, because the other rungs need no PTX for sm_90a.

mod arrangement;
mod cluster_split;
mod clustered;
mod double;
mod finish;
mod pipeline;
// Kernels that other crates do not make.
#[cfg(any(feature = "matmul", feature = "matmul_warpgroup"))]
mod pipelined;
#[cfg(any(feature = "matmul", feature = "matmul_warpgroup"))]
mod wgmma;

pub use arrangement::Arranged;
pub use cluster_split::{CLUSTER_SPLIT_THREADS, cluster_split_bytes, matmul_cluster_split};
pub use clustered::matmul_clustered;
pub use double::matmul_mma_double;
pub use pipeline::{A_ACROSS, B_ACROSS, SHARED_BYTES, STORES, THREADS, TILE_ROWS, WIDE};
#[cfg(any(feature = "matmul", feature = "matmul_warpgroup"))]
pub use pipelined::matmul_pipelined;
#[cfg(any(feature = "matmul", feature = "matmul_warpgroup"))]
pub use wgmma::{matmul_wgmma, wgmma_bytes};

/// The names that the bodies of the exported kernels use.
#[doc(hidden)]
pub mod exported {
    pub use cuda_std::barrier::sync_named;
    pub use cuda_std::bulk::{self, TensorMap, TensorMapMut};
    pub use cuda_std::tensor::tf32;
    pub use cuda_std::tensor::wgmma::{self, ROWS, Sums, WgmmaInstruction};
    pub use cuda_std::{Global, GlobalMut, bf16, cluster, dynamic_shared, f16, thread, warp};

    pub use super::arrangement::Arranged;
    pub use super::cluster_split::{CLUSTER_SPLIT_THREADS, PITCH, WIDTH};
    pub use super::clustered::Tiles;
    pub use super::finish::{Target, finish};
    pub use super::pipeline::{A_ACROSS, B_ACROSS, Pipeline, STORES, Stage, TILE_ROWS, WIDE, staging, warpgroup};
    pub use crate::matmul::staging::Target as RowsTarget;
    pub use crate::matmul::warp_tiles::{Arguments, multiply_tile};
    pub use crate::matmul::{Epilogue, Operand, Output, Problem, Sum, generate};
}

#[cfg(any(feature = "matmul", feature = "matmul_warpgroup"))]
cuda_std::kernels! {
    /// Products of matrices by the instructions of warpgroups for tensor cores.
    matmul_wgmma,
    matmul_pipelined,
    matmul_clustered,
    matmul_cluster_split,
    matmul_mma_double,
}
