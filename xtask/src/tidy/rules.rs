//! The rules that look at one file and one place at a time.

use super::{File, Finding, finding};
use crate::syntax::Token;

/// A file is read in one sitting.
const MAX_LINES: usize = 400;

/// Where a user's input ends up: an error there is a value.
const NO_PANICS: &[&str] = &[
    "explain/src/",
    "gridstride/src/",
    "multi/src/",
    "life/core/src/",
    "workbench/src/",
    "program/src/",
    "host/src/",
    "records/src/",
    "crates/launch/src/",
    "crates/cuda_driver/src/",
    "crates/cuda_builder/src/",
    "crates/ptx_embed/src/",
    "crates/units/src/",
    "xtask/src/",
    "examples/",
];
const PANICS: [(&str, &[&str]); 5] = [
    ("unwrap", &[".", "unwrap", "(", ")"]),
    ("expect", &[".", "expect", "("]),
    ("panic!", &["panic", "!"]),
    ("todo!", &["todo", "!"]),
    ("unimplemented!", &["unimplemented", "!"]),
];

/// Each crate's one place that chooses between the GPU and the simulator, and its root, which turns on compiler
/// features.
const BACKENDS: [&str; 2] = ["crates/cuda_std/src/backend/mod.rs", "crates/cuda_math/src/backend/mod.rs"];
const DEVICE_ROOTS: [&str; 2] = ["crates/cuda_std/src/lib.rs", "crates/cuda_math/src/lib.rs"];

/// The rules that need no understanding of the text.
pub(super) fn of_text(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("{lines} lines: split the file by idea, {MAX_LINES} are the limit");
        findings.push(finding(path, MAX_LINES + 1, message));
    }
    // The file says first what it is for.
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("#![") && !line.starts_with("#!/"));
    if !first.is_some_and(|line| line.starts_with("//!") || line.starts_with("/*!")) {
        findings.push(finding(path, 1, "no module documentation: say in `//!` what the file is for"));
    }
    findings
}

/// The others.
pub(super) fn of_syntax(file: &File<'_>) -> Vec<Finding> {
    [panics(file), target(file), device_code(file)].concat()
}

fn panics(file: &File<'_>) -> Vec<Finding> {
    if !NO_PANICS.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let tests = file.tests();
    let is_test = |token: &Token| tests.iter().any(|range| range.contains(&token.bytes.start));
    let mut findings = Vec::new();
    for (name, tokens) in PANICS {
        for token in file.find(tokens).filter(|token| !is_test(token)) {
            findings.push(file.finding(token.line, format!("`{name}` outside of tests: return an error")));
        }
    }
    findings
}

fn target(file: &File<'_>) -> Vec<Finding> {
    // The crate's own attributes stand before all that it consists of.
    let is_gate = |token: &Token| DEVICE_ROOTS.contains(&file.path) && file.parts.around(token).is_none();
    // Where it is only inlined or not, both do the same.
    let hints = ["target_arch", "=", "\"nvptx64\"", ",", "inline", "(", "always", ")"];
    let hints: Vec<usize> = file.find(&hints).map(|token| token.bytes.start).collect();
    let is_allowed =
        |token: &Token| BACKENDS.contains(&file.path) || is_gate(token) || hints.contains(&token.bytes.start);
    let choices = file.find(&["target_arch", "=", "\"nvptx64\""]).filter(|token| !is_allowed(token));
    let message = format!("a choice by `target_arch` belongs in {}", BACKENDS[0]);
    let finding = |token: &Token| file.finding(token.line, message.clone());
    choices.map(finding).collect()
}

