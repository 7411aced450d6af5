//! The cases of the matrix product: every rung with each type, all layouts, sizes that are not whole tiles, batches and
//! epilogues.

use cuda_std::Ladder;
use gridstride::matmul::MatmulRung;

use super::trial::{TYPES, Trial};
use crate::case::{Case, Stage};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in MatmulRung::ALL {
        for types in TYPES.iter().filter(|types| types.is_built(rung)) {
            for (what, trials) in [("all layouts", &LAYOUTS[..]), ("batches, epilogues and any start", &OTHERS)] {
                let work = move |stage: &Stage| {
                    let mut trials = trials.iter().map(|trial| Trial { rung: Some(rung), ..*trial });
                    trials.try_for_each(|trial| (types.run)(&trial, &stage.device))
                };
                let name = format!("{}, {what}", types.name);
                cases.push(Case::new("matmul", rung.name(), rung.families(), name, work));
            }
        }
    }
    cases
}

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
