//! Findings for users, editors and CI, and the file that collects the findings of tests.
//!
//! If the environment variable [`FILE`] names a file, every fault of a launch is added to it, and every warning of a
//! launch with strict checks. The file is SARIF if its name ends in `.sarif`, and otherwise a JSON array of
//! [`Finding`]s. Earlier findings stay, so that the programs of one `cargo test` share a file. The same mistake is
//! added only once.

mod finding;
mod sarif;
mod source;

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use self::finding::{Finding, Side};
pub use self::sarif::sarif;
pub use crate::reported::FILE;

/// Adds `finding`, of the level "error" or "warning", to the file that the environment variable names, if it is set.
///
/// If the file cannot be written, an error is printed, and nothing else changes: the launch returns its fault in any
/// case.
pub(crate) fn collect(level: &'static str, finding: impl FnOnce() -> Finding) {
    let Some(path) = env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from) else { return };
    if let Err(error) = add(&path, level, &finding()) {
        eprintln!("{FILE}: cannot add a report to {}: {error}", path.display());
    }
}

fn add(path: &Path, level: &'static str, finding: &Finding) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    // The lock is held until the file is closed: other tests, and other programs, add to it too.
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

/// Returns the findings in `before` with `finding`, unless the same mistake is already there. `None` if `before` is not
/// an array.
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
