//! Classifies the lines of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{AddAssign, Range};

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item};

use crate::syntax;

/// The folders of generated files.
const GENERATED: [&str; 2] = ["gpu/ptx/", "bench/results/"];

/// The numbers of lines by kind, without blank lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// The number of lines with Rust code outside tests.
    pub production: usize,
    /// The number of characters in production lines, without leading and trailing spaces.
    pub characters: usize,
    /// The number of other lines outside tests: documentation, comments and Markdown.
    pub documentation: usize,
    /// The number of lines of tests, including comments.
    pub tests: usize,
    /// The number of lines of generated files.
    pub generated: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.production += other.production;
        self.characters += other.characters;
        self.documentation += other.documentation;
        self.tests += other.tests;
        self.generated += other.generated;
    }
}

/// Returns the counts of one file. `is_test` must be true if only tests include the file.
///
/// # Errors
/// If a Rust file is not valid Rust.
pub(super) fn count(path: &str, text: &str, is_test: bool) -> Result<Counts> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).count();
    let mut counts = Counts::default();
    if GENERATED.iter().any(|folder| path.starts_with(folder)) {
        counts.generated = lines();
    } else if path.ends_with(".md") {
        counts.documentation = lines();
    } else if path.ends_with(".rs") {
        if is_test || is_in_tests(path) {
            counts.tests = lines();
        } else {
            counts = of_rust(path, text)?;
        }
    }
    Ok(counts)
}

/// Returns true if the file at `path` belongs to tests.
fn is_in_tests(path: &str) -> bool {
    // The programs in the folder `examples` of the workspace are production code, because users read them.
    let inner = path.strip_prefix("examples/").unwrap_or(path);
    inner.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"))
}

fn of_rust(path: &str, text: &str) -> Result<Counts> {
    let Tests { ranges: tests, .. } = Tests::of(path, text)?;
    let tokens = syntax::code(text).with_context(|| format!("cannot parse {path}"))?;
    let code: Vec<Range<usize>> = tokens.into_iter().map(|token| token.bytes).collect();
    let mut counts = Counts::default();
    let mut start = 0;
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let bytes = start..start + line.len();
        start = bytes.end;
        // Skips the tokens that end before this line.
        while code.get(next).is_some_and(|token| token.end <= bytes.start) {
            next += 1;
        }
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let overlaps = |range: &Range<usize>| range.start < bytes.end && bytes.start < range.end;
        if tests.iter().any(overlaps) {
            counts.tests += 1;
        } else if code.get(next).is_some_and(overlaps) {
            counts.production += 1;
            counts.characters += line.chars().count();
        } else {
            counts.documentation += 1;
        }
    }
    Ok(counts)
}

/// The paths, without the ending, of module files that only tests include.
pub(super) struct TestModules(BTreeSet<String>);

impl TestModules {
    /// Returns the test modules that `files` declare, where `files` has paths and texts. Files that are not valid Rust
    /// are ignored.
    pub fn of(files: &BTreeMap<String, String>) -> TestModules {
        let rust = files.iter().filter(|(path, _)| path.ends_with(".rs"));
        TestModules(rust.flat_map(|(path, text)| test_modules(path, text)).collect())
    }

    /// Returns true if a file is a test module, or is in the folder of one.
    pub fn contains(&self, path: &str) -> bool {
        let mut module = path.strip_suffix(".rs").unwrap_or(path);
        loop {
            if self.0.contains(module) {
                return true;
            }
            let Some((folder, _)) = module.rsplit_once('/') else { return false };
            module = folder;
        }
    }
}

fn test_modules(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        name => format!("{folder}/{}", name.trim_end_matches(".rs")),
    };
    let modules = Tests::of(path, text).map(|tests| tests.modules).unwrap_or_default();
    modules.into_iter().map(|module| format!("{folder}/{module}")).collect()
}

/// The items of a file that are compiled only for tests.
#[derive(Default)]
struct Tests {
    /// The byte ranges of the items, including attributes.
    ranges: Vec<Range<usize>>,
    /// The names of the modules among these items that are in separate files.
    modules: Vec<String>,
}

impl Tests {
    fn of(path: &str, text: &str) -> Result<Tests> {
        let mut tests = Tests::default();
        // Most files have no such items and need not be parsed.
        if text.contains("cfg(test") || text.contains("cfg(all(test") {
            tests.visit_file(&syn::parse_file(text).with_context(|| format!("cannot parse {path}"))?);
        }
        Ok(tests)
    }
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Const(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !attributes.iter().any(is_for_tests) {
            return visit::visit_item(self, item);
        }
        self.ranges.push(item.span().byte_range());
        if let Item::Mod(module) = item
            && module.content.is_none()
        {
            self.modules.push(module.ident.to_string());
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        match item {
            ImplItem::Fn(function) if function.attrs.iter().any(is_for_tests) => {
                self.ranges.push(item.span().byte_range());
            }
            _ => visit::visit_impl_item(self, item),
        }
    }
}

/// Returns true if an attribute is `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
    attribute.path().is_ident("cfg") && (tokens == "test" || tokens.replace(' ', "").starts_with("all(test,"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> [usize; 4] {
        let counts = count(path, text, false).unwrap();
        [counts.production, counts.documentation, counts.tests, counts.generated]
    }

    #[test]
    fn each_line_is_counted_once() {
        let text = "//! File.\n\n/// Does.\nfn a() { // why\n    // What.\n    b(); /* c\n    d */\n}\n#[doc = \"E.\"]\n\
            const TEXT: &str = \"\n// not a comment\n\n\";\n#[cfg(test)]\nmod tests {\n    /// F.\n    fn f() {}\n}\n";
        assert_eq!(of("a/src/b.rs", text), [6, 5, 5, 0]);
        assert_eq!(of("a/tests/b.rs", text), [0, 0, 16, 0]);
        assert_eq!(of("gpu/ptx/a.ptx", "// A.\n\nret;\n"), [0, 0, 0, 2]);
        assert_eq!(of("docs/a.md", "# A\n\nB\n"), [0, 2, 0, 0]);
        assert_eq!(of("a/data.bin", "0\n"), [0; 4]);
        assert!(count("a/src/b.rs", "fn a( {", false).is_err());
        assert!(count("a/src/b.rs", "#[cfg(test)] fn 1() {}", false).is_err());
    }

    #[test]
    fn the_modules_of_tests_are_found() {
        let text = "#[cfg(test)]\nmod a;\nmod b;\n#[cfg(all(test, unix))]\nmod c;\n#[cfg(test)]\nmod d { }\n";
        assert_eq!(test_modules("x/src/lib.rs", text), ["x/src/a", "x/src/c"]);
        assert_eq!(test_modules("x/src/y.rs", text), ["x/src/y/a", "x/src/y/c"]);
        assert_eq!(test_modules("x/src/y/mod.rs", text), ["x/src/y/a", "x/src/y/c"]);
    }
}
