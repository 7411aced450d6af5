//! The report of a check: a row per kernel, and each fault in full.

use reports::Finding;
use serde::Serialize;
use simt::{OlderValue, Schedule};
use thiserror::Error;
use units::{Seconds, grouped, table};

use super::thorough::{KernelTried, Tried};
use super::{CaseFailure, CaseRun, Settings};

/// The name of the finding of a case whose result differs from the expected one.
pub(crate) const WRONG_RESULT: &str = "wrong result";
/// The line after a wrong result that only some orders have. The others may be right, or wrong in another way.
const ORDER_IS_OPEN: &str = "  other orders have another outcome, so it depends on the order of the threads: atomic \
    and volatile accesses are no race, but none waits for another; if several threads load an element and store it, \
    make it one atomic update (such as `atomic_add`); if a thread needs what another has stored, let it wait for \
    that\n";

/// The report of a check.
#[derive(Serialize, Debug)]
pub struct Report {
    /// The schedules under which the cases ran.
    pub schedules: Vec<String>,
    /// True if shuffles and votes order no memory accesses.
    pub strict: bool,
    /// The time that the check took.
    pub seconds: f64,
    /// The rows of the kernels.
    pub kernels: Vec<KernelChecks>,
    /// The extent of a search for further orders, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thorough: Option<Tried>,
    /// The hints at synchronisations whose deletion is reported in no order, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundant: Option<Vec<Finding>>,
    /// The warnings. A warning is no fault: the kernel relies on behaviour that GPUs have, but that CUDA's
    /// documentation does not promise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Finding>,
    /// The notes on the extent of the check: kernels of which weak memory was explored in part only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Finding>,
    /// The kernels that no case launches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
}

/// The checks of one kernel.
#[derive(Serialize, Debug)]
pub struct KernelChecks {
    /// The name of the kernel's function.
    pub kernel: &'static str,
    /// The name of the kernel's algorithm, or of its module.
    pub algorithm: &'static str,
    /// The number of cases that launch the kernel.
    pub cases: usize,
    /// The number of launches that ended without a fault.
    pub launches: usize,
    /// The number of threads of these launches.
    pub threads: u64,
    /// The time of all launches together, on one core.
    pub seconds: f64,
    /// The extent of a search for further orders, if there was one for a case that launches the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thorough: Option<KernelTried>,
    /// The faults, each once.
    pub faults: Vec<Found>,
    /// Cases that could not be finished, for reasons outside the kernel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Found>,
}

/// A fault, or the reason why a case could not be finished.
#[derive(Serialize, Debug)]
pub struct Found {
    /// The title of the case.
    pub case: String,
    /// The schedules under which the fault was found.
    pub schedules: Vec<String>,
    /// An atomic access that did not see the newest write, as PTX's memory model allows, in each of the schedules. It
    /// may be the reason of a wrong result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older: Option<String>,
    /// The fault.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The error of a check that found a fault or could not be finished.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Verdict(String);

impl KernelChecks {
    /// Returns the row of a kernel without launches and faults.
    pub fn new(kernel: &'static str, algorithm: &'static str, cases: usize) -> Self {
        Self {
            kernel,
            algorithm,
            cases,
            launches: 0,
            threads: 0,
            seconds: 0.0,
            thorough: None,
            faults: Vec::new(),
            unfinished: Vec::new(),
        }
    }

    /// Adds to `rows` the launches and the failures of `runs`. `title` returns the title of the case with an index, and
    /// `culprit` the kernel against which a finding of that case counts.
    pub fn add_runs<E: CaseFailure>(
        rows: &mut [Self],
        runs: &[CaseRun<E>],
        title: impl Fn(usize) -> String,
        culprit: impl Fn(usize, &Finding) -> Option<&'static str>,
    ) {
        for run in runs {
            for launch in &run.launches {
                if let Some(row) = rows.iter_mut().find(|row| row.kernel == launch.kernel.family) {
                    row.launches += 1;
                    row.threads += launch.stats.threads;
                    row.seconds += launch.duration.as_secs_f64();
                }
            }
            if let Some(error) = &run.error {
                let finding = error.finding();
                // The message of a fault already names such an access.
                let older = run.older.last().map(OlderValue::to_string);
                let older = older.filter(|older| !finding.message.contains(older));
                let culprit = culprit(run.case, &finding);
                if let Some(row) = rows.iter_mut().find(|row| Some(row.kernel) == culprit) {
                    let found = if error.is_unfinished() { &mut row.unfinished } else { &mut row.faults };
                    add(found, title(run.case), run.schedule, finding, older);
                }
            }
        }
    }

