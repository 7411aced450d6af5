//! `mutate-barriers`: deletes each block barrier, warp synchronisation and fence of the kernels, one at a time, and
//! tests that the simulator's checks report each deletion.
//!
//! The cases of a kernel are small test launches. For each synchronisation that cases reach, the task deletes the
//! synchronisation and runs these cases. The task also reads all synchronisations from the sources, and reports those
//! that no case reaches.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use comfy_table::{Table, presets};
use workbench::cases::catalogue;
use workbench::check::Settings;
use workbench::check::mutations::{MutationEntry, REDUNDANT, RedundantSync, mutate};
use xtask::kernels::{SyncSite, sync_sites};
use xtask::workspace::Workspace;

/// Deletes each synchronisation, and prints a table of the faults that revealed the deletions.
///
/// # Errors
/// If no case reaches a synchronisation; if a deletion is not reported and not listed as redundant; if a case fails
/// without a deletion.
pub fn run(workspace: &Workspace) -> Result<()> {
    let sites = sync_sites(workspace)?;
    let mutations = mutate(&catalogue(), &Settings::default(), &())?.synchronisations;
    println!("{}", table(&mutations));
    let findings = findings(&sites, &mutations, REDUNDANT);
    println!("{} synchronisations in the sources, {} if each counts once per kernel", sites.len(), mutations.len());
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "mutate-barriers: {} findings", findings.len());
    Ok(())
}

/// Returns a line for each synchronisation that no case reaches, and for each deletion that is not reported. Also
/// returns a line for each entry of `redundant` that is not needed.
fn findings(sites: &BTreeSet<SyncSite>, mutations: &[MutationEntry], redundant: &[RedundantSync]) -> Vec<String> {
    let mut findings = Vec::new();
    let met: BTreeSet<(&str, usize)> = mutations.iter().map(|one| (one.file.as_str(), one.line as usize)).collect();
    for SyncSite { file, line, call } in sites {
        if !met.contains(&(file.as_str(), *line)) {
            findings.push(format!("{file}:{line}: no case reaches this {call}: add a case to its algorithm"));
        }
    }
    let known: BTreeSet<(&str, usize)> = sites.iter().map(|site| (site.file.as_str(), site.line)).collect();
    for (file, line) in met.difference(&known) {
        findings.push(format!(
            "{file}:{line}: a case reaches a synchronisation here, but the source has none in this line"
        ));
    }
    let mut used = vec![false; redundant.len()];
    for mutation in mutations {
        let MutationEntry { file, line, kind, kernel, reported, .. } = mutation;
        let entry = redundant.iter().position(|entry| entry.is_of(mutation));
        match (reported, entry) {
            (None, Some(entry)) => used[entry] = true,
            (None, None) => findings.push(format!(
                "{file}:{line}: the deletion of this {kind} of {kernel} is not reported: remove it, or add a case that \
                 needs it"
            )),
            (Some(_), _) => {}
        }
    }
    for (entry, _) in redundant.iter().zip(used).filter(|(_, used)| !used) {
        let RedundantSync { file, kernel, argument } = entry;
        findings
            .push(format!("{file}: the synchronisation of {kernel} is needed, but listed as redundant ({argument})"));
    }
    findings
}

/// Returns a table with a row for each synchronisation and each kind of fault that revealed its deletion. A row lists
/// the kernels in which this happened.
fn table(mutations: &[MutationEntry]) -> String {
    let mut rows: BTreeMap<(&str, u32, &str), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for MutationEntry { file, line, kind, kernel, reported, .. } in mutations {
        let verdict = reported.as_ref().map_or("NOT REPORTED", |by| by.finding.kind);
        rows.entry((file, *line, kind)).or_default().entry(verdict).or_default().push(kernel);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["left out", "which is a", "reported as", "in"]);
    for ((file, line, kind), verdicts) in rows {
        for (verdict, kernels) in verdicts {
            table.add_row([format!("{file}:{line}"), kind.to_owned(), verdict.to_owned(), kernels.join(", ")]);
        }
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use workbench::check::Finding;
    use workbench::check::mutations::ReportedBy;

    use super::*;

    fn site(line: u32) -> SyncSite {
        SyncSite { file: "gpu/src/a.rs".to_owned(), line: line as usize, call: "sync_threads".to_owned() }
    }

    fn mutation(line: u32, reported: Option<&'static str>) -> MutationEntry {
        let by = |kind| {
            let message = String::new();
            let finding = Finding {
                kind,
                name: kind,
                message,
                kernel: None,
                here: None,
                there: None,
                element: None,
                remedy: None,
                fault: None,
            };
            ReportedBy { case: "c".to_owned(), schedule: "natural".to_owned(), finding }
        };
        let file = "gpu/src/a.rs".to_owned();
        MutationEntry { file, line, column: 5, kind: "barrier", kernel: "sum", reported: reported.map(by) }
    }

    #[test]
    fn what_is_not_met_or_not_reported_is_a_finding() {
        let sites = BTreeSet::from([site(3), site(9)]);
        assert!(findings(&BTreeSet::from([site(3)]), &[mutation(3, Some("data race"))], &[]).is_empty());
        let found = findings(&sites, &[mutation(3, None), mutation(5, Some("panic"))], &[]);
        for part in ["a.rs:9: no case", "a.rs:5: a case reaches", "a.rs:3: the deletion of this barrier of sum"] {
            assert!(found.iter().any(|finding| finding.contains(part)), "{part}: {found:?}");
        }
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_redundant_one_is_let_pass_as_long_as_it_is_redundant() {
        let entry = RedundantSync { file: "gpu/src/a.rs", kernel: "sum", argument: "nothing is exchanged" };
        let sites = BTreeSet::from([site(3)]);
        assert!(findings(&sites, &[mutation(3, None)], &[entry]).is_empty());
        let found = findings(&sites, &[mutation(3, Some("data race"))], &[entry]);
        assert!(found.len() == 1 && found[0].contains("is needed"), "{found:?}");
    }

    #[test]
    fn each_place_has_a_row_for_what_it_was_reported_as() {
        let table = table(&[mutation(3, Some("data race")), mutation(3, Some("panic")), mutation(4, None)]);
        let row = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = table.lines().skip(1).map(row).collect();
        let expected = [
            "gpu/src/a.rs:3 barrier data race sum",
            "gpu/src/a.rs:3 barrier panic sum",
            "gpu/src/a.rs:4 barrier NOT REPORTED sum",
        ];
        assert_eq!(rows, expected);
    }

    /// Tests that the simulator and the sources give the same position for a synchronisation.
    #[test]
    fn what_cases_come_to_is_in_the_sources() {
        let sites = sync_sites(&Workspace::open().unwrap()).unwrap();
        let cases: Vec<_> = catalogue().into_iter().filter(|case| case.kernels() == ["transpose_padded"]).collect();
        let mutations = mutate(&cases, &Settings::default(), &()).unwrap().synchronisations;
        let met = sites.into_iter().filter(|site| site.file == "gpu/src/transpose/tile.rs").collect::<BTreeSet<_>>();
        assert_eq!((met.len(), mutations.len()), (1, 1), "{met:?}, {mutations:?}");
        assert_eq!(findings(&met, &mutations, &[]), [] as [String; 0]);
    }
}
