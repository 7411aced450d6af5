//! `tidy`: the project's rules that neither the compiler nor clippy checks.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, FieldValue, ImplItem, Item, Macro, Stmt};

use crate::lines::TestModules;
use crate::syntax::{self, Token};
use crate::workspace::{Metadata, Workspace};

mod columns;
mod dependencies;
mod licences;
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
    text: &'a str,
    tokens: Vec<Token>,
    parts: Parts,
    /// Whether all of it is a test.
    is_test: bool,
}

impl<'a> File<'a> {
    fn new(path: &'a str, text: &'a str, is_test: bool) -> syn::Result<File<'a>> {
        let mut parts = Parts::default();
        parts.visit_file(&syn::parse_file(text)?);
        let tokens = syntax::flat(text.parse()?);
        Ok(File { path, text, tokens, parts, is_test })
    }

    /// The places at which `texts` are the next tokens. `::` is two of them.
    fn find(&self, texts: &[&str]) -> impl Iterator<Item = &Token> {
        let is_found = move |window: &&[Token]| window.iter().zip(texts).all(|(token, text)| token.text == *text);
        self.tokens.windows(texts.len()).filter(is_found).filter_map(|window| window.first())
    }

    /// Where tests are: the whole file, or what `#[cfg(test)]` stands before.
    fn tests(&self) -> Vec<Range<usize>> {
        let attributes = self.find(&["#", "[", "cfg", "(", "test", ")", "]"]);
        let mut tests: Vec<_> =
            attributes.filter_map(|start| self.parts.around(start)).map(|part| part.byte_range()).collect();
        if self.is_test {
            tests.push(0..self.text.len());
        }
        tests
    }

    fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        finding(self.path, line, message)
    }
}

/// Whether a file is a test by its path.
pub(crate) fn is_test(path: &str) -> bool {
    // What the workspace's own `examples` show is what a user's program is to look like.
    let inner = path.strip_prefix("examples/").unwrap_or(path);
    inner.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"))
}

fn finding(path: &str, line: usize, message: impl Into<String>) -> Finding {
    Finding { path: path.to_owned(), line, message: message.into() }
}

/// The parts of a file that a comment or an attribute may stand before, and what it generates.
#[derive(Default)]
struct Parts {
    /// Items, statements, arms and fields, with their attributes.
    all: Vec<Span>,
    /// The macros that it declares, and quotations.
    generated: Vec<Span>,
}

impl Parts {
    /// The innermost part that holds a token.
    fn around(&self, token: &Token) -> Option<Span> {
        let holding = self.all.iter().filter(|part| part.byte_range().contains(&token.bytes.start));
        holding.min_by_key(|part| part.byte_range().len()).copied()
    }
}

impl<'ast> Visit<'ast> for Parts {
    fn visit_item(&mut self, item: &'ast Item) {
        self.all.push(item.span());
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        self.all.push(item.span());
        visit::visit_impl_item(self, item);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.all.push(statement.span());
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.all.push(arm.span());
        visit::visit_arm(self, arm);
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        self.all.push(field.span());
        visit::visit_field_value(self, field);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if ["macro_rules", "quote", "quote_spanned", "parse_quote"].contains(&syntax::last_name(&call.path).as_str()) {
            self.generated.push(call.span());
        } else {
            syntax::visit_tokens(self, call.tokens.clone());
        }
    }
}

/// Checks every Rust file and manifest of the workspace.
///
/// # Errors
/// If a rule is broken; all findings are in the message. If a file cannot be read.
pub fn run(workspace: &Workspace) -> Result<()> {
    let paths = files(workspace.root(), &[".rs", ".md"])?;
    let mut findings = Vec::new();
    let read_named = |path: &String| {
        let text = fs::read_to_string(workspace.root().join(path)).with_context(|| format!("cannot read {path}"))?;
        Ok((path.clone(), text))
    };
    let files = paths.iter().map(read_named).collect::<Result<BTreeMap<String, String>>>()?;
    let tests = TestModules::of(&files);
    for (path, text) in &files {
        if path.ends_with(".md") {
            findings.extend(columns::check(path, text));
            continue;
        }
        findings.extend(check(path, text, is_test(path) || tests.contain(path)));
    }
    let read = |manifest: &str| fs::read_to_string(manifest).with_context(|| format!("cannot read {manifest}"));
    findings.extend(dependencies::check(workspace.metadata(), workspace.root(), read)?);
    for project in OTHER_PROJECTS {
        let metadata = Metadata::of(&workspace.root().join(project))?;
        findings.extend(dependencies::check(&metadata, workspace.root(), read)?);
    }
    findings.extend(licences::check(workspace.root())?);
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
fn check(path: &str, text: &str, is_test: bool) -> Vec<Finding> {
    let mut findings = rules::of_text(path, text);
    findings.extend(columns::check(path, text));
    match File::new(path, text, is_test) {
        Ok(file) => {
            findings.extend(rules::of_syntax(&file));
            findings.extend(safety::undocumented(&file));
        }
        Err(error) => findings.push(finding(path, error.span().start().line, format!("not understood: {error}"))),
    }
    findings
}

/// The files under a folder with one of these endings, but not those of hidden folders and build results.
fn files(root: &Path, endings: &[&str]) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    list(root, String::new(), &mut paths)?;
    paths.retain(|path| endings.iter().any(|ending| path.ends_with(ending)));
    Ok(paths)
}

fn list(folder: &Path, name: String, paths: &mut Vec<String>) -> Result<()> {
    let context = || format!("cannot list {}", folder.display());
    let mut entries =
        fs::read_dir(folder).and_then(|list| list.collect::<Result<Vec<_>, _>>()).with_context(context)?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let part = entry.file_name().to_string_lossy().into_owned();
        let name = if name.is_empty() { part.clone() } else { format!("{name}/{part}") };
        if entry.file_type().with_context(context)?.is_dir() {
            if !part.starts_with('.') && !matches!(part.as_str(), "target" | "out") {
                list(&entry.path(), name, paths)?;
            }
        } else {
            paths.push(name);
        }
    }
    Ok(())
}

/// Wraps the comments, the documentation and the Markdown in the `chosen` folders and files that are too wide.
///
/// # Errors
/// If a file cannot be read or written.
pub fn fix(workspace: &Workspace, chosen: &[String]) -> Result<()> {
    let is_chosen = |path: &str| {
        let mut below = chosen.iter().filter_map(|start| path.strip_prefix(start.trim_end_matches('/')));
        chosen.is_empty() || below.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for path in files(workspace.root(), &[".rs", ".md"])?.into_iter().filter(|path| is_chosen(path)) {
        let full = workspace.root().join(&path);
        let text = fs::read_to_string(&full).with_context(|| format!("cannot read {path}"))?;
        let wrapped = columns::wrapped(&path, &text);
        if wrapped != text {
            fs::write(&full, wrapped).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: wrapped");
        }
    }
    Ok(())
}
