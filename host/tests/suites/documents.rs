//! Tests that the reports in the pages of `docs/`, and the pictures of terminals, are those that the program prints.

use crate::common;

use std::fs;
use std::ops::Range;
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
    assert_eq!(count, 6);
}

/// The pictures of terminals in `docs/pictures`, each with the command that it shows and the range of lines, which has
/// no times. The package `gridstride-learn` has another one.
const TERMINALS: [(&str, &[&str], Range<usize>); 2] = [
    ("terminal-check.svg", &["check", "prefix_in_place"], 5..12),
    ("terminal-explain.svg", &["explain", "transpose", "--size", "128x64"], 0..22),
];

/// The number of columns of the terminals.
const COLUMNS: usize = 110;

/// The environment variable with which the pictures are written instead of compared.
const WRITE: &str = "GRIDSTRIDE_WRITE_PICTURES";

#[test]
fn pictures_of_the_terminal_show_what_is_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    for (name, arguments, range) in TERMINALS {
        let output = Host(&[]).run(arguments);
        let mut shown = String::new();
        for line in text(&output.stdout).lines().skip(range.start).take(range.len()) {
            let characters: Vec<char> = line.trim_end().chars().collect();
            // An empty line has no chunk.
            let first = characters.len().min(COLUMNS);
            shown.extend(characters[..first].iter().chain(&['\n']));
            characters[first..].chunks(COLUMNS).for_each(|rest| shown.extend(rest.iter().chain(&['\n'])));
        }
        let svg = anstyle_svg::Term::new().render_svg(&format!("$ host {}\n{shown}", arguments.join(" ")));
        let path = folder.join(name);
        if std::env::var_os(WRITE).is_some() {
            fs::write(&path, &svg).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept.replace("\r\n", "\n") == svg, "{name} is old: run this test with {WRITE}=1. It shows\n{shown}");
    }
}
