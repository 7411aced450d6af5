//! Checks the width of comments, documentation and Markdown, and wraps them.
//!
//! Code blocks, tables, generated parts and words without a space may be wider.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Finding, finding};
use crate::syntax;

/// The maximum number of columns, as in rustfmt.toml.
const COLUMNS: usize = 120;

/// The starts of the comments that begin a generated part of a page. The part ends at the next comment.
const GENERATED: [&str; 3] = ["<!-- bench:", "<!-- ladder:", "<!-- Written by "];

/// Returns a finding for each line that is too wide and can be wrapped.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut prose = Prose::new(path, text);
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if prose.begin(at, line).is_some_and(|prefix| break_of(line, prefix).is_some()) {
            let message = format!(
                "{} columns: wrap the text at {COLUMNS}; `cargo xtask tidy --fix` does that",
                line.chars().count()
            );
            findings.push(finding(path, at + 1, message));
        }
    }
    findings
}

/// Returns the text with wide lines wrapped. The end of a wide line moves to the next line of its paragraph.
pub(super) fn wrapped(path: &str, text: &str) -> String {
    let mut prose = Prose::new(path, text);
    let mut lines: VecDeque<(usize, String)> = text.lines().map(str::to_owned).enumerate().collect();
    let mut done = String::with_capacity(text.len() + text.len() / 50);
    while let Some((at, line)) = lines.pop_front() {
        let prefix = prose.begin(at, &line);
        let cut = prefix.and_then(|prefix| Some((prefix, break_of(&line, prefix)?)));
        let Some((prefix, cut)) = cut else {
            done.push_str(&line);
            done.push('\n');
            continue;
        };
        let (head, tail) = line.split_at(cut);
        done.push_str(head.trim_end());
        done.push('\n');
        let start = format!("{}{}", &line[..prefix], " ".repeat(indent_below(&line[prefix..])));
        let tail = tail.trim_start();
        let continues = |next: &str| {
            let body = next.strip_prefix(start.as_str());
            !line.ends_with(['\\', ' ']) && body.is_some_and(|body| !body.starts_with(' ') && !is_structure(body))
        };
        match lines.front_mut() {
            Some((_, next)) if continues(next) => *next = format!("{start}{tail} {}", &next[start.len()..]),
            _ => lines.push_front((at, format!("{start}{tail}"))),
        }
    }
    done
}

/// Finds the prose in a file, line by line.
struct Prose {
    /// True for Rust, where only comments are prose.
    is_rust: bool,
    /// The ranges of the lines of literals, without the first line of each. A `//` in these lines starts no comment.
    literals: Vec<Range<usize>>,
    /// True if the present line is in a code block.
    in_code: bool,
    /// True if the present line is in a generated part.
    in_generated: bool,
}

impl Prose {
    fn new(path: &str, text: &str) -> Prose {
        let is_rust = path.ends_with(".rs");
        // Literals matter only if they may contain a wide comment.
        let is_wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COLUMNS;
        let tokens = if is_rust && text.lines().any(is_wide) {
            text.parse().map(syntax::flat).unwrap_or_default()
        } else {
            Vec::new()
        };
        let lines = |token: &syntax::Token| {
            let written = text.get(token.bytes.clone())?;
            let more = written.matches('\n').count();
            // The compiler represents block documentation as a literal.
            (more > 0 && !written.starts_with('/')).then(|| token.line..token.line + more)
        };
        Prose { is_rust, literals: tokens.iter().filter_map(lines).collect(), in_code: false, in_generated: false }
    }

    /// Returns the number of bytes before the prose of line `at`. Returns `None` if the line has no prose.
    fn begin(&mut self, at: usize, line: &str) -> Option<usize> {
        let prefix = self.prefix(at, line);
        let Some(prefix) = prefix else {
            self.in_code = false;
            return None;
        };
        let body = line[prefix..].trim_start();
        if body.starts_with("<!-- ") {
            self.in_generated = GENERATED.iter().any(|start| body.starts_with(start));
        }
        if body.starts_with("```") {
            self.in_code = !self.in_code;
            return None;
        }
        let is_whole = body.starts_with(['|', '<', '[']) && !body.starts_with("[`") || body.starts_with('#');
        (!self.in_code && !self.in_generated && !is_whole).then_some(prefix)
    }

    fn prefix(&self, at: usize, line: &str) -> Option<usize> {
        if !self.is_rust {
            return Some(0);
        }
        let indent = line.len() - line.trim_start().len();
        let marker = ["///", "//!", "//"].into_iter().find(|marker| line[indent..].starts_with(marker))?;
        let is_text = self.literals.iter().any(|lines| lines.contains(&at));
        let start = indent + marker.len();
        (!is_text).then(|| if line[start..].starts_with(' ') { start + 1 } else { start })
    }
}

