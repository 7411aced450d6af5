//! Checks the rules for a single file.

use super::{File, Finding, finding};
use crate::syntax::Token;

/// The largest number of lines of a file.
const MAX_LINES: usize = 400;

/// The files that choose between the GPU and the simulator, one in each crate that has back ends.
const BACKENDS: [&str; 2] = ["crates/cuda_std/src/backend/mod.rs", "crates/cuda_math/src/backend/mod.rs"];
/// The root files of the crates with back ends, which may turn on compiler features for the GPU.
const DEVICE_ROOTS: [&str; 2] = ["crates/cuda_std/src/lib.rs", "crates/cuda_math/src/lib.rs"];

/// The tokens of a choice of the GPU by its architecture.
pub(super) const CHOICE: [&str; 3] = ["target_arch", "=", "\"nvptx64\""];

/// Returns the findings of the rules that need no parsed file: the length, and module documentation.
pub(super) fn of_text(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("{lines} lines: split the file by idea, the limit is {MAX_LINES}");
        findings.push(finding(path, MAX_LINES + 1, message));
    }
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("#![") && !line.starts_with("#!/"));
    if !first.is_some_and(|line| line.starts_with("//!") || line.starts_with("/*!")) {
        findings.push(finding(path, 1, "no module documentation: describe the file's purpose in `//!`"));
    }
    findings
}

/// Returns the findings of the rule that needs a parsed file: only the back ends depend on the target.
pub(super) fn target(file: &File<'_>) -> Vec<Finding> {
    // The attributes of the crate itself are outside all parts.
    let is_gate = |token: &Token| DEVICE_ROOTS.contains(&file.path) && file.parts.around(token).is_none();
    // A condition on the target that only chooses inlining does not change the behaviour.
    let hints = ["target_arch", "=", "\"nvptx64\"", ",", "inline", "(", "always", ")"];
    let hints: Vec<usize> = file.find(&hints).map(|token| token.bytes.start).collect();
    let is_allowed =
        |token: &Token| BACKENDS.contains(&file.path) || is_gate(token) || hints.contains(&token.bytes.start);
    let choices = file.find(&CHOICE).filter(|token| !is_allowed(token));
    let message = format!("a choice by `target_arch` belongs in {}", BACKENDS[0]);
    let finding = |token: &Token| file.finding(token.line, message.clone());
    choices.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Finding;

    fn check(path: &str, text: &str) -> Vec<Finding> {
        super::super::check(path, text)
    }

    const NONE: [usize; 0] = [];

    /// Returns the lines of the findings whose message contains `what`.
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
    fn what_is_no_rust_is_a_finding() {
        assert_eq!(lines("host/src/a.rs", "//! A.\nfn a( {}\n", "cannot parse"), [2]);
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
}
