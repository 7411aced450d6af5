//! Checks that `unsafe` blocks and impls have a SAFETY comment.
//!
//! clippy checks the code that is compiled for the host. This rule also checks code that is compiled only for the GPU.
//! It ignores code that macros generate, because the comment is then at the macro.

use super::{File, Finding};
use crate::syntax::Token;

/// What needs a SAFETY comment, each with its first tokens.
pub(super) const STARTS: [(&str, [&str; 2]); 2] = [("block", ["unsafe", "{"]), ("impl", ["unsafe", "impl"])];

/// Returns a finding for each `unsafe` block or impl without a SAFETY comment.
pub(super) fn undocumented(file: &File<'_>) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut findings = Vec::new();
    for (what, tokens) in STARTS {
        let is_written =
            |token: &&Token| !file.parts.generated.iter().any(|all| all.byte_range().contains(&token.bytes.start));
        for token in file.find(&tokens).filter(is_written) {
            let part = file.parts.around(token).map_or(token.line, |part| part.start().line);
            if !is_argued(&lines, token.line, part) {
                let message = format!("unsafe {what} without a `// SAFETY:` comment directly above");
                findings.push(file.finding(token.line, message));
            }
        }
    }
    findings
}

/// Returns true if a SAFETY comment is in `line` (counted from 1), directly above `line`, or directly above line
/// `part`. `part` is the line in which the enclosing item, statement, arm or field starts.
fn is_argued(lines: &[&str], line: usize, part: usize) -> bool {
    let is_argument = |line: &&str| line.split_once("//").is_some_and(|(_, comment)| comment.contains("SAFETY:"));
    let is_comment = |line: &&&str| line.trim_start().starts_with("//");
    let is_above = |line: usize| lines[..line - 1].iter().rev().take_while(is_comment).any(is_argument);
    is_argument(&lines[line - 1]) || is_above(line) || is_above(part)
}

#[cfg(test)]
mod tests {
    use super::super::check;

    const NONE: [usize; 0] = [];

    /// Returns the lines of the findings.
    fn lines(text: &str) -> Vec<usize> {
        let found = check("crates/simt/src/a.rs", text);
        found.iter().filter(|finding| finding.message.contains("SAFETY")).map(|finding| finding.line).collect()
    }

    #[test]
    fn an_unsafe_block_needs_an_argument() {
        assert_eq!(lines("//! A.\nfn a() {\n    unsafe { b() }\n}\n"), [3]);
        assert_eq!(lines("//! A.\nfn a() {\n    // SAFETY: b does nothing.\n    unsafe { b() }\n}\n"), NONE);
        assert_eq!(lines("//! A.\nfn a() {\n    // b does nothing.\n    unsafe { b() }\n}\n"), [4]);
        assert_eq!(lines("//! A.\nfn a() {\n    // SAFETY: one.\n\n    unsafe { b() }\n}\n"), [5]);
        assert_eq!(lines("//! A.\nfn a() {\n    // SAFETY: c's.\n    c();\n    unsafe { b() }\n}\n"), [5]);
        assert_eq!(lines("//! A.\nfn a() {\n    // SAFETY: one,\n    // two.\n    unsafe\n    { b() }\n}\n"), NONE);
    }

    #[test]
    fn an_argument_may_stand_above_the_statement_and_its_attributes() {
        let text = "//! A.\nfn a() {\n    // SAFETY: b does nothing.\n    #[allow(x)]\n    let c =\n        unsafe { b() };\n}\n";
        assert_eq!(lines(text), NONE);
    }

    #[test]
    fn an_unsafe_impl_needs_an_argument() {
        assert_eq!(lines("//! A.\n/// Docs.\nunsafe impl Send for A {}\n"), [3]);
        assert_eq!(lines("//! A.\n// SAFETY: A is a number.\nunsafe impl Send for A {}\n"), NONE);
        // One SAFETY comment does not cover two impls.
        assert_eq!(lines("//! A.\n// SAFETY: A.\nunsafe impl Send for A {}\nunsafe impl Sync for A {}\n"), [4]);
    }

    #[test]
    fn declarations_texts_and_generated_code_need_none() {
        let text = "//! A.\n/// unsafe { }\npub unsafe fn a() {}\nconst B: &str = \"unsafe { }\";\n\
            macro_rules! c { () => { unsafe { d() } } }\nfn e() { quote!(unsafe { f() }) }\n";
        assert_eq!(lines(text), NONE);
        assert_eq!(lines(&format!("{text}fn g() {{\n    unsafe {{ h() }}\n}}\n")), [8]);
    }
}
