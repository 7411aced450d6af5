//! Finds synchronisations that a program does not need under any of the tried schedules.

use std::collections::BTreeMap;
use std::fmt;

use crate::schedule::Schedule;
use crate::simulator::Simulator;
use crate::source::SourceLocation;
use crate::synchronisations::{SyncKind, Synchronisations};

/// A synchronisation that a program may not need: without it, the program has the same results under every tried
/// schedule. This is a hint and not a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redundant {
    /// The source site of the synchronisation.
    pub location: SourceLocation,
    /// The kind of synchronisation.
    pub kind: SyncKind,
}

impl Redundant {
    /// Returns the text of the hint without the source site.
    pub fn message(&self) -> String {
        let (name, absence) = match self.kind {
            SyncKind::CountingBarrier => ("counting barrier", "if it counts and orders nothing"),
            kind => (kind.name(), "without it"),
        };
        format!(
            "no tried order needs this {name}: {absence}, nothing is reported, and the results are the same. This \
            holds only for the sizes and inputs that were run, and if two synchronisations replace each other, only \
            one can go"
        )
    }
}

impl fmt::Display for Redundant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message())
    }
}

/// Returns the barriers, warp synchronisations and fences that `run` reaches but does not need, ordered by file and
/// line. With any one of them left out, `run` has the same results under all of `schedules`.
///
/// `run` gets a copy of `simulator` with one of the schedules. This function first calls `run` once per schedule with
/// all synchronisations. Then it leaves out one synchronisation at a time, and calls `run` under each schedule until
/// `run` fails or returns another value than before.
///
/// # Errors
/// The first error of `run` with no synchronisation left out.
pub fn redundant_synchronisations<T: PartialEq, E>(
    simulator: &Simulator,
    schedules: &[Schedule],
    run: impl Fn(Simulator) -> Result<T, E>,
) -> Result<Vec<Redundant>, E> {
    let (mut reached, mut results) = (BTreeMap::new(), Vec::new());
    for &schedule in schedules {
        let synchronisations = Synchronisations::new();
        let simulator = simulator.clone().with_schedule(schedule).with_synchronisations(synchronisations.clone());
        results.push((schedule, run(simulator)?));
        reached.extend(synchronisations.reached().into_iter().filter(|(_, kind)| kind.is_for_order()));
    }
    let notices = |simulator: Simulator| {
        let schedule = simulator.schedule();
        let is_result = |result: &T| results.iter().any(|(of, complete)| *of == schedule && complete == result);
        (!run(simulator).is_ok_and(|result| is_result(&result))).then_some(())
    };
    let is_redundant = |at: &SourceLocation| first_to_notice(simulator, schedules, at, notices).is_none();
    let redundant = reached.into_iter().filter(|(at, _)| is_redundant(at));
    Ok(redundant.map(|(location, kind)| Redundant { location, kind }).collect())
}

/// Leaves out the synchronisation at `location` and calls `run` under each of `schedules` until `run` returns a value.
/// Returns the schedule and this value.
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
