//! `unsafe` blocks and impls say why they are sound.
//!
//! clippy checks the blocks that the host compiles; this also sees impls, and what is compiled for the GPU alone. What
//! macros generate is left out: there the macro's author argues in the text around it.

use std::ops::Range;

use super::{File, Finding};

pub(super) fn undocumented(file: &File<'_>) -> Vec<Finding> {
    let source = &file.source;
    let generated = generated(file);
    let lines: Vec<&str> = source.text().lines().collect();
    let code_lines: Vec<&str> = source.code().lines().collect();
    let mut findings = Vec::new();
    for at in source.words("unsafe").filter(|at| !generated.iter().any(|range| range.contains(at))) {
        let after = source.code()[at + "unsafe".len()..].trim_start();
        let what = match after {
            _ if after.starts_with('{') => "block",
            _ if after.starts_with("impl") => "impl",
            _ => continue,
        };
        if !is_argued(&lines, &code_lines, source.line_of(at) - 1) {
            findings.push(file.finding_at(at, format!("unsafe {what} without a `// SAFETY:` comment right above")));
        }
    }
    findings
}

/// The bodies of macros and of quotations.
fn generated(file: &File<'_>) -> Vec<Range<usize>> {
    let source = &file.source;
    let mut ranges = source.items_after("macro_rules!");
    for quotation in ["quote!", "quote_spanned!"] {
        for at in source.words(quotation) {
            let open = source.code()[at..].find(['{', '(', '[']).map(|offset| at + offset);
            ranges.extend(open.map(|open| source.enclosed(open)));
        }
    }
    ranges
}

/// Whether a SAFETY comment stands in this line (counted from 0), or right above it or above its statement.
fn is_argued(lines: &[&str], code_lines: &[&str], line: usize) -> bool {
    let is_argument =
        |line: usize| lines[line].split_once("//").is_some_and(|(_, comment)| comment.contains("SAFETY:"));
    if is_argument(line) {
        return true;
    }
    let mut above = line;
    while above > 0 {
        above -= 1;
        let text = lines[above].trim();
        let code = code_lines[above].trim();
        if text.starts_with("//") {
            if is_argument(above) {
                return true;
            }
            // An argument of several lines starts further up.
            continue;
        }
        let ends_a_statement = code.ends_with([';', '{', '}']);
        if text.is_empty() || (ends_a_statement && !text.starts_with("#[")) {
            return false;
        }
        // An attribute, or the start of the statement that goes on in the line looked at.
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::check;

    const NONE: [usize; 0] = [];

    /// The lines with an `unsafe` that nobody argues for.
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
        // One argument does not serve two.
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
