//! The simulator's faults and warnings in three formats: text, JSON and SARIF.
//!
//! A [`Finding`] is a fault, a warning or a hint, with its threads and their source lines. [`sarif`] converts findings
//! to a SARIF log.
//!
//! A simulator with [`collect`] as its reporter adds each fault, and each warning of a strict launch, to a file. The
//! environment variable [`FILE`] names the file. The format is SARIF if the file's name ends in `.sarif`, and otherwise
//! a JSON array of [`Finding`]s. Earlier findings stay in the file, so that the test programs of one `cargo test` can
//! share the file. The reporter adds the same mistake only once.
//!
//! ```
//! use simt::Simulator;
//!
//! let simulator = Simulator::new().with_reporter(reports::collect);
//! # drop(simulator);
//! ```

mod finding;
mod sarif;
mod source;

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use simt::Reported;

pub use self::finding::{Finding, Side};
pub use self::sarif::sarif;
pub use self::source::{access_at, source_text};

/// The environment variable that names the report file.
pub const FILE: &str = "GRIDSTRIDE_REPORT";

/// Adds a fault or a warning to the report file that [`FILE`] names. Does nothing if [`FILE`] is not set.
///
/// If the file cannot be written, this function prints a line to standard error. In any case the launch still returns
/// the fault.
pub fn collect(reported: Reported<'_>) {
    match reported {
        Reported::Fault(fault) => add_to_named("error", || Finding::of_fault(fault)),
        Reported::Note(note) if note.kind.is_warning() => {
            add_to_named("warning", || Finding::of_note(note));
        }
        _ => {}
    }
}

/// Adds `finding`, of the level "error" or "warning", to the report file that [`FILE`] names.
fn add_to_named(level: &'static str, finding: impl FnOnce() -> Finding) {
    let Some(path) = env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from) else { return };
    if let Err(error) = add(&path, level, &finding()) {
        eprintln!("{FILE}: cannot add a report to {}: {error}", path.display());
    }
}

fn add(path: &Path, level: &'static str, finding: &Finding) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    // The lock is held until the file is closed, because other tests and other programs also add to the file.
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let before = if text.trim().is_empty() { None } else { Some(serde_json::from_str(&text)?) };
    let all = if path.extension().is_some_and(|extension| extension == "sarif") {
        sarif::with(before, &sarif("gridstride", [(level, finding)].into_iter()))
    } else {
        with(before, serde_json::to_value(finding)?)
    };
    let all = all.ok_or_else(|| io::Error::other("the file exists, but is not a report: remove it"))?;
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec_pretty(&all)?)
}

/// Returns the findings `before`, with `finding` added unless `before` already has a finding for the same mistake.
/// Returns `None` if `before` is not an array.
fn with(before: Option<Value>, finding: Value) -> Option<Value> {
    let mut all = before.unwrap_or_else(|| Value::Array(Vec::new()));
    let findings = all.as_array_mut()?;
    let line = |side: &Value| (side["file"].clone(), side["line"].clone());
    let is_like = |other: &Value| {
        other["kind"] == finding["kind"]
            && other["kernel"] == finding["kernel"]
            && line(&other["here"]) == line(&finding["here"])
            && line(&other["there"]) == line(&finding["there"])
    };
    if !findings.iter().any(is_like) {
        findings.push(finding);
    }
    Some(all)
}
