//! Rewrites the figures of README.md and docs/figures.md between their marks.

use anyhow::{Result, bail, ensure};

/// The files that show figures, as paths from the root of the workspace, each with the names of its parts.
pub const DOCUMENTS: [(&str, &[&str]); 2] =
    [("README.md", &["run", "short", "peers"]), ("docs/figures.md", &["last", "ladders", "small", "life", "plots"])];

fn begin(name: &str) -> String {
    format!("<!-- bench:{name} -->")
}

fn end(name: &str) -> String {
    format!("<!-- /bench:{name} -->")
}

/// Returns `text`, the text of `document`, with each part in `names` replaced by the part of the same name in `parts`.
///
/// # Errors
/// If a mark is missing or occurs twice, or if an end mark precedes its begin mark.
pub fn rewrite((document, names): (&str, &[&str]), text: &str, parts: &[(&str, String)]) -> Result<String> {
    let mut text = text.to_owned();
    for (name, content) in parts.iter().filter(|(name, _)| names.contains(name)) {
        let (begin, end) = (begin(name), end(name));
        for mark in [&begin, &end] {
            match text.matches(mark.as_str()).count() {
                1 => {}
                0 => bail!(
                    "{document} has no mark {mark}: put {begin} and {end} on lines of their own, where {} belongs",
                    what(name)
                ),
                count => bail!("{document} has the mark {mark} {count} times: leave one"),
            }
        }
        let (Some(from), Some(to)) = (text.find(&begin), text.find(&end)) else { continue };
        let from = from + begin.len();
        ensure!(from <= to, "{document} has {end} before {begin}: exchange them");
        text.replace_range(from..to, &format!("\n{}\n", content.trim_end_matches('\n')));
    }
    Ok(text)
}

/// Returns the description of the part `name`, for messages.
fn what(name: &str) -> &str {
    match name {
        "run" => "the description of the machine",
        "last" => "the table of the last rungs beside their peers",
        "short" => "the table of one work per algorithm",
        "peers" => "the plot of all algorithms beside their peers",
        "ladders" => "the table of all rungs",
        "small" => "the table of small inputs",
        "life" => "the table of Life",
        _ => "a part of `bench`",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use xtask::workspace::Workspace;

    use super::*;

    const README: &str =
        "# A\n\n<!-- bench:run -->\nold\n<!-- /bench:run -->\n\nmore\n<!-- bench:life --><!-- /bench:life -->\n";

    const DOCUMENT: (&str, &[&str]) = ("README.md", &["run", "life"]);

    fn parts() -> Vec<(&'static str, String)> {
        vec![("run", "new\nlines\n".to_owned()), ("life", "| 1 |".to_owned())]
    }

    #[test]
    fn what_is_between_the_marks_is_replaced_and_again_is_no_change() {
        let once = rewrite(DOCUMENT, README, &parts()).unwrap();
        assert_eq!(
            once,
            "# A\n\n<!-- bench:run -->\nnew\nlines\n<!-- /bench:run -->\n\nmore\n<!-- bench:life -->\n| 1 |\n<!-- /bench:life -->\n"
        );
        assert_eq!(rewrite(DOCUMENT, &once, &parts()).unwrap(), once);
        // Parts that belong to another file are left out.
        let alone = rewrite(("README.md", &["run"]), README, &parts()).unwrap();
        assert!(alone.contains("new\nlines") && !alone.contains("| 1 |"), "{alone}");
    }

    #[test]
    fn a_missing_mark_is_an_error_that_says_what_to_do() {
        for (text, parts_of_message) in [
            (README.replace("<!-- /bench:run -->", ""), ["no mark <!-- /bench:run -->", "on lines of their own"]),
            (README.replace("bench:life", "bench:lief"), ["no mark <!-- bench:life -->", "table of Life"]),
            (format!("{README}<!-- bench:run -->"), ["<!-- bench:run --> 2 times", "leave one"]),
            ("<!-- /bench:run --><!-- bench:run -->".to_owned(), ["before <!-- bench:run -->", "exchange"]),
        ] {
            let message = rewrite(DOCUMENT, &text, &parts()).unwrap_err().to_string();
            for part in parts_of_message {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }

    #[test]
    fn the_present_files_have_their_marks_once() {
        let root = Workspace::open().unwrap().root().to_owned();
        for (document, names) in DOCUMENTS {
            let text = fs::read_to_string(root.join(document)).unwrap();
            assert_eq!(text.matches("<!-- bench:").count(), names.len(), "{document}");
            for mark in names.iter().flat_map(|name| [begin(name), end(name)]) {
                assert_eq!(text.matches(&mark).count(), 1, "{document}: {mark}");
            }
        }
    }
}
