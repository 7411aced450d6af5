//! Prints the output of the commands: results as tables or JSON on standard output, remarks and progress on standard
//! error.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use serde::Serialize;

use crate::error::OutputClosed;
use crate::ranks;

use units::ascii;
pub use units::{Bytes, Rate, Seconds, grouped, table};

pub mod plot;
pub mod progress;

/// The last line of a report of measurements in the simulator.
pub const SIMULATED: &str = "Simulated: the times are those of this machine's CPU and say nothing about a GPU's.\n";

/// Prints `text` on standard output, and adds a line end if the text has none. Only the first rank prints.
///
/// # Errors
/// [`OutputClosed`] if the reader of standard output has closed it; otherwise the error of the system.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_unchanged(&ascii::for_locale(text))
}

fn print_unchanged(text: &str) -> anyhow::Result<()> {
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

/// Prints `value` on standard output as one JSON object.
///
/// # Errors
/// The errors of [`print()`].
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    // JSON is UTF-8 in every locale.
    print_unchanged(&serde_json::to_string_pretty(value).context("cannot express the result as JSON")?)
}

/// Prints `value` as JSON if `json` is true, and `text` otherwise.
///
/// # Errors
/// The errors of [`print()`].
pub fn print_either(json: bool, value: &impl Serialize, text: &str) -> anyhow::Result<()> {
    if json { print_json(value) } else { print(text) }
}

/// Prints a remark on standard error. A closed standard error is not an error. Only the first rank prints.
pub fn note(text: &str) {
    if ranks::is_first() {
        let _ = writeln!(io::stderr().lock(), "{}", ascii::for_locale(text));
    }
}
