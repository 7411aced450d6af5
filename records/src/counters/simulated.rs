//! Reads the output of `host explain --json`.

use explain::Launches;
use serde::Deserialize;

use super::counts::{Counts, Launch};

/// The fields of an [`Explanation`](explain::Explanation) that are compared.
#[derive(Deserialize)]
pub struct Explained {
    rungs: Vec<Rung>,
}

#[derive(Deserialize)]
struct Rung {
    kernels: Vec<Kernel>,
}

#[derive(Deserialize)]
struct Kernel {
    entry: String,
    launches: Vec<Launches>,
}

/// The launches of one kernel with the same grid and block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulated {
    /// The kernel and its configuration.
    pub launch: Launch,
    /// The number of launches.
    pub times: u64,
    /// The sums of the counts of these launches.
    pub counts: Counts,
}

/// Returns the launches of all rungs of an explanation.
pub fn launches(explained: &Explained) -> Vec<Simulated> {
    let of_kernel = |Kernel { entry, launches }: &Kernel| {
        let simulated = |launches: &Launches| Simulated {
            launch: Launch {
                kernel: entry.clone(),
                grid: launches.grid.map(u64::from),
                block: launches.block.map(u64::from),
            },
            times: launches.launches,
            counts: Counts::of(|metric| metric.of_simulator(&launches.totals)),
        };
        launches.iter().map(simulated).collect::<Vec<_>>()
    };
    explained.rungs.iter().flat_map(|rung| &rung.kernels).flat_map(of_kernel).collect()
}
