//! `lines`: counts the lines of each crate, separately for production code, documentation, tests and generated files.
//!
//! Only Rust counts as code. Blank lines are not counted.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::repository;
use crate::workspace::Workspace;

mod count;

use count::{Counts, TestModules, count};

/// The endings of the files to read: the files whose lines are counted, and the manifests, which show where the crates
/// are.
const ENDINGS: [&str; 5] = [".rs", ".md", ".ptx", ".tsv", "Cargo.toml"];

/// Counts the lines of the working tree, or of the commit `at`, and prints a table.
///
/// # Errors
/// If git does not know the commit, a file cannot be read, or a file is not valid Rust.
pub fn run(workspace: &Workspace, at: Option<&str>) -> Result<()> {
    let files = match at {
        Some(commit) => repository::of_commit(workspace.root(), commit, &ENDINGS)?,
        None => repository::of_working_tree(workspace.root(), &ENDINGS)?,
    };
    println!("{}", table(&by_crate(&files)?));
    Ok(())
}

/// Returns the counts of each crate, by the folder of the crate. `files` maps the path of each file, from the
/// repository's root, to the text of the file.
fn by_crate(files: &BTreeMap<String, String>) -> Result<BTreeMap<String, Counts>> {
    let folders: BTreeSet<&str> =
        files.keys().filter_map(|path| path.strip_suffix("Cargo.toml")?.strip_suffix('/')).collect();
    let tests = TestModules::of(files);
    let mut crates: BTreeMap<String, Counts> = BTreeMap::new();
    for (path, text) in files {
        let counts = count(path, text, tests.contains(path))?;
        if counts != Counts::default() {
            *crates.entry(crate_of(path, &folders).to_owned()).or_default() += counts;
        }
    }
    Ok(crates)
}

/// Returns the innermost folder with a manifest that contains the file.
fn crate_of<'a>(path: &'a str, folders: &BTreeSet<&str>) -> &'a str {
    let mut folder = path;
    while let Some((outer, _)) = folder.rsplit_once('/') {
        if folders.contains(outer) {
            return outer;
        }
        folder = outer;
    }
    "(no crate)"
}

/// Returns a table with a row for each crate and a row for the sum.
fn table(crates: &BTreeMap<String, Counts>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["crate", "production", "characters per line", "documentation", "tests", "generated"]);
    let mut sum = Counts::default();
    let row = |name: &str, counts: &Counts| {
        let Counts { production, characters, documentation, tests, generated } = *counts;
        let mean = if production == 0 { 0.0 } else { characters as f64 / production as f64 };
        let [production, documentation, tests, generated] =
            [production, documentation, tests, generated].map(|lines| lines.to_string());
        [name.to_owned(), production, format!("{mean:.1}"), documentation, tests, generated]
    };
    for (name, counts) in crates {
        table.add_row(row(name, counts));
        sum += *counts;
    }
    table.add_row(row("sum", &sum));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> BTreeMap<String, Counts> {
        by_crate(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()).unwrap()
    }

    #[test]
    fn a_file_belongs_to_the_innermost_crate() {
        let found = of(&[
            ("Cargo.toml", ""),
            ("life/core/Cargo.toml", ""),
            ("life/core/src/lib.rs", "fn a() {}\n"),
            ("life/cpu/Cargo.toml", ""),
            ("life/cpu/src/lib.rs", "fn a() {}\nfn b() {}\n"),
            ("build/a.rs", "fn a() {}\n"),
        ]);
        let production: Vec<_> = found.iter().map(|(name, counts)| (name.as_str(), counts.production)).collect();
        assert_eq!(production, [("(no crate)", 1), ("life/core", 1), ("life/cpu", 2)]);
    }

    #[test]
    fn a_file_that_only_tests_include_is_a_test() {
        let found = of(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod task;\n"),
            ("a/src/checks.rs", "mod inner;\nfn a() {}\n"),
            ("a/src/checks/inner.rs", "fn a() {}\n"),
            ("a/src/checks_more.rs", "fn a() {}\n"),
            ("a/src/task/mod.rs", "fn a() {}\n#[cfg(test)]\nmod tried;\n"),
            ("a/src/task/tried.rs", "fn a() {}\n"),
        ]);
        let expected = Counts { production: 3, characters: 27, tests: 8, ..Counts::default() };
        assert_eq!(found, BTreeMap::from([("a".to_owned(), expected)]));
    }

    #[test]
    fn the_table_has_a_sum() {
        let counts = Counts { production: 10, characters: 255, documentation: 3, tests: 20, generated: 4 };
        let text = table(&BTreeMap::from([("a".to_owned(), counts), ("b".to_owned(), counts)])).to_string();
        let rows: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(rows[1..], ["a 10 25.5 3 20 4", "b 10 25.5 3 20 4", "sum 20 25.5 6 40 8"]);
    }

    #[test]
    fn the_workspace_is_counted() {
        let workspace = Workspace::open().unwrap();
        let mut files = repository::of_working_tree(workspace.root(), &ENDINGS).unwrap();
        files.retain(|path, _| path.starts_with("xtask/") || path.starts_with("tests/"));
        let crates = by_crate(&files).unwrap();
        let xtask = crates["xtask"];
        assert!(xtask.production > 1000 && xtask.tests > 500 && xtask.documentation > 200, "{xtask:?}");
        assert!(crates["tests"].production == 0 && crates["tests"].tests > 1000, "{:?}", crates["tests"]);
    }
}
