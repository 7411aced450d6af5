//! Defines the errors of commands and their exit codes, and prints errors.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failure: a file, a device, a wrong result |
//! | 2 | usage: the command line is wrong |
//! | 128 + n | stopped by signal n; Ctrl-C gives 130 |

use std::io::Write;
use std::process::ExitCode;

use gridstride::error::AlgorithmError;
use life::LifeError;
use thiserror::Error;
use workbench::WorkbenchError;

use crate::signals;

/// An error of the command line: exit code 2. Its text says what to type instead.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    /// Wraps an error that is caused by the command line, for `map_err`.
    pub fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Returns a [`UsageError`] with the text of `error` if the options of the command caused it, and `error` itself
/// otherwise.
pub fn usage_or_failure(error: impl Into<WorkbenchError>) -> anyhow::Error {
    use AlgorithmError::{Bins, NotBuilt, UnknownRung};

    match error.into() {
        error @ (WorkbenchError::Options(_)
        | WorkbenchError::Life(LifeError::MixedRanks)
        | WorkbenchError::Algorithm(Bins(_) | NotBuilt { .. } | UnknownRung(_))) => UsageError::of(error).into(),
        error => error.into(),
    }
}

/// The error of a command that a signal stopped: exit code 128 + `signal`.
#[derive(Debug, Error)]
#[error("stopped by {}: {done}", signals::name(*.signal))]
pub struct Stopped {
    /// The signal's number.
    pub signal: i32,
    /// The work that was done before the signal, and the work that was left out.
    pub done: String,
}

/// The error of a command whose standard output was closed by its reader (`host … | head`): exit code 0.
#[derive(Debug, Error)]
#[error("standard output was closed")]
pub struct OutputClosed;

/// Prints an error as one line on standard error, and returns the exit code.
pub fn finish(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Err(error) if !error.is::<OutputClosed>() => {
            print_line(&error, "");
            ExitCode::from(code(&error))
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints `error` as one line on standard error, with `prefix` before it.
pub fn print_line(error: &anyhow::Error, prefix: &str) {
    // The line is written with one call, because other processes also write to standard error. If standard error is
    // closed, only the exit code reports the error.
    let line = format!("error: {prefix}{}\n", one_line(error));
    let _ = std::io::stderr().write_all(units::ascii::for_locale(&line).as_bytes());
}

/// Returns the exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        u8::try_from(128 + stopped.signal).unwrap_or(1)
    } else if error.is::<UsageError>() {
        2
    } else {
        1
    }
}

/// Returns an error and its causes, the outermost first, as one line. A cause is left out if its text already occurs in
/// the line.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text =
            cause.to_string().lines().map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            line = text;
        } else if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn an_error_is_one_line_without_repetition() {
        let error = anyhow!("line 3, column 7:\n  what is 'x'?\n").context("cannot read 'a.rle'");
        assert_eq!(one_line(&error), "cannot read 'a.rle': line 3, column 7: what is 'x'?");
        let error = anyhow!("no such file").context("cannot open it: no such file");
        assert_eq!(one_line(&error), "cannot open it: no such file");
    }

    #[test]
    fn what_was_typed_fails_with_2_and_all_else_with_1() {
        let usage: anyhow::Result<()> = Err(UsageError("no".into()).into());
        assert_eq!(code(&usage.context("while trying").unwrap_err()), 2);
        assert_eq!(code(&anyhow!("broken")), 1);
    }

    #[test]
    fn a_signal_gives_128_and_its_number() {
        let error = anyhow::Error::from(Stopped { signal: 2, done: "generation 4 of 9".into() });
        assert_eq!(code(&error), 130);
        assert_eq!(one_line(&error), "stopped by Ctrl-C: generation 4 of 9");
    }
}
