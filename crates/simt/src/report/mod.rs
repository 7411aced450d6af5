//! Findings in the forms that people, editors and CI read, and the file that collects them from tests.
//!
//! Where the environment variable [`FILE`] names a file, every fault of a launch goes there, and every warning of a
//! strict one: as SARIF if the name ends in `.sarif`, else as a JSON array of [`Finding`]s. What is there already
//! stays, so that the programs of one `cargo test` share a file; the same mistake stands there once.

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

/// Adds `finding`, of the level "error" or "warning", to the file that the environment names, if it does.
///
/// A file that cannot be written is told of, and changes nothing else: whoever launches has the fault in any case.
pub(crate) fn collect(level: &'static str, finding: impl FnOnce() -> Finding) {
    let Some(path) = env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from) else { return };
    if let Err(error) = add(&path, level, &finding()) {
        eprintln!("{FILE}: cannot add a report to {}: {error}", path.display());
    }
}

fn add(path: &Path, level: &'static str, finding: &Finding) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    // Until it is closed: other tests, and other programs, add to it as well.
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let before = if text.trim().is_empty() { None } else { Some(serde_json::from_str(&text)?) };
    let all = if path.extension().is_some_and(|extension| extension == "sarif") {
        sarif::with(before, &sarif("gridstride", [(level, finding)].into_iter()))
    } else {
        with(before, serde_json::to_value(finding)?)
    };
    let all = all.ok_or_else(|| io::Error::other("what is there is no report: remove the file"))?;
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec_pretty(&all)?)
}

/// The findings of `before` and `finding`, unless they have that mistake. `None` if `before` is no array.
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
