//! The texts that a learner sees.

use std::fmt::Write;

use units::{Bytes, grouped, number, table};

use crate::answers::{Answers, filled, lines_of_code};
use crate::outcome::{Outcome, Score};
use crate::progress::{Progress, State};
use crate::source::{SOURCES, Source};

/// The figures of the solutions: name, moved bytes, useful bytes, bank conflicts, barriers per block.
const SCORES: &str = include_str!("../scores.tsv");

/// Returns the figures of the solution of the exercise `name`.
pub fn score_of_solution(name: &str) -> Option<Score> {
    let row = SCORES.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| row.first() == Some(&name))?;
    let [_, moved_bytes, useful_bytes, bank_conflicts, barriers] = row[..] else { return None };
    Some(Score {
        moved_bytes: moved_bytes.parse().ok()?,
        useful_bytes: useful_bytes.parse().ok()?,
        bank_conflicts: bank_conflicts.parse().ok()?,
        barriers: barriers.parse().ok()?,
    })
}

/// Returns the line that names an exercise and its file.
pub(crate) fn heading(source: &Source, answers: &Answers<'_>, progress: &Progress) -> String {
    let done = SOURCES.iter().filter(|source| progress.of(source.name).is_done).count();
    format!(
        "{:02} {}: {} – {}   ({done} of {} done)\n{}\n",
        source.number,
        source.name,
        answers.chapter,
        answers.title,
        SOURCES.len(),
        source.kernel_path()
    )
}

/// Returns the text of a failed check. `picture` is the path of the picture.
pub(crate) fn failure(outcome: &Outcome, is_coloured: bool, picture: Option<&str>) -> String {
    let mut text = format!("\n{}\n", outcome.text.trim_end());
    if let Some(pictures) = &outcome.pictures {
        let _ = write!(text, "\n{}", if is_coloured { &pictures.coloured } else { &pictures.text });
    }
    if let Some(path) = picture {
        let _ = writeln!(text, "\nthe picture, for a browser: {path}");
    }
    text
}

/// Returns the text of a passed check: the figures of the learner's `kernel` beside those of the solution, its `times`
/// on a GPU, and the reason why the solution is right.
pub(crate) fn success(
    source: &Source,
    answers: &Answers<'_>,
    kernel: &str,
    score: Option<Score>,
    times: Option<&str>,
) -> String {
    let mut text = format!("\n{} passed\n", source.name);
    if let Some((own, reference)) = score.zip(score_of_solution(source.name)) {
        let solution = filled(source.kernel, Some(answers.solution.code)).unwrap_or_default();
        let _ = writeln!(text, "{}", compared(&own, &reference, [kernel, &solution].map(lines_of_code)));
    }
    text.extend(times.map(|times| format!("{times}\n")));
    text + &format!("\n{}\n", answers.solution.text)
}

/// Returns the table of two scores, and of the lines of code of both.
fn compared(own: &Score, reference: &Score, lines: [usize; 2]) -> String {
    let row = |name: &str, of: &dyn Fn(&Score) -> String| [name.to_owned(), of(own), of(reference)];
    let moved = |score: &Score| format!("{} of {}", Bytes(score.moved_bytes), Bytes(score.useful_bytes));
    let rows = [
        row("bytes moved, of those that must move", &moved),
        row("bank conflicts", &|score| grouped(score.bank_conflicts)),
        row("barriers per block", &|score| number(score.barriers)),
        ["lines of code".to_owned(), lines[0].to_string(), lines[1].to_string()],
    ];
    let table = table(["", "yours", "the course's"], rows);
    format!("{table}\nlines of code: of the whole file, without empty lines and comments")
}

/// Returns the list of all exercises.
pub(crate) fn list(progress: &Progress) -> String {
    let mut text = String::new();
    let mut chapter = "";
    for source in SOURCES {
        let Ok(answers) = Answers::parse(source.answers) else { continue };
        if answers.chapter != chapter {
            chapter = answers.chapter;
            let _ = writeln!(text, "{chapter}");
        }
        let State { is_done, tries, .. } = progress.of(source.name);
        let state = match (is_done, tries) {
            (true, _) => "done".to_owned(),
            (false, 0) => String::new(),
            (false, 1) => "1 try".to_owned(),
            (false, tries) => format!("{tries} tries"),
        };
        let line = format!("  {:02} {:<14} {:<48} {state}", source.number, source.name, answers.title);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Returns the first `count` hints of an exercise, and says whether there are more.
pub(crate) fn hints(answers: &Answers<'_>, count: usize) -> String {
    let mut text = String::new();
    for (number, hint) in (1..).zip(answers.hints.iter().take(count)) {
        let _ = writeln!(text, "hint {number} of {}: {hint}", answers.hints.len());
    }
    text
}

/// Returns the solution of an exercise.
pub(crate) fn solution(answers: &Answers<'_>) -> String {
    format!("{}\n\n{}", answers.solution.text, answers.solution.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exercise_has_answers_and_the_score_of_its_solution() {
        for source in SOURCES {
            let answers = Answers::parse(source.answers).unwrap();
            let score = score_of_solution(source.name);
            assert!(score.is_some(), "{}: write it by COURSE_WRITE=1 (AUTHORS.md)", source.name);
            assert!(list(&Progress::default()).contains(answers.title));
            let solution = filled(source.kernel, Some(answers.solution.code)).unwrap();
            let text = success(source, &answers, &solution, score, Some("on a GPU"));
            assert!(text.contains("lines of code") && text.contains(answers.solution.text), "{text}");
        }
        assert_eq!(score_of_solution("none"), None);
    }

    #[test]
    fn scores_stand_side_by_side() {
        let own = Score { moved_bytes: 8192, useful_bytes: 4096, bank_conflicts: 31, barriers: 2.0 };
        let reference = Score { moved_bytes: 4096, bank_conflicts: 0, barriers: 1.0, ..own };
        let text = compared(&own, &reference, [9, 7]);
        for part in ["8 KiB of 4 KiB", "4 KiB of 4 KiB", "31", "yours", "9"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
