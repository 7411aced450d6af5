//! The report of `--mutate-barriers`: a table of the deleted synchronisations, each with the fault that revealed the
//! deletion.

use anyhow::anyhow;
use workbench::check::mutations::{MutationEntry, MutationReport};

use crate::report;

/// Fails if a deletion was not reported.
pub(super) fn verdict(report: &MutationReport) -> anyhow::Result<()> {
    let all = report.synchronisations.len();
    match report.synchronisations.iter().filter(|entry| entry.reported.is_none()).count() {
        0 => Ok(()),
        missed => Err(anyhow!("the deletion of {missed} of {all} synchronisations is not reported")),
    }
}

/// Returns the table of the deleted synchronisations.
pub(super) fn text(report: &MutationReport) -> String {
    let row = |entry: &MutationEntry| {
        let (verdict, schedule) = match &entry.reported {
            Some(by) => (by.finding.name.to_owned(), by.schedule.clone()),
            None => ("NOT REPORTED".to_owned(), String::new()),
        };
        [format!("{}:{}", entry.file, entry.line), entry.kind.to_owned(), entry.kernel.to_owned(), verdict, schedule]
    };
    let rows = report.synchronisations.iter().map(row);
    let heading = ["left out", "which is a", "in kernel", "reported as", "in order"];
    format!("{}\n{} synchronisations\n", report::table(heading, rows), report.synchronisations.len())
}