/// Returns the byte at which a line must be broken. Returns `None` if the line is not too wide or has no suitable
/// space.
fn break_of(line: &str, prefix: usize) -> Option<usize> {
    let (limit, _) = line.char_indices().nth(COLUMNS)?;
    let text_start = prefix + (line[prefix..].len() - line[prefix..].trim_start().len());
    let spaces = line.match_indices(' ').map(|(at, _)| at);
    let may_break = |at: &usize| *at > text_start && *at <= limit && !is_structure(line[at + 1..].trim_start());
    // The first word of a list item stays with its mark.
    let first = text_start + mark_of(&line[text_start..]).unwrap_or(0);
    let places: Vec<usize> = spaces.filter(|at| *at > first).filter(may_break).collect();
    // Inline code stays in one line if possible.
    let is_outside = |at: &&usize| line[prefix..**at].matches('`').count().is_multiple_of(2);
    places.iter().rfind(is_outside).or(places.last()).copied()
}

/// Returns true if a line that starts with `body` does not continue a paragraph in Markdown.
fn is_structure(body: &str) -> bool {
    body.is_empty() || body.starts_with(['|', '#', '>', '<', '=']) || body.starts_with("```") || mark_of(body).is_some()
}

/// Returns the length of the list mark at the start of a text, such as `- ` or `12. `, or `None` without a mark.
fn mark_of(body: &str) -> Option<usize> {
    let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &body[digits..];
    let is_mark = if digits > 0 { rest.starts_with(['.', ')']) } else { rest.starts_with(['-', '*', '+']) };
    (is_mark && rest[1..].starts_with(' ')).then_some(digits + 2)
}

/// Returns the indentation of the lines that follow `body` in its paragraph.
fn indent_below(body: &str) -> usize {
    let text = body.trim_start();
    body.len() - text.len() + mark_of(text).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `number` words of nine letters. Each takes ten columns with its space.
    fn words(number: usize) -> String {
        (0..number).map(|i| format!("word{i:05}")).collect::<Vec<_>>().join(" ")
    }

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(path, text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_long_comment_is_found_and_wrapped() {
        let text = format!("//! {}\n\nfn a() {{\n    // {}\n    // end.\n}}\n", words(12), words(12));
        assert_eq!(lines("xtask/src/a.rs", &text), [1, 4]);
        let wrapped = wrapped("xtask/src/a.rs", &text);
        let expected =
            format!("//! {}\n//! word00011\n\nfn a() {{\n    // {}\n    // word00011 end.\n}}\n", words(11), words(11));
        assert_eq!(wrapped, expected);
        assert_eq!(lines("xtask/src/a.rs", &wrapped), [] as [usize; 0]);
    }

    #[test]
    fn what_is_too_much_moves_through_the_paragraph() {
        let text = format!("{}\n{}\n\nnew\n", words(13), words(12));
        let wrapped = wrapped("a.md", &text);
        let rows: Vec<usize> = wrapped.lines().map(|line| line.split_whitespace().count()).collect();
        assert_eq!((rows, lines("a.md", &wrapped)), (vec![12, 12, 1, 0, 1], Vec::new()));
        assert_eq!(wrapped.split_whitespace().collect::<String>(), text.split_whitespace().collect::<String>());
    }

    #[test]
    fn an_item_goes_on_below_its_text() {
        let long = words(13);
        let text = format!("- {long}\n- next\n1. {long}\n   more\n");
        let expected = format!("- {0}\n  {1}\n- next\n1. {0}\n   {1} more\n", words(11), "word00011 word00012");
        assert_eq!(wrapped("a.md", &text), expected);
    }

    #[test]
    fn code_tables_links_texts_and_long_words_stay() {
        let long = words(13);
        for text in [
            format!("```\n{long}\n```\n"),
            format!("| {long} |\n"),
            format!("[a]: {long}\n"),
            format!("<!-- bench:last -->\n{long}\n<!-- /bench:last -->\n"),
            format!("{}\n", "x".repeat(130)),
            format!("- {}\n", "x".repeat(130)),
        ] {
            assert_eq!((lines("a.md", &text), wrapped("a.md", &text)), (Vec::new(), text));
        }
        let text = format!(
            "//! A.\n/// ```\n/// let {long};\n/// ```\nconst A: &str = \"\n// {long}\n\";\nfn b() {{}} // {long}\n"
        );
        assert_eq!((lines("xtask/src/a.rs", &text), wrapped("xtask/src/a.rs", &text)), (Vec::new(), text));
    }

    #[test]
    fn code_in_a_sentence_stays_together() {
        let text = format!("{} `cargo test {}` end\n", words(10), words(2));
        assert_eq!(wrapped("a.md", &text), format!("{}\n`cargo test {}` end\n", words(10), words(2)));
        let all_code = format!("`{}`\n", words(13));
        assert_eq!(wrapped("a.md", &all_code).lines().count(), 2);
    }

    #[test]
    fn no_line_becomes_an_item_or_a_heading() {
        let text = format!("{} - {}\n", words(12).replacen("word00011", "w", 1), words(3));
        let wrapped = wrapped("a.md", &text);
        assert!(wrapped.lines().all(|line| mark_of(line).is_none()), "{wrapped}");
        assert_eq!(lines("a.md", &wrapped), [] as [usize; 0]);
    }
}
