//! Builds an exercise with `cargo`, and runs the program that checks it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::gpu;
use crate::outcome::Outcome;
use crate::source::Source;

/// The time in seconds after which a loop of a kernel counts as endless, unless the environment has another.
const LOOP_SECONDS: (&str, &str) = ("GRIDSTRIDE_LOOP_SECONDS", "2");

/// The result of a check.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Checked {
    /// The file does not compile. The text is the compiler's.
    NotCompiled(String),
    /// The program ran.
    Outcome(Box<Outcome>),
}

/// Checks exercises. A test puts another in its place.
pub(crate) trait Check {
    /// Checks `source` in the project `folder`.
    ///
    /// # Errors
    /// If `cargo` or the program cannot be started.
    fn check(&self, folder: &Path, source: &Source) -> io::Result<Checked>;

    /// Returns a text with the times of a passed exercise on a GPU, or `None` if there is no GPU.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    fn times(&self, _folder: &Path, _source: &Source) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// Checks by `cargo build` and the built program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cargo {
    /// True if messages may have ANSI colours.
    pub(crate) is_coloured: bool,
    /// True if `cargo` may show its progress on standard error.
    pub(crate) is_shown: bool,
}

impl Check for Cargo {
    fn check(&self, folder: &Path, source: &Source) -> io::Result<Checked> {
        match self.build(folder, source)? {
            Ok(program) => {
                let mut command = Command::new(program);
                command.arg("--json").current_dir(folder);
                if env::var_os(LOOP_SECONDS.0).is_none() {
                    command.env(LOOP_SECONDS.0, LOOP_SECONDS.1);
                }
                Ok(Checked::Outcome(Box::new(outcome(&command.output()?))))
            }
            Err(text) => Ok(Checked::NotCompiled(text)),
        }
    }

    fn times(&self, folder: &Path, source: &Source) -> io::Result<Option<String>> {
        let Ok(program) = self.build(folder, source)? else { return Ok(None) };
        Ok(gpu::compared(folder, source, &program).unwrap_or_else(|why| Some(format!("not timed on the GPU: {why}"))))
    }
}

impl Cargo {
    /// Builds the exercise, and returns the path of its program or the compiler's errors.
    pub(crate) fn build(&self, folder: &Path, source: &Source) -> io::Result<Result<PathBuf, String>> {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.args(["build", "--message-format=json-render-diagnostics", "--example", source.name]);
        command.current_dir(folder).stdin(Stdio::null());
        if self.is_coloured {
            command.args(["--color", "always"]);
        }
        if self.is_shown {
            command.stderr(Stdio::inherit());
        }
        let output = command.output().map_err(|error| io::Error::new(error.kind(), format!("cargo: {error}")))?;
        let program = String::from_utf8_lossy(&output.stdout).lines().find_map(|line| executable(line, source.name));
        Ok(program.filter(|_| output.status.success()).ok_or_else(|| errors_of(&output)))
    }
}

/// Returns the path of the program `name` in a message of `cargo`.
fn executable(line: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    (message["target"]["name"] == name).then(|| message["executable"].as_str().map(PathBuf::from))?
}

/// Returns the errors of a build, without its warnings.
fn errors_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let parts = text.split("\n\n").filter(|part| !plain(part).trim_start().starts_with("warning"));
    parts.collect::<Vec<_>>().join("\n\n").trim_end().to_owned()
}

/// Returns `text` without ANSI colours.
pub(crate) fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// Returns the outcome that the program printed. A program that printed none has crashed.
fn outcome(output: &Output) -> Outcome {
    let text = String::from_utf8_lossy(&output.stdout);
    let printed = text.lines().last().and_then(|line| serde_json::from_str(line).ok());
    printed.unwrap_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        Outcome::error(format!("the check ended early ({}):\n{}", output.status, errors.trim_end()))
    })
}

/// Writes the picture of an outcome to the folder `pictures` of the project, and returns its path there. A picture of
/// an earlier check is removed if there is none.
pub(crate) fn write_picture(folder: &Path, source: &Source, outcome: &Outcome) -> io::Result<Option<String>> {
    let path = format!("pictures/{}.svg", source.name);
    match &outcome.pictures {
        Some(pictures) if !outcome.is_passed => {
            fs::create_dir_all(folder.join("pictures"))?;
            fs::write(folder.join(&path), &pictures.svg)?;
            Ok(Some(path))
        }
        _ => match fs::remove_file(folder.join(&path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_program() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"index"},"executable":"/t/examples/index"}"#;
        assert_eq!(executable(line, "index"), Some(PathBuf::from("/t/examples/index")));
        assert_eq!(executable(line, "race"), None);
        assert_eq!(executable(r#"{"target":{"name":"index"},"executable":null}"#, "index"), None);
        assert_eq!(executable("   Compiling", "index"), None);
    }

    #[test]
    fn colours_are_removed() {
        assert_eq!(plain("\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: unused"), "warning: unused");
        assert_eq!(plain("text"), "text");
    }
}
