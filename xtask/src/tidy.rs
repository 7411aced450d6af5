//! `tidy`: the project's rules that neither the compiler nor clippy checks.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::source_text::SourceText;
use crate::workspace::{self, Workspace};

mod dependencies;
mod rules;
mod safety;

/// Folders in the repository that are workspaces of their own.
const OTHER_PROJECTS: &[&str] = &["examples/own-kernel"];

/// A place where a rule is broken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// The file, from the workspace's root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The rule, and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A Rust file with what the rules need of it.
struct File<'a> {
    /// From the workspace's root, with slashes.
    path: &'a str,
    source: SourceText<'a>,
    /// Where tests are: the whole file, or items under `#[cfg(test)]`.
    tests: Vec<Range<usize>>,
}

impl<'a> File<'a> {
    fn new(path: &'a str, text: &'a str) -> File<'a> {
        let source = SourceText::new(text);
        // What the workspace's own `examples` show is what a user's program is to look like.
        let inner = path.strip_prefix("examples/").unwrap_or(path);
        let is_test = inner.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"));
        let whole = 0..text.len();
        let tests = if is_test { vec![whole] } else { source.items_after("#[cfg(test)]") };
        File { path, source, tests }
    }

    fn is_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.to_owned(), line, message: message.into() }
    }

    fn finding_at(&self, offset: usize, message: impl Into<String>) -> Finding {
        self.finding(self.source.line_of(offset), message)
    }
}

/// Checks every Rust file and manifest of the workspace.
///
/// # Errors
/// If a rule is broken; all findings are in the message. If a file cannot be read.
pub fn run(workspace: &Workspace) -> Result<()> {
    let mut paths = Vec::new();
    rust_files(workspace.root(), String::new(), &mut paths)?;
    let mut findings = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(workspace.root().join(path)).with_context(|| format!("cannot read {path}"))?;
        findings.extend(check(path, &text));
    }
    let read = |manifest: &str| fs::read_to_string(manifest).with_context(|| format!("cannot read {manifest}"));
    findings.extend(dependencies::check(workspace.metadata(), workspace.root(), read)?);
    for project in OTHER_PROJECTS {
        let metadata = workspace::metadata_of(&workspace.root().join(project))?;
        findings.extend(dependencies::check(&metadata, workspace.root(), read)?);
    }
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, no findings", paths.len());
            Ok(())
        }
        number => bail!("tidy: {number} findings in {} files", paths.len()),
    }
}

/// Every rule on one file.
fn check(path: &str, text: &str) -> Vec<Finding> {
    let file = File::new(path, text);
    let mut findings = rules::all(&file);
    findings.extend(safety::undocumented(&file));
    findings
}

/// The Rust files under a folder, but not those of hidden folders and build results.
fn rust_files(folder: &Path, name: String, paths: &mut Vec<String>) -> Result<()> {
    let context = || format!("cannot list {}", folder.display());
    let mut entries =
        fs::read_dir(folder).and_then(|list| list.collect::<Result<Vec<_>, _>>()).with_context(context)?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let part = entry.file_name().to_string_lossy().into_owned();
        let name = if name.is_empty() { part.clone() } else { format!("{name}/{part}") };
        if entry.file_type().with_context(context)?.is_dir() {
            if !part.starts_with('.') && !matches!(part.as_str(), "target" | "out") {
                rust_files(&entry.path(), name, paths)?;
            }
        } else if part.ends_with(".rs") {
            paths.push(name);
        }
    }
    Ok(())
}
