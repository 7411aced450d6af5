//! Which synchronisations are missed when they are left out, as a table and as JSON.

use anyhow::anyhow;
use reports::Finding;
use serde::Serialize;

use super::mutations::{Mutation, Reported};
use crate::report;

/// What is printed.
#[derive(Serialize, Debug)]
pub struct MutationReport {
    /// By files and lines.
    pub synchronisations: Vec<Entry>,
}

/// A synchronisation of a kernel.
#[derive(Serialize, Debug)]
pub struct Entry {
    /// The source file, from the workspace's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What it is: "barrier".
    pub kind: &'static str,
    /// The kernel's function.
    pub kernel: &'static str,
    /// Nothing if its deletion passes unnoticed.
    pub reported: Option<By>,
}

/// What reported a deletion.
#[derive(Serialize, Debug)]
pub struct By {
    /// The case that failed.
    pub case: String,
    /// Under which schedule.
    pub schedule: String,
    /// With what.
    #[serde(flatten)]
    pub finding: Finding,
}

impl MutationReport {
    /// The report of what [`mutate`](super::mutations::mutate) gives.
    pub fn new(mutations: Vec<Mutation>) -> Self {
        let by = |Reported { case, schedule, finding }| By { case, schedule: schedule.to_string(), finding };
        let entry = |Mutation { location, kind, kernel, reported }: Mutation| Entry {
            file: location.file,
            line: location.line,
            column: location.column,
            kind: kind.name(),
            kernel,
            reported: reported.map(by),
        };
        Self { synchronisations: mutations.into_iter().map(entry).collect() }
    }

    /// Fails if a deletion passes unnoticed.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        let all = self.synchronisations.len();
        match self.synchronisations.iter().filter(|entry| entry.reported.is_none()).count() {
            0 => Ok(()),
            missed => Err(anyhow!("{missed} of {all} synchronisations can be left out, and nothing reports it")),
        }
    }

    pub(super) fn text(&self) -> String {
        let row = |entry: &Entry| {
            let (verdict, schedule) = match &entry.reported {
                Some(by) => (by.finding.kind.to_owned(), by.schedule.clone()),
                None => ("NOT REPORTED".to_owned(), String::new()),
            };
            [
                format!("{}:{}", entry.file, entry.line),
                entry.kind.to_owned(),
                entry.kernel.to_owned(),
                verdict,
                schedule,
            ]
        };
        let rows: Vec<_> = self.synchronisations.iter().map(row).collect();
        let heading = ["left out", "which is a", "in kernel", "reported as", "in order"];
        format!("{}\n{} synchronisations\n", report::table(heading, &rows), rows.len())
    }
}
