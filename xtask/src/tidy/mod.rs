//! `tidy`: checks the project's rules that neither the compiler nor clippy checks.

use std::fmt;
use std::fs;

use anyhow::{Context, Result, bail};
use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, FieldValue, ImplItem, Item, Macro, Stmt};

use crate::repository;
use crate::syntax::{self, Token};
use crate::workspace::{Metadata, Workspace};

mod columns;
mod copies;
mod dependencies;
mod licences;
mod rules;
mod safety;

/// The endings of the names of the files that are checked.
const ENDINGS: [&str; 2] = [".rs", ".md"];

/// The folders of the repository that are separate workspaces.
const OTHER_PROJECTS: &[&str] = &["examples/own-kernel", "examples/own-type"];

/// A line that breaks a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// The path of the file from the workspace's root.
    pub path: String,
    /// The line of the finding, from 1.
    pub line: usize,
    /// The broken rule and the remedy.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A parsed Rust file.
struct File<'a> {
    /// The path of the file from the workspace's root, with slashes.
    path: &'a str,
    text: &'a str,
    tokens: Vec<Token>,
    parts: Parts,
}

impl<'a> File<'a> {
    fn new(path: &'a str, text: &'a str) -> syn::Result<File<'a>> {
        let tokens: TokenStream = text.parse()?;
        let mut file = File { path, text, tokens: Vec::new(), parts: Parts::default() };
        // The rules look for these tokens and the parts around them. To find the parts takes most of the time.
        let is_mentioned = |start: &[&str]| start.iter().all(|token| text.contains(token));
        if is_mentioned(&rules::CHOICE) || safety::STARTS.iter().any(|(_, start)| is_mentioned(start)) {
            file.tokens = syntax::flat(tokens.clone());
            let is_there = |start: &[&str]| file.find(start).next().is_some();
            if is_there(&rules::CHOICE) || safety::STARTS.iter().any(|(_, start)| is_there(start)) {
                file.parts.visit_file(&syn::parse2(tokens)?);
            }
        }
        Ok(file)
    }

    /// Finds each sequence of tokens with these `texts`, and returns its first token. `::` is two tokens.
    fn find(&self, texts: &[&str]) -> impl Iterator<Item = &Token> {
        let is_found = move |window: &&[Token]| window.iter().zip(texts).all(|(token, text)| token.text == *text);
        self.tokens.windows(texts.len()).filter(is_found).filter_map(|window| window.first())
    }

    fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        finding(self.path, line, message)
    }
}

fn finding(path: &str, line: usize, message: impl Into<String>) -> Finding {
    Finding { path: path.to_owned(), line, message: message.into() }
}

/// The source ranges of those parts of a file before which a comment or an attribute can stand, and of the code that
/// macros generate.
#[derive(Default)]
struct Parts {
    /// The ranges of items, statements, arms and fields, including attributes.
    all: Vec<Span>,
    /// The ranges of macro declarations and quotations.
    generated: Vec<Span>,
}

impl Parts {
    /// Returns the innermost part that contains a token.
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

/// Checks every Rust and Markdown file and every manifest of the workspace, and prints the findings.
///
/// # Errors
/// If a rule is broken, or a file cannot be read.
pub fn run(workspace: &Workspace) -> Result<()> {
    let files = repository::of_working_tree(workspace.root(), &ENDINGS)?;
    let mut findings: Vec<Finding> = files.iter().flat_map(|(path, text)| check(path, text)).collect();
    let read = |manifest: &str| fs::read_to_string(manifest).with_context(|| format!("cannot read {manifest}"));
    findings.extend(dependencies::check(workspace.metadata(), workspace.root(), read)?);
    for project in OTHER_PROJECTS {
        let metadata = Metadata::read(&workspace.root().join(project), &["--no-deps"])?;
        findings.extend(dependencies::check(&metadata, workspace.root(), read)?);
    }
    findings.extend(licences::check(workspace.root())?);
    findings.extend(copies::check(workspace)?);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, no findings", files.len());
            Ok(())
        }
        number => bail!("tidy: {number} findings in {} files", files.len()),
    }
}

/// Returns the findings in one file.
fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = columns::check(path, text);
    if path.ends_with(".md") {
        return findings;
    }
    findings.extend(rules::of_text(path, text));
    match File::new(path, text) {
        Ok(file) => {
            findings.extend(rules::target(&file));
            findings.extend(safety::undocumented(&file));
        }
        Err(error) => {
            findings.push(finding(path, error.span().start().line, format!("cannot parse the file: {error}")))
        }
    }
    findings
}

/// Wraps comments, documentation and Markdown that are too wide in the `chosen` folders and files, or in all files.
/// Also writes the copies of files.
///
/// # Errors
/// If a file cannot be read or written.
pub fn fix(workspace: &Workspace, chosen: &[String]) -> Result<()> {
    let is_chosen = |path: &str| {
        let mut below = chosen.iter().filter_map(|start| path.strip_prefix(start.trim_end_matches('/')));
        chosen.is_empty() || below.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for (path, text) in repository::of_working_tree(workspace.root(), &ENDINGS)? {
        let wrapped = columns::wrapped(&path, &text);
        if is_chosen(&path) && wrapped != text {
            fs::write(workspace.root().join(&path), wrapped).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: wrapped");
        }
    }
    copies::fix(workspace)
}