    /// Returns the last cell of the row.
    fn result(&self) -> String {
        match self.faults.len() {
            0 if !self.unfinished.is_empty() => "not finished".to_owned(),
            0 => "ok".to_owned(),
            1 => "1 fault".to_owned(),
            many => format!("{many} faults"),
        }
    }
}

/// Adds `finding` to `all`. If `all` has a similar finding, adds only the schedule to it. Findings that name a line
/// come before those that name none. `older` is the text of an access that may be the reason, which it cannot be if the
/// finding also appears without it.
fn add(all: &mut Vec<Found>, case: String, schedule: Schedule, finding: Finding, older: Option<String>) {
    let schedule = schedule.to_string();
    match all.iter_mut().find(|found| found.finding.is_like(&finding)) {
        Some(found) if found.schedules.contains(&schedule) => {}
        Some(found) => {
            found.schedules.push(schedule);
            found.older = found.older.take().filter(|_| older.is_some());
        }
        None => {
            let is_vaguer = |found: &Found| finding.here.is_some() && found.finding.here.is_none();
            let at = all.iter().position(is_vaguer).unwrap_or(all.len());
            all.insert(at, Found { case, schedules: vec![schedule], older, finding });
        }
    }
}

/// Returns the warnings of the runs, each once.
pub fn warnings<E>(runs: &[CaseRun<E>]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let warnings = runs.iter().flat_map(|run| &run.warnings).filter(|note| note.kind.is_warning());
    for warning in warnings.map(Finding::of_note) {
        if !all.iter().any(|other| other.kernel == warning.kernel && other.is_like(&warning)) {
            all.push(warning);
        }
    }
    all
}

/// Returns the notes of the runs on the extent of the check, one per kernel.
pub fn notes<E>(runs: &[CaseRun<E>]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for note in runs.iter().flat_map(|run| &run.warnings).filter(|note| !note.kind.is_warning()) {
        if !all.iter().any(|other| other.kernel == Some(note.kernel.family)) {
            all.push(Finding::of_note(note));
        }
    }
    all
}

impl Report {
    /// Returns a report with the rows `kernels`, and without warnings, hints or a search.
    pub fn new(settings: &Settings, kernels: Vec<KernelChecks>) -> Self {
        Self {
            schedules: settings.schedules.iter().map(Schedule::to_string).collect(),
            strict: !settings.checks.shuffles_order_memory,
            seconds: 0.0,
            kernels,
            thorough: None,
            redundant: None,
            warnings: Vec::new(),
            notes: Vec::new(),
            unchecked: Vec::new(),
        }
    }

    /// Returns the number of kernels that have a fault.
    pub fn at_fault(&self) -> usize {
        self.kernels.iter().filter(|row| !row.faults.is_empty()).count()
    }

    /// Returns the number of kernels with a case that could not be finished.
    pub fn unfinished(&self) -> usize {
        self.kernels.iter().filter(|row| !row.unfinished.is_empty()).count()
    }

    /// Returns all faults, unfinished cases, warnings, hints and notes, each with its level in SARIF.
    pub fn findings(&self) -> impl Iterator<Item = (&'static str, &Finding)> {
        let faults = self.kernels.iter().flat_map(|row| &row.faults).map(|found| ("error", &found.finding));
        let unfinished = self.kernels.iter().flat_map(|row| &row.unfinished).map(|found| &found.finding);
        let warnings = unfinished.chain(&self.warnings).map(|warning| ("warning", warning));
        faults.chain(warnings).chain(self.redundant.iter().flatten().chain(&self.notes).map(|note| ("note", note)))
    }

    /// Checks that no kernel has a fault, and that each was checked to the end.
    ///
    /// # Errors
    /// A [`Verdict`] that counts the faulty kernels.
    pub fn verdict(&self) -> Result<(), Verdict> {
        let all = self.kernels.len();
        let at_fault = match self.at_fault() {
            0 => None,
            1 => Some(format!("1 of {all} kernels is at fault")),
            many => Some(format!("{many} of {all} kernels are at fault")),
        };
        let first = self.kernels.iter().find_map(|row| row.unfinished.first());
        let unfinished = first.map(|first| {
            let (many, why) = (self.unfinished(), &first.finding.message);
            format!("the check of {many} of {all} kernels could not be finished: {why}")
        });
        match (at_fault, unfinished) {
            (None, None) => Ok(()),
            (Some(text), None) | (None, Some(text)) => Err(Verdict(text)),
            (Some(at_fault), Some(unfinished)) => Err(Verdict(format!("{at_fault}; {unfinished}"))),
        }
    }

