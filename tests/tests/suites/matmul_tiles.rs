//! Tests the tiles of the rungs of the matrix product that have several.

use gpu::matmul::tuning::{CLUSTERED, ClusterSplit, clustered_tile, splits};
use gridstride::matmul::MatmulRung;
use launch::Device;
use simt::Simulator;
use workbench::matmul::trial::Trial;

use super::matmul::{run, types};

/// Tests each tile of the rung `Clustered`, with an epilogue, for sizes at which it is the fastest one.
#[test]
fn the_tiles_of_clusters_conform() {
    const SIZES: [[usize; 3]; 5] = [[150, 248, 72], [150, 184, 72], [150, 120, 130], [100, 504, 72], [100, 200, 65]];
    // One cluster.
    let device = Device::simulated(Simulator::new().with_multiprocessors(2));
    for (sizes, tile) in SIZES.into_iter().zip(CLUSTERED) {
        let [m, n, k] = sizes.map(|size| size as u32);
        assert_eq!(clustered_tile([m, n, k.div_ceil(64), 1], device.multiprocessors(), |_| true), tile);
        let plain = Trial { rung: Some(MatmulRung::Clustered), ..Trial::new(sizes) };
        for trial in [plain, Trial { factors: [2, -1], has_bias: true, has_relu: true, ..plain }] {
            for types in types(MatmulRung::Clustered).filter(|types| types.bytes == 2) {
                run(types, &trial, &device);
            }
        }
    }
}

/// Tests each tile of the rung `ClusterSplit`, with clusters of several blocks, for operands in
/// each order.
#[test]
fn the_tiles_of_split_clusters_conform() {
    const SIZES: [([usize; 3], u32, u32); 3] =
        [([20, 140, 330], 32, 2), ([50, 130, 1270], 64, 2), ([100, 120, 3570], 128, 4)];
    const MULTIPROCESSORS: u32 = 4;
    let device = Device::simulated(Simulator::new().with_multiprocessors(MULTIPROCESSORS));
    for (sizes, rows, blocks) in SIZES {
        let [m, n, k] = sizes.map(|size| size as u32);
        let (fastest, _) = ClusterSplit::fastest([m, n, k.div_ceil(64), 1], MULTIPROCESSORS, |_| u32::MAX);
        assert_eq!(fastest, ClusterSplit { rows, blocks });
        for (is_transposed, gap) in [([false, true, false], 8), ([false; 3], 8), ([true; 3], 5)] {
            let plain = Trial { is_transposed, rung: Some(MatmulRung::ClusterSplit), ..Trial::new(sizes) };
            let full = Trial { factors: [2, -1], has_bias: true, has_relu: true, gaps: [0, gap, 3], ..plain };
            for types in types(MatmulRung::ClusterSplit).filter(|types| types.name == "bf16" || gap == 5) {
                run(types, if types.name == "bf16" { &full } else { &plain }, &device);
            }
        }
    }
}

/// Tests that the tiles of any product can be chosen.
#[test]
fn tiles_are_chosen_for_every_size() {
    for sizes in [[0; 4], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [u32::MAX; 4], [1, u32::MAX, 1, u32::MAX]] {
        let (split, _) = ClusterSplit::fastest(sizes, 132, |blocks| 132 / blocks);
        assert!((1..=8).contains(&split.blocks));
        let (parts, _) = splits(sizes, sizes[2], 132);
        assert!(parts == 1 || sizes[2].is_multiple_of(parts));
        assert!(clustered_tile(sizes, 132, |tile| tile.columns == 128).columns == 128);
    }
}
