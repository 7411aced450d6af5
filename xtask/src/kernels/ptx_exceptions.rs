//! What the PTX of a kernel may have that its source does not say.

use crate::pattern;
use crate::ptx::Barriers;

/// An exception for kernels whose PTX and source have different numbers of barriers.
///
/// The source's number is the number of calls of barriers in the kernel's body and in the functions that the kernel
/// calls. The compiler may change this number by unrolling a loop of known length, or by removing a branch with a
/// constant condition. An exception states the exact number, so that a lost or duplicated barrier
/// (rust-lang/rust#137086) is found in every instance and on every architecture.
pub(super) struct Exception {
    /// A pattern for the names of the entries, in which `*` matches any text.
    pub(super) kernels: &'static str,
    pub(super) barriers: Barriers,
    pub(super) reason: &'static str,
}

pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        kernels: "block_sum",
        barriers: Barriers { block: 9, warp: 0 },
        reason: "one barrier precedes the tree, and each of its eight unrolled steps has one",
    },
    Exception {
        kernels: "bulk_exchange",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "the barriers of the cluster are named `sync` and `wait`; in older PTX they are those of the block",
    },
    Exception {
        kernels: "bulk_multicast",
        barriers: Barriers { block: 2, warp: 1 },
        reason: "the barriers of the cluster are named `sync` and `wait`; in older PTX they are those of the block",
    },
    Exception {
        kernels: "tensor_multicast",
        barriers: Barriers { block: 1, warp: 0 },
        reason: "the barrier of the cluster is named `wait`; in older PTX it is one of the block",
    },
    Exception {
        kernels: "matmul_pipelined",
        barriers: Barriers { block: 2, warp: 0 },
        reason: "the barriers of the cluster are named `sync` and `wait`; in older PTX they are those of the block",
    },
    Exception {
        kernels: "matmul_async_copies_*",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "the sums pass through shared memory, with two barriers in a function of each row",
    },
    Exception {
        kernels: "matmul_mma_*",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "the barriers are in a function that two kernels share",
    },
    Exception {
        kernels: "matmul_clustered_*_f32_linear_128_*",
        barriers: Barriers { block: 12, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_i8_i32_linear_128_128",
        barriers: Barriers { block: 12, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_*_f32_linear_256_*",
        barriers: Barriers { block: 20, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_i8_i32_linear_256_128",
        barriers: Barriers { block: 20, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_f16_f16_linear_256_64",
        barriers: Barriers { block: 12, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_f16_f16_linear_128_64",
        barriers: Barriers { block: 8, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_bf16_bf16_linear_256_64",
        barriers: Barriers { block: 12, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_bf16_bf16_linear_128_64",
        barriers: Barriers { block: 8, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_clustered_*_linear_192_64",
        barriers: Barriers { block: 10, warp: 0 },
        reason: "each of the boxes of a tile has two named barriers, and the loop over chunks two",
    },
    Exception {
        kernels: "matmul_cluster_split_*",
        barriers: Barriers { block: 4, warp: 0 },
        reason: "the barrier of the block, the named one of the warpgroups, and two of the cluster",
    },
    Exception {
        kernels: "matmul_pipelined_*",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "the barrier of the block, and the two named ones of the loop over chunks",
    },
    Exception {
        kernels: "matmul_wgmma_*",
        barriers: Barriers { block: 4, warp: 0 },
        reason: "the barriers of the block, and the two named ones of the loop over chunks",
    },
    Exception {
        kernels: "cluster_*",
        barriers: Barriers { block: 2, warp: 0 },
        reason: "the barriers of the cluster are named `sync`; in older PTX they are those of the block",
    },
    Exception {
        kernels: "reduce_unrolled_last_warp_*",
        barriers: Barriers { block: 3, warp: 5 },
        reason: "the last of the last warp's six steps has no barrier, and the strides are constants",
    },
    Exception {
        kernels: "reduce_completely_unrolled_*",
        barriers: Barriers { block: 6, warp: 5 },
        reason: "the last of the last warp's six steps has no barrier, and the strides are constants",
    },
    Exception {
        kernels: "reduce_grid_stride_*",
        barriers: Barriers { block: 2, warp: 0 },
        reason: "the macro that combines the blocks' results has the second barrier",
    },
    Exception {
        kernels: "reduce_unaligned_*",
        barriers: Barriers { block: 2, warp: 0 },
        reason: "the macro that combines the blocks' results has the second barrier",
    },
    Exception {
        kernels: "by_key_look_back_*",
        barriers: Barriers { block: 3, warp: 1 },
        reason: "a function of `one_pass` has a barrier; other functions have the same names",
    },
    Exception {
        kernels: "segments_look_back_*_sum_*",
        barriers: Barriers { block: 6, warp: 0 },
        reason: "`draw_tile` of `one_pass` has a barrier, which is not counted by its name",
    },
    Exception {
        kernels: "segments_look_back_*_least_*",
        barriers: Barriers { block: 6, warp: 0 },
        reason: "`draw_tile` of `one_pass` has a barrier, which is not counted by its name",
    },
    Exception {
        kernels: "select_pipelined_*",
        barriers: Barriers { block: 3, warp: 1 },
        reason: "the function that joins the team has two barriers, which are not counted by its name",
    },
    Exception {
        kernels: "select_look_back_*",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "two functions of `one_pass` have a barrier each; other functions have the same names",
    },
    Exception {
        kernels: "select_run_lengths_*",
        barriers: Barriers { block: 3, warp: 0 },
        reason: "two functions of `one_pass` have a barrier each; other functions have the same names",
    },
    Exception {
        kernels: "sort_one_sweep_*_nopayload_21_*",
        barriers: Barriers { block: 5, warp: 42 },
        reason: "each unrolled item has the two warp barriers of its rank; without payloads a block barrier is left out",
    },
    Exception {
        kernels: "sort_one_sweep_*_nopayload_22_*",
        barriers: Barriers { block: 5, warp: 44 },
        reason: "each unrolled item has the two warp barriers of its rank; without payloads a block barrier is left out",
    },
    Exception {
        kernels: "sort_one_sweep_*_24_*",
        barriers: Barriers { block: 6, warp: 48 },
        reason: "each unrolled item has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_one_sweep_u64_u32_22_*",
        barriers: Barriers { block: 6, warp: 44 },
        reason: "each unrolled item has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_one_sweep_*_18_*",
        barriers: Barriers { block: 6, warp: 36 },
        reason: "each unrolled item has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_one_sweep_*_16_20",
        barriers: Barriers { block: 6, warp: 32 },
        reason: "each unrolled item has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_one_sweep_*_12_20",
        barriers: Barriers { block: 6, warp: 24 },
        reason: "each unrolled item has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_one_block_*",
        barriers: Barriers { block: 5, warp: 9 },
        reason: "each of the four items of a chunk has the two warp barriers of its rank",
    },
    Exception {
        kernels: "sort_cluster_*",
        barriers: Barriers { block: 8, warp: 17 },
        reason: "the barriers of the cluster are named `sync` and `wait`; each of eight items has the two of its rank",
    },
    Exception {
        kernels: "life_streaming_6_*",
        barriers: Barriers { block: 0, warp: 6 },
        reason: "the PTX has both rounds that fill the pipeline, and the source has one",
    },
    Exception {
        kernels: "life_streaming_torus_*",
        barriers: Barriers { block: 0, warp: 6 },
        reason: "the PTX has both rounds that fill the pipeline, and the source has one",
    },
    Exception {
        kernels: "life_streaming_plane_*",
        barriers: Barriers { block: 0, warp: 6 },
        reason: "the PTX has both rounds that fill the pipeline, and the source has one",
    },
];

impl Exception {
    pub(super) fn is_about(&self, name: &str) -> bool {
        pattern::matches(self.kernels, name)
    }
}

/// A function that a kernel's PTX may call. Any other call is an error: it is a panic or a function that was not
/// inlined.
pub(super) struct Call {
    /// A pattern for the names of the entries that may call the function, in which `*` matches any text.
    pub(super) kernels: &'static str,
    /// The function's name in the source.
    pub(super) function: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const CALLS: &[Call] = &[
    Call {
        kernels: "reduce_one_tile_*",
        function: "combine_partial_tile",
        reason: "only the last block executes it, so it is apart from the code of the other blocks",
    },
    Call {
        kernels: "saxpy_vectorised_*",
        function: "rest",
        reason: "only the last block of some launches executes it, so it is apart from the code of the other blocks",
    },
];
