//! The command line of a learner's project, and of `learn` in Gridstride's program.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use clap::{Args, Parser};
use serde_json::{Value, json};

use crate::checker::Cargo;
use crate::project;
use crate::session::{Session, answers};
use crate::show;
use crate::source::{SOURCES, Source};

/// The options of a session. EXERCISE is a name or a number; without it, the first exercise that is not done is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct SessionOptions {
    /// Show one more hint
    #[arg(long, value_name = "EXERCISE", num_args = 0..=1, group = "action")]
    hint: Option<Option<String>>,

    /// Show the solution, after a try
    #[arg(long, value_name = "EXERCISE", num_args = 0..=1, group = "action")]
    solution: Option<Option<String>>,

    /// Write the exercise as it was; the edited file is kept beside it
    #[arg(long, value_name = "EXERCISE", num_args = 0..=1, group = "action")]
    reset: Option<Option<String>>,

    /// List the exercises
    #[arg(long, group = "action")]
    list: bool,

    /// Check the exercise once instead of after each edit
    #[arg(long, group = "action")]
    once: bool,

    /// Check all exercises, or the named one, and print one JSON value
    #[arg(long, group = "action")]
    json: bool,
}

/// The error of a session.
#[derive(Debug)]
pub enum LearnError {
    /// The command line is wrong. The text says what to type instead.
    Usage(String),
    /// The session failed.
    Failed(String),
    /// An exercise is not passed, as the output says.
    NotPassed,
}

/// Check the exercises of this course
#[derive(Parser, Debug)]
#[command(name = "course")]
struct CommandLine {
    /// The exercise to check: its name or number [default: the first that is not done]
    exercise: Option<String>,

    #[command(flatten)]
    options: SessionOptions,
}

/// Runs the command line of a learner's project, in the working directory.
pub fn main() -> ExitCode {
    let CommandLine { exercise, options } = match CommandLine::try_parse_from(env::args_os().collect::<Vec<OsString>>())
    {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let (code, text) = match options.run(Path::new("."), exercise.as_deref()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(LearnError::NotPassed) => return ExitCode::FAILURE,
        Err(LearnError::Usage(text)) => (2, text),
        Err(LearnError::Failed(text)) => (1, text),
    };
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::from(code)
}

impl SessionOptions {
    /// Returns true if an option is given, so that a project is needed.
    pub fn needs_project(&self) -> bool {
        let Self { hint, solution, reset, list, once, json } = self;
        hint.is_some() || solution.is_some() || reset.is_some() || *list || *once || *json
    }

    /// Runs the session in the project `folder`, with the exercise `exercise` or the first that is not done.
    ///
    /// # Errors
    /// [`LearnError`].
    pub fn run(&self, folder: &Path, exercise: Option<&str>) -> Result<(), LearnError> {
        if !project::is_project(folder) {
            return Err(LearnError::Usage(format!(
                "'{}' is no course: go to the folder of one, or write one by `learn DIR`",
                folder.display()
            )));
        }
        let is_terminal = io::stdout().is_terminal();
        let is_coloured = is_terminal && env::var_os("NO_COLOR").is_none();
        let is_watching = is_terminal && !self.needs_project();
        let cargo = Cargo { is_coloured, is_shown: is_watching };
        let mut session = Session::open(folder, cargo, is_coloured)?;
        let named = [&self.hint, &self.solution, &self.reset].into_iter().find_map(|named| named.as_ref());
        let exercise = named.and_then(Option::as_deref).or(exercise).map(find).transpose()?;
        if self.json {
            return self.print_json(&mut session, exercise);
        }
        let chosen = exercise.or_else(|| session.current());
        let text = match chosen {
            _ if self.list => show::list(session.progress()),
            None => format!("all {} exercises are done; name one to check it again\n", SOURCES.len()),
            Some(source) if self.hint.is_some() => session.hint(source)?,
            Some(source) if self.solution.is_some() => session.solution(source)?,
            Some(source) if self.reset.is_some() => session.reset(source)? + "\n",
            Some(source) if is_watching => {
                // Only the first build shows its progress: the libraries may have to be built.
                session.checker_mut().build(folder, source)?.ok();
                session.checker_mut().is_shown = false;
                return session.watch(source, &typed_lines(), &mut io::stdout());
            }
            Some(source) => return check_once(&mut session, source),
        };
        print(&text)
    }

    /// Checks the exercise, or all, and prints a JSON value.
    fn print_json(&self, session: &mut Session<Cargo>, exercise: Option<&Source>) -> Result<(), LearnError> {
        let mut rows: Vec<Value> = Vec::new();
        let mut is_passed = true;
        for source in SOURCES.iter().filter(|source| exercise.is_none_or(|chosen| chosen.name == source.name)) {
            let report = session.check(source)?;
            let state = session.progress().of(source.name);
            let answers = answers(source)?;
            is_passed &= report.is_passed;
            rows.push(json!({
                "number": source.number,
                "name": source.name,
                "chapter": answers.chapter,
                "title": answers.title,
                "file": source.kernel_path(),
                "passed": report.is_passed,
                "compiles": report.outcome.is_some(),
                "tries": state.tries,
                "hints": state.hints,
                "text": crate::checker::plain(report.text.trim()),
                "score": report.outcome.and_then(|outcome| outcome.score),
                "reference": show::score_of_solution(source.name),
            }));
        }
        let passed = rows.iter().filter(|row| row["passed"] == true).count();
        let value = json!({ "passed": passed, "exercises": rows });
        print(&format!("{value:#}\n"))?;
        if is_passed { Ok(()) } else { Err(LearnError::NotPassed) }
    }
}

/// Checks an exercise once, and prints the result.
fn check_once(session: &mut Session<Cargo>, source: &Source) -> Result<(), LearnError> {
    let report = session.check(source)?;
    let heading = show::heading(source, &answers(source)?, session.progress());
    print(&format!("{heading}{}", report.text))?;
    if report.is_passed { Ok(()) } else { Err(LearnError::NotPassed) }
}

/// Returns the exercise with a name or number.
fn find(text: &str) -> Result<&'static Source, LearnError> {
    let number = text.parse::<u32>().ok();
    let found = SOURCES.iter().find(|source| source.name == text || Some(source.number) == number);
    found.ok_or_else(|| LearnError::Usage(format!("no exercise is called '{text}': --list shows them")))
}

/// Returns the lines that the learner types from now on.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    // Without a thread no key is answered, and edits are still noticed.
    let _ = thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Prints `text`. A reader that has closed standard output is no failure.
fn print(text: &str) -> Result<(), LearnError> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
