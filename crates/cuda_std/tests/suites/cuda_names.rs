//! Checks `docs/cuda-names.md` against the sources. Every CUDA name that is an alias in the sources must be on the
//! page. Every name on the page must exist in its module. Every function of the modules must be on the page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cuda-names.md")).unwrap()
}

/// Returns the source text of a module: one file, or all files of a folder.
fn module(name: &str) -> String {
    let folder = sources().join(name);
    match fs::read_dir(&folder) {
        Ok(files) => files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect(),
        Err(_) => fs::read_to_string(folder.with_extension("rs")).unwrap_or_default(),
    }
}

const MODULES: [&str; 9] = ["atomic", "barrier", "bits", "cluster", "grid", "half", "machine", "thread", "warp"];

/// Returns the parts of `text` that are between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Compares CUDA's names on the page with those in the sources: aliases, and literals that macros use as aliases.
#[test]
fn every_alias_is_on_the_page_and_every_name_of_the_page_is_an_alias() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let on_page: BTreeSet<&str> = rows.filter_map(|row| quoted(row).next()).collect();
    let texts = MODULES.map(module);
    let literals = texts.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
    let is_cudas = |name: &&str| {
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        name.strip_prefix("__").is_some_and(is_word)
            || name.strip_prefix("atomic").is_some_and(|rest| is_word(rest) && rest.starts_with(char::is_uppercase))
    };
    let in_sources: BTreeSet<&str> = literals.filter(is_cudas).collect();
    assert!(in_sources.len() > 60, "{in_sources:?}");
    let missing: Vec<_> = in_sources.difference(&on_page).collect();
    assert!(missing.is_empty(), "not on the page, add them: {missing:?}");
    // These names are Rust's own methods and have no alias.
    let of_std = ["__popc", "__clz", "__brev", "__sad"];
    let unknown: Vec<_> =
        on_page.iter().filter(|name| is_cudas(name) && !in_sources.contains(*name) && !of_std.contains(name)).collect();
    assert!(unknown.is_empty(), "on the page, but not an alias in the sources: {unknown:?}");
}

#[test]
fn what_the_page_names_exists() {
    let page = page();
    let mut names = 0;
    for name in quoted(&page).filter(|name| name.contains("::") && !name.contains(' ')) {
        let Some((first, rest)) = name.split_once("::") else { continue };
        let last = rest.rsplit("::").next().unwrap_or(rest);
        if !MODULES.contains(&first) {
            continue;
        }
        names += 1;
        let text = module(first);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        assert!(text.split(|c| !is_word(c)).any(|word| word == last), "`{name}` is not in `{first}`");
    }
    assert!(names > 90, "{names}");
    // The compiler checks that Rust has these methods.
    let _: [fn(u32) -> u32; 3] = [u32::count_ones, u32::leading_zeros, u32::reverse_bits];
    let _: fn(u32, u32) -> u32 = u32::abs_diff;
}

#[test]
fn every_function_is_on_the_page() {
    let page = page();
    let named: BTreeSet<&str> = quoted(&page).collect();
    for name in ["bits", "grid", "machine", "thread", "warp"] {
        let text = module(name);
        let functions = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
        for function in functions.filter_map(|line| line.split(['(', '<']).next()) {
            let path = format!("{name}::{function}");
            assert!(named.contains(&*path), "`{path}` is not on the page");
        }
    }
}
