//! `mutate-barriers`: every block barrier, warp synchronisation and fence of the kernels left out, one at a time, to
//! see that the simulator's checks miss it.
//!
//! The places come from the sources; the kernels' cases run without each of those that they come to. So a place that no
//! case comes to is seen as well.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use comfy_table::{Table, presets};
use workbench::cases::catalogue;
use workbench::check::Settings;
use workbench::check::mutations::{MutationEntry, mutate};
use xtask::kernels::{Place, places};
use xtask::workspace::Workspace;

/// Synchronisations that may be left out without a report: the file, the kernel's family, and why the synchronisation
/// is redundant there and stays all the same. The aim is that there is none.
const REDUNDANT: &[Redundant] = &[];

/// A synchronisation that is not needed.
#[derive(Clone, Copy, Debug)]
struct Redundant {
    file: &'static str,
    kernel: &'static str,
    argument: &'static str,
}

/// Leaves out each and prints what that was reported as.
///
/// # Errors
/// If a place of the sources is not come to by any case, or a deletion is not reported and not known to be redundant;
/// if a case fails as it is.
pub fn run(workspace: &Workspace) -> Result<()> {
    let places = places(workspace)?;
    let mutations = mutate(&catalogue(), &Settings::default(), &())?.synchronisations;
    println!("{}", table(&mutations));
    let findings = findings(&places, &mutations, REDUNDANT);
    println!(
        "{} synchronisations in the sources, {} with the kernels that come to them",
        places.len(),
        mutations.len()
    );
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "mutate-barriers: {} findings", findings.len());
    Ok(())
}

/// What is wrong, one line each.
fn findings(places: &BTreeSet<Place>, mutations: &[MutationEntry], redundant: &[Redundant]) -> Vec<String> {
    let mut findings = Vec::new();
    let met: BTreeSet<(&str, usize)> = mutations.iter().map(|one| (one.file.as_str(), one.line as usize)).collect();
    for Place { file, line, call } in places {
        if !met.contains(&(file.as_str(), *line)) {
            findings.push(format!("{file}:{line}: no case comes to this {call}: add one to those of its algorithm"));
        }
    }
    let known: BTreeSet<(&str, usize)> = places.iter().map(|place| (place.file.as_str(), place.line)).collect();
    for (file, line) in met.difference(&known) {
        findings.push(format!(
            "{file}:{line}: a case comes to a synchronisation here, which the source text does not show"
        ));
    }
    let mut used = vec![false; redundant.len()];
    for MutationEntry { file, line, kind, kernel, reported, .. } in mutations {
        let entry = redundant.iter().position(|entry| entry.file == file && entry.kernel == *kernel);
        match (reported, entry) {
            (None, Some(entry)) => used[entry] = true,
            (None, None) => findings.push(format!(
                "{file}:{line}: the {kind} of {kernel} can be left out and nothing reports it: remove it, or add the \
                 case that needs it"
            )),
            (Some(_), _) => {}
        }
    }
    for (entry, _) in redundant.iter().zip(used).filter(|(_, used)| !used) {
        let Redundant { file, kernel, argument } = entry;
        findings.push(format!("{file}: what {kernel} has there is needed, and listed as redundant ({argument})"));
    }
    findings
}

/// One row per place, with the kernels and what their checks reported.
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

    fn place(line: u32) -> Place {
        Place { file: "gpu/src/a.rs".to_owned(), line: line as usize, call: "sync_threads".to_owned() }
    }

    fn mutation(line: u32, reported: Option<&'static str>) -> MutationEntry {
        let by = |kind| {
            let message = String::new();
            let finding = Finding {
                kind,
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
        let places = BTreeSet::from([place(3), place(9)]);
        assert!(findings(&BTreeSet::from([place(3)]), &[mutation(3, Some("data race"))], &[]).is_empty());
        let found = findings(&places, &[mutation(3, None), mutation(5, Some("panic"))], &[]);
        for part in ["a.rs:9: no case", "a.rs:5: a case comes", "a.rs:3: the barrier of sum can be left out"] {
            assert!(found.iter().any(|finding| finding.contains(part)), "{part}: {found:?}");
        }
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_redundant_one_is_let_pass_as_long_as_it_is_redundant() {
        let entry = Redundant { file: "gpu/src/a.rs", kernel: "sum", argument: "nothing is exchanged" };
        let places = BTreeSet::from([place(3)]);
        assert!(findings(&places, &[mutation(3, None)], &[entry]).is_empty());
        let found = findings(&places, &[mutation(3, Some("data race"))], &[entry]);
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

    /// The simulator and the sources name a place alike.
    #[test]
    fn what_cases_come_to_is_in_the_sources() {
        let places = places(&Workspace::open().unwrap()).unwrap();
        let cases: Vec<_> = catalogue().into_iter().filter(|case| case.rung() == "padded").collect();
        let mutations = mutate(&cases, &Settings::default(), &()).unwrap().synchronisations;
        let met = places.into_iter().filter(|place| place.file == "gpu/src/transpose/tile.rs").collect::<BTreeSet<_>>();
        assert_eq!((met.len(), mutations.len()), (1, 1), "{met:?}, {mutations:?}");
        assert_eq!(findings(&met, &mutations, &[]), [] as [String; 0]);
    }
}
