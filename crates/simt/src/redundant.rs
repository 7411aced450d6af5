//! Which synchronisations a program can do without, as far as the tried orders show.

use std::collections::BTreeMap;
use std::fmt;

use crate::schedule::Schedule;
use crate::simulator::Simulator;
use crate::source::SourceLocation;
use crate::synchronisations::{SyncKind, Synchronisations};

/// A synchronisation whose absence no order tried has noticed: a hint, no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redundant {
    /// Where it stands.
    pub location: SourceLocation,
    /// What it is.
    pub kind: SyncKind,
}

impl Redundant {
    /// The hint, without the place.
    pub fn message(&self) -> String {
        let absence = match self.kind {
            SyncKind::CountingBarrier => "where this counting barrier counts and orders nothing".to_owned(),
            kind => format!("where this {} is left out", kind.name()),
        };
        format!(
            "no order tried notices {absence}: nothing is reported, and the results are the same. That is said of the sizes \
             and inputs that were run, and of it alone: of two that do for each other only one can go"
        )
    }
}

impl fmt::Display for Redundant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message())
    }
}

/// The barriers, warp synchronisations and fences that `run` comes to in `simulator`, and without each of which, one at
/// a time, it gives the same in all of `schedules`. By files and lines.
///
/// `run` is called once for each schedule, and then once for each synchronisation and schedule, until it fails or gives
/// something else.
///
/// # Errors
/// The first of `run`, where nothing is left out.
pub fn redundant_synchronisations<T: PartialEq, E>(
    simulator: &Simulator,
    schedules: &[Schedule],
    run: impl Fn(Simulator) -> Result<T, E>,
) -> Result<Vec<Redundant>, E> {
    let (mut met, mut results) = (BTreeMap::new(), Vec::new());
    for &schedule in schedules {
        let synchronisations = Synchronisations::new();
        let simulator = simulator.clone().with_schedule(schedule).with_synchronisations(synchronisations.clone());
        results.push((schedule, run(simulator)?));
        met.extend(synchronisations.met().into_iter().filter(|(_, kind)| kind.is_for_order()));
    }
    let notices = |simulator: Simulator| {
        let schedule = simulator.schedule();
        let is_result = |result: &T| results.iter().any(|(of, complete)| *of == schedule && complete == result);
        (!run(simulator).is_ok_and(|result| is_result(&result))).then_some(())
    };
    let is_redundant = |at: &SourceLocation| first_to_notice(simulator, schedules, at, notices).is_none();
    let redundant = met.into_iter().filter(|(at, _)| is_redundant(at));
    Ok(redundant.map(|(location, kind)| Redundant { location, kind }).collect())
}

/// The first of `schedules` in which `run` notices something where the synchronisation at `location` is left out, and
/// what.
pub fn first_to_notice<R>(
    simulator: &Simulator,
    schedules: &[Schedule],
    location: &SourceLocation,
    run: impl Fn(Simulator) -> Option<R>,
) -> Option<(Schedule, R)> {
    schedules.iter().find_map(|&schedule| {
        let without = Synchronisations::without(location.clone());
        let noticed = run(simulator.clone().with_schedule(schedule).with_synchronisations(without))?;
        Some((schedule, noticed))
    })
}
