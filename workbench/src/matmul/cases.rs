//! The cases of the matrix product: every rung, with sizes that are not whole tiles, batches and epilogues.

use cuda_std::Ladder;
use gridstride::matmul::MatmulRung;

use super::trial::{TYPES, Trial, Types};
use crate::case::{Case, Stage};

/// The names of the types of the cases: one per number of bytes. The synchronisations of a kernel do not depend on the
/// other properties of a type.
const CHECKED: [&str; 4] = ["f32", "f64", "bf16", "i8"];

/// Returns the cases of every rung, with each of the types that it is built for.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in MatmulRung::ALL {
        let is_checked = |types: &&Types| CHECKED.contains(&types.name) && types.is_built(rung);
        for types in TYPES.iter().filter(is_checked) {
            let work = move |stage: &Stage| {
                let mut trials = trials(rung, types.bytes).into_iter();
                trials.try_for_each(|trial| (types.run)(&Trial { rung: Some(rung), ..trial }, &stage.device))
            };
            cases.push(Case::new("matmul", rung.name(), families(rung, types.bytes), types.name, work));
        }
    }
    for types in TYPES.iter().filter(|types| ["f32", "bf16"].contains(&types.name)) {
        let work = move |stage: &Stage| VECTORS.iter().try_for_each(|trial| (types.run)(trial, &stage.device));
        cases.push(Case::new("matmul", "vector", &["matmul_vector"], types.name, work));
    }
    for types in TYPES.iter().filter(|types| ["f16", "bf16", "f32"].contains(&types.name)) {
        let work = move |stage: &Stage| VECTORS.iter().try_for_each(|trial| (types.run)(trial, &stage.device));
        let name = format!("{}, one row or one column", types.name);
        cases.push(Case::new("matmul", "vector", &["matmul_vector"], name, work));
    }
    cases
}

/// Returns the kernels that the trials of a rung launch with elements of `bytes` bytes, the rung's own first.
fn families(rung: MatmulRung, bytes: usize) -> &'static [&'static str] {
    match rung {
        MatmulRung::AsyncCopies => &["matmul_async_copies", "matmul_combine", "matmul_pack"],
        MatmulRung::MmaSync if bytes == 8 => &["matmul_mma_double", "matmul_pack"],
        MatmulRung::MmaSync => &["matmul_mma_sync", "matmul_pack"],
        MatmulRung::Wgmma => &["matmul_wgmma", "matmul_pack"],
        MatmulRung::Pipelined => &["matmul_pipelined", "matmul_pack"],
        MatmulRung::Clustered => &["matmul_clustered", "matmul_pack"],
        MatmulRung::SplitK => &["matmul_clustered", "matmul_combine", "matmul_pack"],
        MatmulRung::ClusterSplit => &["matmul_cluster_split", "matmul_pack"],
        _ => rung.families(),
    }
}

/// Returns the trials of a rung with elements of `bytes` bytes. The longest sums fill each stage of shared memory
/// twice. The simulated device has two multiprocessors, so a product of two tiles has the large tiles of a rung, and a
/// product of one tile has the small ones.
fn trials(rung: MatmulRung, bytes: usize) -> Vec<Trial> {
    let k = |steps: usize, step_bytes: usize| (steps * step_bytes / bytes).next_multiple_of(16);
    match rung {
        MatmulRung::Naive | MatmulRung::Tile | MatmulRung::Padded => {
            vec![Trial::new([17, 20, 18]), Trial { sizes: [3, 18, 17], ..GENERAL }]
        }
        MatmulRung::RegisterBlocks => vec![Trial::new([20, 70, 18]), Trial { sizes: [130, 5, 9], ..GENERAL }],
        MatmulRung::AsyncCopies => {
            // Operands are copied in two ways, and sums are split.
            let first = Trial::new([20, 20, k(3, 64) + 3]);
            let of = |a, b| Trial { is_transposed: [a, b, false], ..first };
            let packed = Trial { sizes: [17, 3, 20], ..GENERAL };
            vec![first, of(false, true), of(true, false), packed, SPLIT]
        }
        MatmulRung::MmaSync => {
            vec![Trial::new([17, 20, k(4, 128) + 3]), Trial { sizes: [130, 5, k(1, 64) + 3], ..GENERAL }]
        }
        MatmulRung::Wgmma => vec![Trial::new([16, 20, k(1, 128)]), Trial { sizes: [17, 5, k(2, 128) + 3], ..GENERAL }],
        MatmulRung::Pipelined => {
            let transposed = Trial { is_transposed: [true, false, false], ..Trial::new([16, 20, k(5, 128)]) };
            vec![transposed, Trial { sizes: [17, 5, k(1, 128) + 3], batch: 1, ..GENERAL }]
        }
        MatmulRung::Clustered => {
            // A cluster multiplies and stores two tiles, which have fewer columns than the bias has in shared memory.
            let sizes = Trial::new([16, 48, k(4, 128)]);
            let stored = Trial { is_transposed: [true, false, false], batch: 2, has_bias: true, ..sizes };
            vec![stored, Trial { sizes: [17, 5, k(1, 128) + 3], batch: 1, ..GENERAL }]
        }
        MatmulRung::SplitK => vec![SPLIT],
        MatmulRung::ClusterSplit => {
            // One tile has a cluster of two blocks, of which one has more steps. Several tiles have one block each.
            let split = Trial { is_transposed: [false, true, false], ..Trial::new([17, 100, k(11, 128)]) };
            vec![split, Trial { batch: 1, sizes: [17, 300, k(1, 128) + 3], ..GENERAL }]
        }
    }
}

/// A product whose sums can be split: *k* is at least two steps of every type.
const SPLIT: Trial = Trial { factors: [2, -1], has_bias: true, ..Trial::new([20, 33, 256]) };

/// A batch of products of transposed matrices with gaps that begin at any element, and all steps of the epilogue.
const GENERAL: Trial = Trial {
    is_transposed: [true, false, true],
    gaps: [5, 1, 3],
    starts: [1, 3, 1],
    batch: 2,
    is_b_shared: true,
    factors: [2, -1],
    has_bias: true,
    has_relu: true,
    ..Trial::new([0; 3])
};

/// Products by the kernel for vectors: *k* has whole vectors, a rest, and one or several steps of a block.
const VECTORS: [Trial; 4] = [
    Trial { is_transposed: [false, true, false], factors: [2, -1], has_bias: true, ..Trial::new([1, 45, 320]) },
    Trial { gaps: [3, 0, 2], has_relu: true, ..Trial::new([37, 1, 77]) },
    Trial { is_transposed: [false, true, true], gaps: [9, 9, 0], batch: 2, ..Trial::new([1, 3, 2055]) },
    Trial { is_transposed: [false, true, false], gaps: [11, 11, 0], ..Trial::new([1, 130, 5]) },
];
