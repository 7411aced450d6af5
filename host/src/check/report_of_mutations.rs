//! Which synchronisations are missed when they are left out, as a table and as JSON.

use anyhow::anyhow;
use serde::Serialize;
use simt::SyncKind;

use super::finding::Finding;
use super::mutations::{Mutation, Reported};
use crate::report;

/// What is printed.
#[derive(Serialize, Debug)]
pub(super) struct MutationReport {
    synchronisations: Vec<Entry>,
}

/// A synchronisation of a kernel.
#[derive(Serialize, Debug)]
struct Entry {
    file: String,
    line: u32,
    column: u32,
    kind: &'static str,
    kernel: &'static str,
    /// Nothing if its deletion passes unnoticed.
    reported: Option<By>,
}

#[derive(Serialize, Debug)]
struct By {
    case: String,
    schedule: String,
    #[serde(flatten)]
    finding: Finding,
}

impl MutationReport {
    pub(super) fn new(mutations: Vec<Mutation>) -> Self {
        let by = |Reported { case, schedule, finding }| By { case, schedule: schedule.to_string(), finding };
        let entry = |Mutation { location, kind, kernel, reported }: Mutation| Entry {
            file: location.file,
            line: location.line,
            column: location.column,
            kind: name(kind),
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

fn name(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Barrier => "barrier",
        SyncKind::CountingBarrier => "counting barrier",
        SyncKind::Warp => "warp synchronisation",
        SyncKind::Shuffle => "shuffle",
        SyncKind::Vote => "vote",
        SyncKind::Fence => "fence",
        _ => "synchronisation",
    }
}
