//! Checks the course: every hole fails as it is, every solution passes, and every wrong filling fails with the text
//! that its `answers.md` demands and names the marked lines. Each failure names a line of the hole, or `answers.md`
//! says why none can be named.
//!
//! `cargo test -p gridstride-learn --features course --test course` checks all exercises. With the environment variable
//! `COURSE=index,race`, only these are compiled and checked. With `COURSE_WRITE=1`, the figures of the solutions are
//! written to `scores.tsv`; otherwise they must be those of that file. The same holds for a picture of the terminal in
//! `docs/pictures`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use learn::answers::{Answers, BEGIN, END, Filling};
use learn::{Exercise, Outcome, SOURCES, Score, score_of_solution};

/// A filling of an exercise's hole, compiled into this test.
struct Variant {
    exercise: &'static str,
    /// `hole`, `solution`, or `wrong_1` and so on.
    name: &'static str,
    check: fn() -> Exercise,
    /// The path of the kernel file.
    file: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/variants.rs"));

/// The number of wrong fillings of each exercise.
const WRONG: usize = 5;
/// The most lines of code that a solution has.
const MAX_LINES: usize = 15;

/// The reasons for which a failure may name no line of the hole: a line outside of it uses what it computes, or it
/// makes the host wait.
const NO_LINE: [&str; 2] = ["outside", "wait"];

/// The hole whose failure a picture of the terminal shows, and its path in the course.
const SHOWN: (&str, &str) = ("race", "exercises/14_race/race.rs");
/// The number of columns of the terminal.
const COLUMNS: usize = 110;
/// The picture of the terminal.
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures/terminal-course.svg");

fn main() -> ExitCode {
    let is_writing = std::env::var_os("COURSE_WRITE").is_some();
    let (mut failures, mut scores) = (Vec::new(), Vec::new());
    for source in SOURCES {
        let variants: Vec<&Variant> = VARIANTS.iter().filter(|variant| variant.exercise == source.name).collect();
        if variants.is_empty() {
            continue;
        }
        let answers = match Answers::parse(source.answers) {
            Ok(answers) => answers,
            Err(error) => {
                failures.push(format!("{}: {error}", source.name));
                continue;
            }
        };
        let begun = std::time::Instant::now();
        let mut found = form(&answers);
        for variant in variants {
            let outcome = (variant.check)().outcome();
            found.extend(failure_of(variant, &answers, &outcome));
            if (variant.exercise, variant.name) == (SHOWN.0, "hole") {
                found.extend(failure_of_picture(variant, &outcome, is_writing));
            }
            if variant.name == "solution" {
                scores.extend(outcome.score.map(|score| line_of(source.name, &score)));
                let is_known = is_writing || outcome.score == score_of_solution(source.name);
                found.extend((!is_known).then(|| "scores.tsv is old: write it by COURSE_WRITE=1".to_owned()));
            }
        }
        println!("{:02} {}: {} ({:.1?})", source.number, source.name, verdict(&found), begun.elapsed());
        failures.extend(found.into_iter().map(|failure| format!("{}: {failure}", source.name)));
    }
    failures.iter().for_each(|failure| println!("\n{failure}"));
    if is_writing && scores.len() == SOURCES.len() {
        let heading = "exercise\tmoved bytes\tuseful bytes\tbank conflicts\tbarriers per block\n";
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/scores.tsv"), heading.to_owned() + &scores.concat()).unwrap();
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the failure of the picture of the terminal to show `outcome`. Writes the picture if `is_writing` is true.
fn failure_of_picture(variant: &Variant, outcome: &Outcome, is_writing: bool) -> Option<String> {
    let picture = outcome.pictures.as_ref().map_or("", |pictures| &pictures.coloured);
    let text = outcome.text.trim_end().replace(variant.file, SHOWN.1);
    let lines: Vec<String> = text.lines().map(|line| units::wrapped(line, 0, COLUMNS)).collect();
    let svg = anstyle_svg::Term::new().render_svg(&format!("$ cargo run\n\n{}\n\n{picture}", lines.join("\n")));
    if is_writing {
        fs::write(PICTURE, &svg).unwrap();
    }
    let is_shown = fs::read_to_string(PICTURE).is_ok_and(|kept| kept.replace("\r\n", "\n") == svg);
    (!is_shown).then(|| "terminal-course.svg is old: write it by COURSE_WRITE=1".to_owned())
}

/// Returns the line of `scores.tsv`.
fn line_of(name: &str, score: &Score) -> String {
    let Score { moved_bytes, useful_bytes, bank_conflicts, barriers, .. } = score;
    format!("{name}\t{moved_bytes}\t{useful_bytes}\t{bank_conflicts}\t{barriers}\n")
}

fn verdict(failures: &[String]) -> String {
    if failures.is_empty() { "ok".to_owned() } else { format!("{} failures", failures.len()) }
}

/// Returns the failures of an `answers.md` to have the parts that each exercise needs.
fn form(answers: &Answers<'_>) -> Vec<String> {
    let mut failures = Vec::new();
    let mut demand = |holds: bool, text: String| failures.extend((!holds).then_some(text));
    demand(answers.wrong.len() == WRONG, format!("{} wrong fillings instead of {WRONG}", answers.wrong.len()));
    demand(!answers.hints.is_empty(), "there is no hint".to_owned());
    let lines = learn::answers::lines_of_code(answers.solution.code);
    demand((1..=MAX_LINES).contains(&lines), format!("the solution has {lines} lines: at most {MAX_LINES}"));
    for wrong in &answers.wrong {
        demand(!wrong.shows.is_empty(), format!("`{}` demands no text: add `> text`", wrong.name));
    }
    failures
}

/// Returns the failure of a variant to do what it must.
fn failure_of(variant: &Variant, answers: &Answers<'_>, outcome: &Outcome) -> Option<String> {
    let Variant { name, file, .. } = variant;
    match *name {
        "solution" if outcome.is_passed => return None,
        "solution" => return Some(format!("the solution fails:\n{}", outcome.text)),
        _ if outcome.is_passed => return Some(format!("{name} passes")),
        _ => {}
    }
    let wrong = name.strip_prefix("wrong_").and_then(|number| answers.wrong.get(number.parse::<usize>().ok()? - 1));
    let Filling { name, shows, no_line, .. } = wrong?;
    let kernel = fs::read_to_string(file).unwrap();
    let named = kernel.lines().zip(1..).filter(|(line, _)| line.contains("// named"));
    let named = named.map(|(_, number)| format!("{file}:{number}"));
    let demanded = shows.iter().map(|part| (*part).to_owned()).chain(named);
    let picture = outcome.pictures.as_ref().map_or("", |pictures| &pictures.text);
    let output = format!("{}\n{picture}", outcome.text);
    let missing: Vec<String> = demanded.filter(|part| !shows_part(&output, part)).collect();
    let unnamed = failure_to_name(&kernel, file, &output, *no_line);
    let failure = if missing.is_empty() { unnamed? } else { format!("does not show {missing:?}") };
    Some(format!("`{name}` {failure}:\n{output}"))
}

/// Returns the failure of `output` to name a line of the hole of `kernel`, the text of `file`, or else of `no_line` to
/// say why.
fn failure_to_name(kernel: &str, file: &str, output: &str, no_line: Option<&str>) -> Option<String> {
    let file = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap();
    let number = |mark| kernel.lines().position(|line| line.trim() == mark).unwrap() + 1;
    let is_named = (number(BEGIN) + 1..number(END)).any(|line| shows_part(output, &format!("{file}:{line}")));
    match no_line {
        None if !is_named => Some("names no line of the hole: add `No line: REASON`".to_owned()),
        Some(reason) if is_named => Some(format!("names a line of the hole: remove `No line: {reason}`")),
        Some(reason) if !NO_LINE.contains(&reason) => Some(format!("has `No line: {reason}`: use one of {NO_LINE:?}")),
        Some("outside") if !output.contains(&format!("{file}:")) => Some(format!("names no line of {file}")),
        _ => None,
    }
}

/// Returns true if `output` contains `part`, and not only as the beginning of a longer number.
fn shows_part(output: &str, part: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut ends = output.match_indices(part).map(|(at, _)| &output[at + part.len()..]);
    ends.any(|rest| !part.ends_with(is_digit) || !rest.starts_with(is_digit))
}
