//! Measures the rungs of an algorithm on several devices, of one process or of several ranks.

use std::time::Duration;

use cuda_std::Rung;
use launch::Group;
use multi::ranks::Communicator;
use multi::team::Team;
use workbench::algorithm::Problem;
use workbench::deviation::Deviation;
use workbench::scaling::SplitWork;

use super::{FEWEST_RUNS, Facts, MOST_RUNS, Report, TIME_FOR_RUNS, Timing, copy_speed};
use crate::error::usage_or_failure;
use crate::report::progress;

/// Measures each of `rungs` on vectors that are split evenly over the devices of `group` and of the other ranks.
///
/// # Errors
/// [`crate::error::UsageError`] if the algorithm does not run on several devices; another error if a device or another
/// rank fails.
pub(super) fn measure(
    group: &Group,
    ranks: &dyn Communicator,
    problem: &dyn Problem,
    algorithm: &'static str,
    rungs: Vec<&Rung>,
    facts: Facts,
) -> anyhow::Result<Report<Facts>> {
    let team = Team::new(group, ranks)?;
    let (members, device) = (team.members(), group.members()[0].clone());
    let name = match ranks.size() {
        1 => format!("{members} × {}", device.name()),
        size => format!("{members} × {} of {size} ranks", device.name()),
    };
    let counts = [("members", members), ("ranks", ranks.size())];
    let counts = counts.map(|(name, count)| (name, workbench::algorithm::Fact::Count(count as u64)));
    let facts = Facts(facts.0.into_iter().chain(counts).collect());
    let copy = copy_speeds(&team, problem.bytes() / members as u64)?;
    let mut report =
        Report::new(&device, copy, algorithm, problem.title(), facts, problem.bytes()).operations(problem.operations());
    report.device = name;
    for rung in progress::rungs(rungs) {
        let mut work = problem.split(&team, rung).map_err(usage_or_failure)?;
        // The first run warms up; its result is checked.
        let deviation = of_all(ranks, work.verify()?)?;
        report.add(rung.name, median_time(&team, &mut *work)?, deviation);
    }
    Ok(report)
}

/// Returns the sum of the copy speeds of all devices, in GB/s. Each rank measures its devices one after the other.
fn copy_speeds(team: &Team<'_>, bytes: u64) -> anyhow::Result<f64> {
    let own = team.devices().iter().map(|device| copy_speed(device, bytes)).sum::<Result<f64, _>>()?;
    let all = team.ranks().all_gather(&own.to_le_bytes())?;
    Ok(all.iter().filter_map(|bytes| Some(f64::from_le_bytes(bytes.as_slice().try_into().ok()?))).sum())
}

/// Returns the median time of several runs of `work`. A run ends when the slowest rank has finished it. The caller must
/// run `work` once before, to warm up.
///
/// # Errors
/// If a device or another rank fails.
pub(crate) fn median_time(team: &Team<'_>, work: &mut dyn SplitWork) -> anyhow::Result<Timing> {
    // All ranks have the same times. They therefore end the loop together.
    let mut times: Vec<f64> = Vec::new();
    let is_enough = |times: &[f64]| {
        let spent = Duration::try_from_secs_f64(times.iter().sum()).unwrap_or(Duration::MAX);
        times.len() >= MOST_RUNS || (times.len() >= FEWEST_RUNS && spent >= TIME_FOR_RUNS)
    };
    while !is_enough(&times) {
        times.push(workbench::scaling::time(team, work)?);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(Timing { seconds: times[times.len() / 2], runs: times.len() })
}

/// Returns the deviation of the whole result, combined over all ranks. `own` is the deviation of this rank's part of
/// the result.
///
/// # Errors
/// If another rank has ended.
pub(crate) fn of_all(ranks: &dyn Communicator, own: Deviation) -> anyhow::Result<Deviation> {
    let Deviation { largest_error, of_bound, wrong_elements, wrong } = own;
    // JSON has no infinity, so the floats are sent as their bits.
    let own = (largest_error.to_bits(), of_bound.to_bits(), wrong_elements, wrong);
    let mut all = Deviation::default();
    for bytes in ranks.all_gather(&serde_json::to_vec(&own)?)? {
        let (largest_error, of_bound, wrong_elements, wrong) = serde_json::from_slice(&bytes)?;
        let (largest_error, of_bound) = (f64::from_bits(largest_error), f64::from_bits(of_bound));
        all = all.merge(Deviation { largest_error, of_bound, wrong_elements, wrong });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use multi::ranks::in_threads;

    #[test]
    fn what_one_rank_finds_wrong_all_know() {
        let found = in_threads(3, |ranks| {
            let mut own = Deviation::default();
            if ranks.rank() > 0 {
                own.add_exact(ranks.rank(), 1, 2);
            }
            of_all(ranks, own).unwrap()
        });
        for all in found {
            assert_eq!((all.wrong_elements, all.largest_error), (2, f64::INFINITY));
            assert_eq!(all.wrong.unwrap().index, 1);
        }
    }
}
