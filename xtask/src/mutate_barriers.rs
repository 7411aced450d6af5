//! `mutate-barriers`: every block barrier, warp synchronisation and fence of the kernels left out, one at a time, to see that
//! the simulator's checks miss it.
//!
//! The places come from the source text; `host check --mutate-barriers` runs the kernels' cases without each of those that
//! they come to. So a place that no case comes to is seen as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use comfy_table::{Table, presets};
use serde_json::Value;

use crate::source_text::SourceText;
use crate::sources;
use crate::workspace::Workspace;

/// What orders memory accesses and can be left out of a source.
const SYNCHRONISATIONS: &[&str] = &["sync_threads", "sync_threads_count", "sync_warp", "fence"];

/// Synchronisations that may be left out without a report: the file, the kernel's family, and why the synchronisation is
/// redundant there and stays all the same. The aim is that there is none.
const REDUNDANT: &[Redundant] = &[];

/// A synchronisation that is not needed.
#[derive(Clone, Copy, Debug)]
struct Redundant {
    file: &'static str,
    kernel: &'static str,
    argument: &'static str,
}

/// A call in the source text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    /// From the workspace's root.
    file: String,
    line: usize,
    call: &'static str,
}

/// A synchronisation of a kernel, as the simulator came to it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mutation {
    file: String,
    line: usize,
    kind: String,
    kernel: String,
    /// What its deletion was reported as.
    reported: Option<String>,
}

/// Leaves out each and prints what that was reported as.
///
/// # Errors
/// If a place of the source text is not come to by any case, or a deletion is not reported and not known to be
/// redundant; if the program cannot be run.
pub fn run(workspace: &Workspace) -> Result<()> {
    let places = places(workspace)?;
    let mutations = mutations(workspace.root())?;
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

/// The calls in the kernels' sources.
fn places(workspace: &Workspace) -> Result<BTreeSet<Place>> {
    let algorithms = workspace.algorithms()?;
    let mut files = BTreeSet::new();
    for algorithm in algorithms.names() {
        files.extend(sources::files(workspace, &algorithms, algorithm)?);
    }
    let mut places = BTreeSet::new();
    for file in files.into_iter().filter(|file| file.starts_with(sources::GPU_SOURCES)) {
        let path = workspace.root().join(&file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        places.extend(calls(&file, &text));
    }
    Ok(places)
}

/// The calls in the text of `file`.
fn calls(file: &str, text: &str) -> Vec<Place> {
    let source = SourceText::new(text);
    let mut calls = Vec::new();
    for &call in SYNCHRONISATIONS {
        let is_called = |&at: &usize| source.code()[at + call.len()..].trim_start().starts_with('(');
        let place = |at| Place { file: file.to_owned(), line: source.line_of(at), call };
        calls.extend(source.words(call).filter(is_called).map(place));
    }
    calls
}

/// What `host check --mutate-barriers` says.
fn mutations(root: &Path) -> Result<Vec<Mutation>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--package", "host", "--", "check", "all", "--mutate-barriers", "--json"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    // It fails if a deletion is not reported, which is looked into here.
    let report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("host check gives no JSON, and ends with {}", output.status))?;
    parse(&report)
}

fn parse(report: &Value) -> Result<Vec<Mutation>> {
    let entries = report["synchronisations"].as_array().context("host check lists no synchronisations")?;
    let mutation = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().map(str::to_owned);
        Some(Mutation {
            file: text("file")?,
            line: usize::try_from(entry["line"].as_u64()?).ok()?,
            kind: text("kind")?,
            kernel: text("kernel")?,
            reported: entry["reported"]["kind"].as_str().map(str::to_owned),
        })
    };
    let mutations: Option<Vec<_>> = entries.iter().map(mutation).collect();
    mutations.context("an entry of host check has no file, line, kind or kernel")
}

/// What is wrong, a line each.
fn findings(places: &BTreeSet<Place>, mutations: &[Mutation], redundant: &[Redundant]) -> Vec<String> {
    let mut findings = Vec::new();
    let met: BTreeSet<(&str, usize)> = mutations.iter().map(|one| (one.file.as_str(), one.line)).collect();
    for Place { file, line, call } in places {
        if !met.contains(&(file.as_str(), *line)) {
            findings.push(format!("{file}:{line}: no case comes to this {call}: add one in host/src/cases"));
        }
    }
    let known: BTreeSet<(&str, usize)> = places.iter().map(|place| (place.file.as_str(), place.line)).collect();
    for (file, line) in met.difference(&known) {
        findings.push(format!(
            "{file}:{line}: a case comes to a synchronisation here, which the source text does not show"
        ));
    }
    let mut used = vec![false; redundant.len()];
    for Mutation { file, line, kind, kernel, reported } in mutations {
        let entry = redundant.iter().position(|entry| entry.file == file && entry.kernel == kernel);
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

/// A row a place, with the kernels and what their checks reported.
fn table(mutations: &[Mutation]) -> String {
    let mut rows: BTreeMap<(&str, usize, &str), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for Mutation { file, line, kind, kernel, reported } in mutations {
        let verdict = reported.as_deref().unwrap_or("NOT REPORTED");
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
    use super::*;

    fn place(line: usize) -> Place {
        Place { file: "gpu/src/a.rs".to_owned(), line, call: "sync_threads" }
    }

    fn mutation(line: usize, reported: Option<&str>) -> Mutation {
        Mutation {
            file: "gpu/src/a.rs".to_owned(),
            line,
            kind: "barrier".to_owned(),
            kernel: "sum".to_owned(),
            reported: reported.map(str::to_owned),
        }
    }

    #[test]
    fn calls_are_found_in_code_alone() {
        let text = "//! sync_threads()\nuse cuda_std::{fence, thread};\nfn a() {\n    thread::sync_threads();\n    \
            if thread::sync_threads_count(b) == 0 { fence() } // fence()\n    warp::sync_warp(\n        mask);\n    my_fence(); \"fence()\";\n}\n";
        let mut found: Vec<_> = calls("a.rs", text).into_iter().map(|place| (place.line, place.call)).collect();
        found.sort_unstable();
        assert_eq!(found, [(4, "sync_threads"), (5, "fence"), (5, "sync_threads_count"), (6, "sync_warp")]);
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
    fn the_report_is_read() {
        let report = serde_json::json!({"synchronisations": [
            {"file": "gpu/src/a.rs", "line": 3, "column": 5, "kind": "barrier", "kernel": "sum",
             "reported": {"case": "c", "schedule": "natural", "kind": "data race", "message": "m"}},
            {"file": "gpu/src/a.rs", "line": 4, "column": 5, "kind": "barrier", "kernel": "sum", "reported": null},
        ]});
        assert_eq!(parse(&report).unwrap(), [mutation(3, Some("data race")), mutation(4, None)]);
        assert!(parse(&serde_json::json!({})).is_err());
        assert!(parse(&serde_json::json!({"synchronisations": [{"file": "a"}]})).is_err());
    }
}
