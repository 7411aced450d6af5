//! What each line of a file is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{AddAssign, Range};

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item};

use crate::{sources, syntax, tidy};

/// Folders of files that a tool wrote.
const GENERATED: [&str; 2] = ["gpu/ptx/", "bench/results/"];

/// Lines that are not blank, by what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Lines with Rust outside of tests.
    pub production: usize,
    /// Their characters, without the spaces at both ends.
    pub characters: usize,
    /// Other lines outside of tests: documentation and comments, and the lines of Markdown.
    pub documentation: usize,
    /// Lines of tests, their comments included.
    pub tests: usize,
    /// Lines of generated files.
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

/// The counts of one file. `is_test` says that only tests include it.
///
/// # Errors
/// If it is no Rust, and its name says that it is.
pub(super) fn count(path: &str, text: &str, is_test: bool) -> Result<Counts> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).count();
    let mut counts = Counts::default();
    if GENERATED.iter().any(|folder| path.starts_with(folder)) {
        counts.generated = lines();
    } else if path.ends_with(".md") {
        counts.documentation = lines();
    } else if path.ends_with(".rs") {
        if is_test || tidy::is_test(path) {
            counts.tests = lines();
        } else {
            counts = of_rust(path, text)?;
        }
    }
    Ok(counts)
}

fn of_rust(path: &str, text: &str) -> Result<Counts> {
    let Tests { ranges: tests, .. } = Tests::of(path, text)?;
    let tokens = text.parse().map_err(|error| anyhow::anyhow!("{path} is not understood: {error}"))?;
    let tokens = syntax::flat(tokens);
    let mut code: Vec<Range<usize>> = Vec::new();
    let mut rest = &tokens[..];
    while let Some((token, after)) = rest.split_first() {
        rest = match sources::documentation(rest) {
            Some(length) => &rest[length..],
            None => {
                code.push(token.bytes.clone());
                after
            }
        };
    }
    let mut counts = Counts::default();
    let mut start = 0;
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let bytes = start..start + line.len();
        start = bytes.end;
        // Tokens that end before this line are done with.
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

/// The modules in files of their own that are included for tests alone: their paths, without the ending.
pub(crate) struct TestModules(BTreeSet<String>);

impl TestModules {
    /// Those of `files`, which are paths with their texts. A file that is no Rust has none.
    pub fn of(files: &BTreeMap<String, String>) -> TestModules {
        let rust = files.iter().filter(|(path, _)| path.ends_with(".rs"));
        TestModules(rust.flat_map(|(path, text)| test_modules(path, text)).collect())
    }

    /// Whether a file is one of them, or is in the folder of one.
    pub fn contain(&self, path: &str) -> bool {
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

/// What is compiled for tests alone.
#[derive(Default)]
struct Tests {
    /// The bytes of items, with their attributes.
    ranges: Vec<Range<usize>>,
    /// The modules among them that are in files of their own.
    modules: Vec<String>,
}

impl Tests {
    fn of(path: &str, text: &str) -> Result<Tests> {
        let mut tests = Tests::default();
        // Many files have none, and need not be parsed for them.
        if text.contains("cfg(test") || text.contains("cfg(all(test") {
            tests.visit_file(&syn::parse_file(text).with_context(|| format!("{path} is not understood"))?);
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

/// Whether an attribute is `#[cfg(test)]` or `#[cfg(all(test, …))]`.
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
