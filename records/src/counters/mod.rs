//! `counters`: compares the counts of `host explain` in the simulator with those of `ncu` on a GPU, and writes
//! `docs/counters.md`.
//!
//! `bench/counters/ncu.sh` profiles the cases of `bench/counters/cases.txt` on a GPU, and leaves a folder of CSV files.
//! This task runs the same cases in the simulator and compares both counts, launch by launch. Every difference needs a
//! reason in the table [`reasons::REASONS`]. A difference without a reason is an error, and so is a reason without a
//! difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use xtask::records::CountersOptions;
use xtask::workspace::Workspace;
use xtask::{parallel, pattern};

use crate::program;
use cases::{Case, Origin};
use compare::LaunchComparison;
use reasons::{REASONS, Reason};
use simulated::Explained;

pub mod cases;
pub mod compare;
pub mod counts;
pub mod document;
pub mod ncu;
pub mod reasons;
pub mod simulated;
#[cfg(test)]
mod tests;

/// The path of the document, in the workspace.
pub const DOCUMENT: &str = "docs/counters.md";

/// Compares ncu's counts in the folder of the options with the simulator's, and prints or writes the document.
///
/// # Errors
/// If the folder cannot be read or `host explain` fails; if ncu did not profile a launch of the simulator; if a
/// difference has no reason, or a reason no difference.
pub fn run(workspace: &Workspace, options: &CountersOptions) -> Result<()> {
    let host = program::path(workspace, options.host.as_deref(), program::DEV)?;
    let (mut origin, cases) = read_folder(&options.folder)?;
    if let Some(date) = &options.date {
        origin.date = Some(date.clone());
    }
    let compared = parallel::map(&cases, |case| {
        let explained = explain(&host, workspace.root(), case)?;
        let profile = read_profile(&options.folder, case)?;
        let rows = compare::rows(case, &simulated::launches(&explained), &profile.launches);
        Ok((rows.with_context(|| format!("case {}", case.name))?, profile.device))
    });
    let mut rows = Vec::new();
    for one in compared {
        let (compared, device) = one?;
        rows.extend(compared);
        origin.device = origin.device.or(device);
    }
    let findings = findings(&rows, REASONS);
    ensure!(findings.is_empty(), "the simulator and ncu do not agree:\n  {}", findings.join("\n  "));
    let text = document::text(&origin, &rows, REASONS);
    if options.write {
        let path = workspace.root().join(DOCUMENT);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{DOCUMENT}: {}", document::Totals::of(&rows));
    } else {
        print!("{text}");
    }
    Ok(())
}

/// Reads the origin of the profile, and its cases.
fn read_folder(folder: &Path) -> Result<(Origin, Vec<Case>)> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| {
            format!("cannot read {}, which bench/counters/ncu.sh writes beside the CSV files", path.display())
        })
    };
    let cases = cases::parse(&read(cases::FILE)?)?;
    ensure!(!cases.is_empty(), "{} names no case", folder.join(cases::FILE).display());
    Ok((Origin::parse(&read(cases::ORIGIN)?)?, cases))
}

fn read_profile(folder: &Path, case: &Case) -> Result<ncu::Profile> {
    let path = folder.join(format!("{}.csv", case.name));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    ncu::Profile::parse(&text).with_context(|| format!("in {}", path.display()))
}

/// Returns a finding for each difference in `rows` without a reason, and for each reason that covers a case of `rows`
/// but explains no difference.
pub fn findings(rows: &[LaunchComparison], reasons: &[Reason]) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut findings = Vec::new();
    for row in rows {
        for metric in row.differences() {
            let applying: Vec<usize> = (0..reasons.len()).filter(|&i| reasons[i].applies(row, metric)).collect();
            if applying.is_empty() {
                findings.push(format!(
                    "{}: {metric} of {}: {} in the simulator, {} by ncu, and no reason in {}",
                    row.case,
                    row.launch,
                    row.simulator.get(metric),
                    row.ncu.get(metric),
                    reasons::FILE
                ));
            }
            used.extend(applying);
        }
    }
    for (i, reason) in reasons.iter().enumerate() {
        let is_about_one = rows.iter().any(|row| pattern::matches(reason.cases, &row.case));
        if is_about_one && !reason.depends_on_timing && !used.contains(&i) {
            findings.push(format!(
                "no difference of {} needs the reason \"{}\" of {} any more",
                reason.cases,
                reason.text,
                reasons::FILE
            ));
        }
    }
    findings
}

/// Returns the parsed output of `host explain --json` for a case.
fn explain(host: &Path, folder: &Path, case: &Case) -> Result<Explained> {
    let output = Command::new(host)
        .arg("explain")
        .args(case.explain.split_whitespace())
        .arg("--json")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", host.display()))?;
    if !output.status.success() {
        bail!("host explain {} fails: {}", case.explain, String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("host explain {} prints another form of JSON: build host anew", case.explain))
}