    /// Returns the report as text for a terminal.
    pub fn text(&self) -> String {
        let orders = match self.schedules.len() {
            1 => "order of the threads",
            _ => "orders of the threads",
        };
        let mut text = format!("check in {} {orders}: {}\n", self.schedules.len(), self.schedules.join(", "));
        if self.strict {
            text += "strict: shuffles and votes order no memory accesses\n";
        }
        text += &self.thorough.as_ref().map_or_else(String::new, Tried::text);
        text += &format!("{}\n", self.table());
        text.extend(self.fault_texts().map(|fault| format!("\n{fault}")));
        let full = |finding: &Finding| {
            format!("\n{}: {}\n{}", finding.kernel.unwrap_or_default(), finding.name, finding.text("  "))
        };
        text.extend(self.warnings.iter().map(full));
        text.extend(self.notes.iter().map(|note| format!("\nnote: {}\n", note.message)));
        if let Some(redundant) = &self.redundant {
            text += &match redundant.len() {
                0 => "\nhints: none; if any one synchronisation is deleted, the check reports it\n".to_owned(),
                many => format!("\nhints: synchronisations whose deletion no order reports: {many}\n"),
            };
            text.extend(redundant.iter().map(full));
        }
        if !self.unchecked.is_empty() {
            text += &format!("\nnot checked, because no case launches them: {}\n", self.unchecked.join(", "));
        }
        let summary = match (self.at_fault(), self.unfinished()) {
            (0, 0) => "nothing found".to_owned(),
            (faulty, 0) => format!("{faulty} at fault"),
            (faulty, unfinished) => format!("{faulty} at fault, {unfinished} not checked to the end"),
        };
        text + &format!("\n{} kernels: {summary}, in {}\n", self.kernels.len(), Seconds(self.seconds))
    }

    /// Returns the text of each fault and of each unfinished case: the kernel, the case, the orders, and the finding.
    pub fn fault_texts(&self) -> impl Iterator<Item = String> {
        self.kernels.iter().flat_map(move |row| {
            let all = row.faults.iter().map(|found| ("", found));
            all.chain(row.unfinished.iter().map(|found| ("check not finished: ", found))).map(move |(not, found)| {
                let mut text = format!("{}: {not}{}\n", row.kernel, found.finding.name);
                text += &format!("  {}; found {}\n", found.case, self.orders_of(found));
                text += &found.finding.text("  ");
                if found.finding.name == WRONG_RESULT && found.schedules.len() < self.schedules.len() {
                    text += ORDER_IS_OPEN;
                }
                text.extend(found.older.iter().map(|older| format!("  before, {older}\n")));
                text
            })
        })
    }

    /// Returns the table of the kernels. A thorough check has two more columns.
    fn table(&self) -> String {
        let counts = |row: &KernelChecks| {
            let (threads, seconds) = (grouped(row.threads), Seconds(row.seconds).to_string());
            [row.kernel.to_owned(), row.cases.to_string(), row.launches.to_string(), threads, seconds]
        };
        let rows = self.kernels.iter();
        if self.thorough.is_none() {
            let cells = |row| {
                let [kernel, cases, launches, threads, time] = counts(row);
                [kernel, cases, launches, threads, time, row.result()]
            };
            let heading = ["kernel", "cases", "launches", "threads", "time", "result"];
            return table(heading, rows.map(cells)).to_string();
        }
        let cells = |row: &KernelChecks| {
            let [kernel, cases, launches, threads, time] = counts(row);
            let [orders, choices] = KernelTried::cells(row.thorough.as_ref());
            [kernel, cases, launches, threads, time, orders, choices, row.result()]
        };
        let heading = ["kernel", "cases", "launches", "threads", "time", "orders", "choices", "result"];
        table(heading, rows.map(cells)).to_string()
    }

    /// Returns a text that says in which orders a fault was found.
    fn orders_of(&self, Found { schedules, .. }: &Found) -> String {
        let is_of_these = schedules.iter().all(|schedule| self.schedules.contains(schedule));
        let described = |schedule: &String| match schedule.parse::<Schedule>() {
            Ok(order) => format!("{schedule} ({})", order.description()),
            Err(_) => schedule.clone(),
        };
        let (found, all) = (schedules.len(), self.schedules.len());
        match &schedules[..] {
            [schedule] if !is_of_these => {
                format!("in a further order; repeat it with --schedule {}", described(schedule))
            }
            _ if found == all && found > 1 => format!("in all {all} orders of the threads"),
            _ => {
                let described: Vec<String> = schedules.iter().map(described).collect();
                format!("in {found} of {all} orders of the threads: {}", described.join(", "))
            }
        }
    }
}
