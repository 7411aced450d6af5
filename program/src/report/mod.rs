//! What the commands print: results on standard output, remarks and progress on standard error, tables, JSON.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use serde::Serialize;

use crate::error::OutputClosed;
use crate::ranks;

pub use units::{Bytes, Rate, Seconds, grouped, table, table_of};

pub mod plot;
pub mod progress;

/// Writes `text` to standard output, with a line end after it where it has none. Of several ranks the first alone does.
///
/// # Errors
/// [`OutputClosed`] when its reader has gone, otherwise what prevents the writing.
pub fn print(text: &str) -> anyhow::Result<()> {
    if !ranks::is_first() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(OutputClosed.into()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes `value` to standard output as one JSON object.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(value).context("cannot express the result as JSON")?)
}

/// Writes a remark to standard error: something to know that is not the result. A closed standard error is no failure.
/// Of several ranks the first alone does.
pub fn note(text: &str) {
    if ranks::is_first() {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