fn device_code(file: &File<'_>) -> Vec<Finding> {
    if !file.path.starts_with("gpu/") {
        return Vec::new();
    }
    let finding = |token: &Token| file.finding(token.line, "`std` in device code: there is only `core` on a GPU");
    file.find(&["std", ":", ":"]).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, is_test};

    fn check(path: &str, text: &str) -> Vec<Finding> {
        super::super::check(path, text, is_test(path))
    }

    const NONE: [usize; 0] = [];

    /// The lines of the findings whose message contains `what`.
    fn lines(path: &str, text: &str, what: &str) -> Vec<usize> {
        let found: Vec<Finding> = check(path, text);
        found.iter().filter(|finding| finding.message.contains(what)).map(|finding| finding.line).collect()
    }

    #[test]
    fn a_sound_file_has_no_findings() {
        let text = "//! What it is for.\n\n/// Adds.\npub fn add(a: u32) -> Option<u32> { a.checked_add(1) }\n";
        assert_eq!(check("host/src/add.rs", text), []);
    }

    #[test]
    fn a_long_file_is_found() {
        let limit = format!("//! Long.\n{}", "\n".repeat(399));
        assert_eq!(lines("gpu/src/a.rs", &limit, "split the file"), NONE);
        assert_eq!(lines("gpu/src/a.rs", &format!("{limit}\n"), "split the file"), [401]);
    }

    #[test]
    fn a_file_without_documentation_is_found() {
        let what = "no module documentation";
        assert_eq!(lines("simt/src/a.rs", "fn a() {}\n//! Too late.\n", what), [1]);
        assert_eq!(lines("simt/src/a.rs", "// Not documentation.\n", what), [1]);
        assert_eq!(lines("simt/src/a.rs", "", what), [1]);
        assert_eq!(lines("simt/src/a.rs", "#![no_std]\n\n//! Documentation.\n", what), NONE);
    }

    #[test]
    fn panics_are_found_outside_of_tests() {
        let text = "//! A.\nfn a() { b().unwrap(); }\nfn c() { d.expect(\"e\"); panic!(\"f\") }\nfn g() { todo!() }\n\
            fn h() { unimplemented!() }\nfn i() { j().unwrap_or(1); my_panic!(); \"panic!\"; } // .unwrap()\n\
            #[cfg(test)]\nmod tests { fn k() { l().unwrap(); panic!() } }\n";
        let what = "outside of tests";
        let found = |path| {
            let mut found = lines(path, text, what);
            found.sort_unstable();
            found
        };
        let paths = [
            "host/src/a.rs",
            "gridstride/src/a.rs",
            "workbench/src/a.rs",
            "records/src/a.rs",
            "xtask/src/a.rs",
            "crates/launch/src/b/c.rs",
            "crates/cuda_builder/src/a.rs",
        ];
        for path in paths.into_iter().chain(["examples/src/bin/a.rs", "examples/own-kernel/src/main.rs"]) {
            assert_eq!(found(path), [2, 3, 3, 4, 5], "{path}");
        }
        for path in [
            "crates/launch/examples/a.rs",
            "examples/own-kernel/tests/a.rs",
            "crates/simt/src/a.rs",
            "host/tests/a.rs",
            "host/src/life/tests.rs",
            "tests/src/a.rs",
        ] {
            assert_eq!(found(path), NONE, "{path}");
        }
    }

    #[test]
    fn what_is_for_tests_ends_with_its_item() {
        let text = "//! A.\n#[cfg(test)]\nmod tests { fn f() { a.unwrap() } }\nfn g() { a.unwrap() }\n#[cfg(test)]\nmod more;\n\
            fn h() { a.unwrap() }\nimpl A {\n    #[cfg(test)]\n    fn i() { a.unwrap() }\n    fn j() { a.unwrap() }\n}\n\
            #[cfg(not(test))]\nfn k() { a.unwrap() }\n";
        assert_eq!(lines("host/src/a.rs", text, "outside of tests"), [4, 7, 11, 14]);
    }

    #[test]
    fn what_is_no_rust_is_a_finding() {
        assert_eq!(lines("host/src/a.rs", "//! A.\nfn a( {}\n", "not understood"), [2]);
    }

    #[test]
    fn a_choice_by_target_is_found() {
        let what = "target_arch";
        let text = "//! A.\n#![cfg_attr(target_arch = \"nvptx64\", feature(a))]\n#[cfg(not(target_arch = \"nvptx64\"))]\n\
            #[cfg(target_arch = \"x86_64\")]\nfn a() {} // cfg(target_arch = \"nvptx64\")\n\
            #[cfg_attr(target_arch = \"nvptx64\", inline(always))]\nfn b() {}\n\
            #[cfg_attr(target_arch = \"nvptx64\", must_use)]\nfn c() {}\n";
        assert_eq!(lines("crates/cuda_std/src/warp.rs", text, what), [2, 3, 8]);
        assert_eq!(lines("gpu/src/lib.rs", text, what), [2, 3, 8]);
        assert_eq!(lines("crates/cuda_std/src/lib.rs", text, what), [3, 8]);
        assert_eq!(lines("crates/cuda_std/src/backend/mod.rs", text, what), NONE);
    }

    #[test]
    fn the_standard_library_is_found_in_device_code() {
        let text = "//! std::a\nuse cuda_std::thread;\nuse std::fmt;\nfn a() { ::std::mem::drop(\"std::b\") }\n";
        assert_eq!(lines("gpu/src/life/a.rs", text, "only `core`"), [3, 4]);
        assert_eq!(lines("host/src/life/a.rs", text, "only `core`"), NONE);
    }
}
