//! Matrix product: *C* = α·op(*A*)·op(*B*) + β·*C*, where *A* has *m* × *k* elements, *B* has *k* × *n* and *C* has *m*
//! × *n*, for any layout of each matrix ([`Strides`]), and for a batch of such products.
//!
//! An [`Epilogue`] computes each element of *C* from its sum: the factors α and β, a bias per column, an activation,
//! and the conversion to the type of *C*.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod element;
mod epilogue;
mod problem;
pub(crate) mod staging;
pub mod tuning;
pub(crate) mod warp_tiles;

pub use element::{Operand, Output, Sum};
#[doc(hidden)]
pub use epilogue::generate;
pub use epilogue::{Epilogue, Linear};
pub use problem::{Problem, Strides};

cuda_std::__private::kernel! { device {} host {
    #[cfg(feature = "matmul")]
    use cuda_std::{Global, GlobalMut};

    mod own_epilogue;

    pub use own_epilogue::MatmulEpilogue;
} }

#[cfg(feature = "instances")]
pub mod exported;
#[cfg(any(feature = "instances", feature = "matmul"))]
mod instances;

#[cfg(feature = "instances")]
exported_modules! { "matmul": combine register_blocks vector }

#[cfg(feature = "matmul")]
cuda_std::ladder! {
    /// The product of two matrices of floats or integers, with sums of at least 32 bits.
    pub enum MatmulRung: matmul {
        /// Returns the kernel call of a rung that takes views of any layout.
        pub fn plain<'call, T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
            problem: Problem,
            a: Global<'call, T>,
            b: Global<'call, T>,
            c: GlobalMut<'call, C>,
            bias: Global<'call, C>,
            epilogue: E,
        ) {
            /// Each thread reads a row of A and a column of B, and computes one element of C.
            naive,
            /// Tiles of A and B in shared memory, of which each element is used 16 times.
            tile,
            /// Tiles whose rows are one element longer, so that their columns have no bank conflicts.
            padded,
            /// 8 × 8 elements of C per thread in registers.
            register_blocks = register_blocks::matmul_register_blocks<8> + register_blocks::matmul_register_blocks<4>,
            /// Copies to shared memory that proceed during the multiplications, and fragments of 16 bytes.
            async_copies = crate::matmul_tensor::matmul_async_copies,
            /// By a warp's instructions for tensor cores (`mma.sync`).
            mma_sync = crate::matmul_tensor::matmul_mma_sync + crate::matmul_warpgroup::matmul_mma_double,
        }
        /// By the instructions of a warpgroup for tensor cores, whose operands are in shared memory.
        wgmma = crate::matmul_warpgroup::matmul_wgmma,
        /// One warpgroup loads by tensor maps, several steps ahead, and two others multiply.
        pipelined = crate::matmul_warpgroup::matmul_pipelined,
        /// Persistent clusters of two blocks, which share loads; stores overlap the next tile.
        clustered = crate::matmul_warpgroup::matmul_clustered,
        /// Small results: several clusters share a tile and split its sums, and a second kernel adds them.
        split_k = crate::matmul_warpgroup::matmul_clustered,
        /// Few rows or tiles: the blocks of a cluster split the sums of a tile, and add them in shared memory.
        cluster_split = crate::matmul_warpgroup::matmul_cluster_split,
    }
    also {
        pack::matmul_pack,
        combine::matmul_combine,
        vector::matmul_vector,
    }
}
