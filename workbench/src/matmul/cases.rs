//! The cases of the matrix product: every rung with each type, all layouts, sizes that are not whole tiles, batches and
//! epilogues.

use cuda_std::Ladder;
use gridstride::matmul::MatmulRung;

use super::trial::{TYPES, Trial};
use crate::case::{Case, Stage};

/// Returns the cases of every rung, with each type that it is built for.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in MatmulRung::ALL {
        for types in TYPES.iter().filter(|types| types.is_built(rung)) {
            for (what, trials) in [("all layouts", &LAYOUTS[..]), ("batches, epilogues and any start", &OTHERS)] {
                let work = move |stage: &Stage| {
                    let mut trials = trials.iter().map(|trial| Trial { rung: Some(rung), ..*trial });
                    trials.try_for_each(|trial| (types.run)(&trial, &stage.device))
                };
                let name = format!("{}, {what}", types.name);
                cases.push(Case::new("matmul", rung.name(), families(rung), name, work));
            }
            if rung == MatmulRung::SplitK {
                let work =
                    |stage: &Stage| (types.run)(&Trial { rung: Some(MatmulRung::SplitK), ..SPLIT }, &stage.device);
                let name = format!("{}, two parts or more", types.name);
                cases.push(Case::new("matmul", rung.name(), families(rung), name, work));
            }
        }
    }
    cases
}

/// Returns the kernels that a product by the rung launches, with those that precede or follow the rung's own.
fn families(rung: MatmulRung) -> &'static [&'static str] {
    match rung {
        MatmulRung::MmaSync => &["matmul_mma_sync", "matmul_pack"],
        MatmulRung::SplitK => &["matmul_clustered", "matmul_combine"],
        _ => rung.families(),
    }
}

/// A product whose sums can be split: *k* is at least two steps of every type.
pub(crate) const SPLIT: Trial = Trial { factors: [2, -1], has_bias: true, ..Trial::new([20, 33, 256]) };

const TRIAL: Trial = Trial::new([37, 45, 70]);

const LAYOUTS: [Trial; 4] = [
    TRIAL,
    Trial { is_transposed: [false, true, false], ..TRIAL },
    Trial { is_transposed: [true, false, false], ..TRIAL },
    Trial { is_transposed: [true, true, false], ..TRIAL },
];

const OTHERS: [Trial; 4] = [
    Trial { sizes: [130, 20, 64], factors: [2, -1], has_bias: true, has_relu: true, ..TRIAL },
    Trial { sizes: [3, 133, 16], batch: 2, gaps: [5, 1, 3], is_transposed: [false, true, true], ..TRIAL },
    Trial { sizes: [9, 10, 33], batch: 2, is_b_shared: true, starts: [1, 3, 1], ..TRIAL },
    Trial { sizes: [2, 3, 0], factors: [1, 2], has_bias: true, ..TRIAL },
];
