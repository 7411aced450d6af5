//! What the commands print: results on standard output, remarks and progress on standard error, tables, JSON.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::error::OutputClosed;
use crate::ranks;

pub use units::{Bytes, Rate, Seconds, grouped};

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

/// Writes a remark to standard error: something to know that is not the result. A closed standard error is no failure. Of
/// several ranks the first alone does.
pub fn note(text: &str) {
    if ranks::is_first() {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// A table with a heading. The first column is aligned to the left, the others to the right.
pub fn table<const COLUMNS: usize>(heading: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> Table {
    table_of(&heading, rows.iter().map(<[String; COLUMNS]>::as_slice))
}

/// The same with as many columns as the heading has.
pub fn table_of<'a>(heading: &[&str], rows: impl Iterator<Item = &'a [String]>) -> Table {
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_aligns_names_left_and_numbers_right() {
        let text =
            table(["kernel", "GB/s"], &[["long name".into(), "1".into()], ["short".into(), "23".into()]]).to_string();
        assert!(text.contains("long name") && text.contains("    1 ") && text.contains("   23 "), "{text}");
    }
}
