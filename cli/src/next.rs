//! Chooses the command line that `list` and `explain` suggest at their end.
//!
//! The commands lead through an algorithm: `list`, `list ALGORITHM`, `explain` of each rung compared with the rung
//! before, and `bench`. After `explain ALGORITHM`, which shows all rungs, comes `check`.

use workbench::algorithm::{Options, Purpose};
use workbench::catalogue;
use workbench::subjects::{self, Chosen, Subject};

/// The smallest algorithm, with which one begins.
const SMALLEST: &str = "scale";

/// Returns the line `next: …` with the program's name.
pub fn line(arguments: &str) -> String {
    format!("next: {}", command(arguments))
}

/// Returns a command line of this program.
pub fn command(arguments: &str) -> String {
    format!("{} {arguments}", units::program())
}

/// Returns the arguments for the command after `list`, or after `list ALGORITHM`.
pub fn after_list(algorithm: Option<&str>) -> String {
    match algorithm.map(|name| subjects::all().find(|subject| subject.algorithm == name)) {
        None => format!("list {SMALLEST}"),
        Some(Some(first)) => format!("explain {}", first.name()),
        Some(None) => "explain --help".into(),
    }
}

/// Returns the arguments for the command after `explain` of `chosen`. `is_default` is true if no option selected a
/// problem.
pub fn after_explain(chosen: &Chosen, is_default: bool) -> String {
    match (chosen.subjects[..].first(), chosen.subjects.len()) {
        (Some(subject), 1) => after_subject(subject, is_default),
        (Some(subject), _) if !subject.is_step() => format!("explain {}", subject.name()),
        (Some(subject), _) => format!("check {}", subject.algorithm),
        (None, _) => "list".into(),
    }
}

fn after_subject(subject: &Subject, is_default: bool) -> String {
    if !subject.is_rung {
        return format!("explain {}", subject.algorithm);
    }
    let mut later = subjects::all()
        .filter(|other| other.algorithm == subject.algorithm && other.is_rung)
        .skip_while(|other| other.rung != subject.rung);
    match later.nth(1) {
        Some(next) if is_default && is_comparable(subject, next) => {
            format!("explain {} --baseline {}", next.name(), subject.name())
        }
        Some(next) => format!("explain {}", next.name()),
        None if subject.is_step() => format!("bench {}", subject.algorithm),
        None => "list".into(),
    }
}

/// Returns true if `explain` gives both rungs problems with the same number of elements.
fn is_comparable(subject: &Subject, next: &Subject) -> bool {
    let elements = |rung: &str| {
        let algorithm = catalogue::find(subject.algorithm)?;
        let rung = algorithm.rungs().iter().find(|there| there.name == rung)?;
        let shape = algorithm.default_shape(Some(rung), Purpose::Explain);
        Some(algorithm.problem(shape, &Options::defaults(algorithm.options())).ok()?.elements())
    };
    elements(subject.rung).is_some_and(|before| elements(next.rung) == Some(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::definition;

    /// Asserts that a suggested command line is valid, and that what it names exists.
    #[track_caller]
    fn assert_leads_on(arguments: &str) {
        let words: Vec<&str> = arguments.split(' ').collect();
        let parsed = definition().try_get_matches_from([&["host"], &words[..]].concat());
        assert!(parsed.is_ok(), "{arguments}: {}", parsed.unwrap_err());
        match words[..] {
            ["list"] | ["bench", _] => {}
            ["list", name] => assert!(subjects::all().any(|subject| subject.algorithm == name), "{arguments}"),
            ["explain", name] => {
                let subject = find(name);
                assert!(subject.name() == name || subject.algorithm == name, "{arguments}");
            }
            ["explain", name, "--baseline", before] => {
                assert_eq!((find(name).name(), find(before).name()), (name.into(), before.into()), "{arguments}");
            }
            ["check", name] => {
                let cases = workbench::cases::catalogue();
                assert!(cases.iter().any(|case| case.group() == name), "{arguments}");
            }
            _ => panic!("{arguments}"),
        }
    }

    fn find(name: &str) -> &'static Subject {
        let found = subjects::find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        found.subjects[0]
    }

    #[test]
    fn each_suggested_command_is_valid() {
        assert_leads_on(&after_list(None));
        for subject in subjects::all() {
            assert_leads_on(&after_list(Some(subject.algorithm)));
            for name in [subject.name(), subject.algorithm.to_owned(), subject.families[0].to_owned()] {
                let chosen = subjects::find(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_leads_on(&after_explain(&chosen, true));
                assert_leads_on(&after_explain(&chosen, false));
            }
        }
    }

    /// Follows the suggestions from `list` on, through each ladder.
    #[test]
    fn the_suggestions_lead_through_every_ladder() {
        for algorithm in catalogue::ALGORITHMS.iter().filter(|algorithm| !algorithm.rungs().is_empty()) {
            let mut arguments = after_list(Some(algorithm.name()));
            for rung in algorithm.rungs() {
                let name = arguments.split(' ').nth(1).unwrap();
                assert_eq!(name, format!("{}/{}", algorithm.name(), rung.name));
                arguments = after_explain(&subjects::find(name).unwrap(), true);
            }
            assert_eq!(arguments, format!("bench {}", algorithm.name()));
        }
        let after = |name: &str, is_default| after_explain(&subjects::find(name).unwrap(), is_default);
        assert_eq!(after("transpose/tile", true), "explain transpose/padded --baseline transpose/tile");
        assert_eq!(after("transpose/tile", false), "explain transpose/padded");
        assert_eq!(after("transpose", true), "check transpose");
    }
}
