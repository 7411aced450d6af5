//! Compares the launches of the simulator with those that ncu profiled.

use anyhow::{Result, ensure};

use super::cases::Case;
use super::counts::{Counts, Launch, Metric};
use super::simulated::Simulated;

/// Launches of one kernel and configuration, counted by the simulator and by ncu.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchComparison {
    /// The name of the case.
    pub case: String,
    /// The subject and options of `host explain`.
    pub explain: String,
    /// The kernel and its configuration.
    pub launch: Launch,
    /// The number of launches.
    pub times: u64,
    /// The sums of the counts of these launches in the simulator.
    pub simulator: Counts,
    /// The sums of the counts of these launches on the GPU.
    pub ncu: Counts,
}

impl LaunchComparison {
    /// Returns the metrics that differ.
    pub fn differences(&self) -> Vec<Metric> {
        Metric::ALL.into_iter().filter(|&metric| self.simulator.get(metric) != self.ncu.get(metric)).collect()
    }
}

/// Compares the launches of the simulator with the first profiled launches of the same kernel, grid and block. Further
/// profiled launches, such as repetitions, are ignored.
///
/// # Errors
/// If ncu profiled too few launches.
pub fn rows(case: &Case, simulated: &[Simulated], profiled: &[(Launch, Counts)]) -> Result<Vec<LaunchComparison>> {
    ensure!(!simulated.is_empty(), "host explain {} launches no kernel", case.explain);
    let row = |one: &Simulated| {
        let mut ncu = Counts::default();
        let mut found = 0;
        for (_, counts) in profiled.iter().filter(|(launch, _)| *launch == one.launch) {
            if found < one.times {
                ncu += *counts;
                found += 1;
            }
        }
        ensure!(
            found == one.times,
            "the simulator makes {} launches of {}, but ncu profiled {found} of them; all launches that ncu profiled: \
             {}",
            one.times,
            one.launch,
            kinds(profiled)
        );
        let (case, explain) = (case.name.clone(), case.explain.clone());
        Ok(LaunchComparison { case, explain, launch: one.launch.clone(), times: one.times, simulator: one.counts, ncu })
    };
    simulated.iter().map(row).collect()
}

/// Returns a list of the profiled kernels and configurations, each once.
fn kinds(profiled: &[(Launch, Counts)]) -> String {
    let mut launches: Vec<&Launch> = profiled.iter().map(|(launch, _)| launch).collect();
    launches.sort();
    launches.dedup();
    launches.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
