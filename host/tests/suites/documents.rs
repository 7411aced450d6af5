//! Tests that the reports in the pages of `docs/` are those that the program prints.

use crate::common;

use std::fs;
use std::path::Path;

use common::{Host, text};

/// The start of the mark that names the command of a report, such as `<!-- shown: host check prefix_in_place -->`.
const MARK: &str = "<!-- shown: host ";

/// Returns the words of a text, separated by single spaces. Pages and terminals break long lines at different words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn reports_are_shown_as_they_are_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let page = entry.unwrap().path();
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for marked in fs::read_to_string(&page).unwrap().split(MARK).skip(1) {
            let (command, rest) = marked.split_once(" -->").unwrap();
            let shown = rest.split("```").nth(1).unwrap();
            let output = Host(&[]).run(&command.split_whitespace().collect::<Vec<_>>());
            let printed = words(text(&output.stdout));
            assert!(printed.contains(&words(shown)), "{}: host {command}: {printed}", page.display());
            count += 1;
        }
    }
    assert_eq!(count, 3);
}
