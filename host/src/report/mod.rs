//! What the commands print: results on standard output, remarks and progress on standard error, tables, JSON.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::error::OutputClosed;
use crate::ranks;

pub use gridstride::bytes::Bytes;

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

/// A whole number in groups of three digits: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate of any magnitude in three digits: `0`, `12.3`, `4,560`, `1.65e11`.
pub struct Rate(pub f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if !rate.is_finite() => write!(f, "{rate}"),
            0.0 => write!(f, "0"),
            rate if rate < 0.01 => write!(f, "{rate:.2e}"),
            rate if rate < 9.995 => write!(f, "{rate:.2}"),
            rate if rate < 99.95 => write!(f, "{rate:.1}"),
            rate if rate < 999_999.5 => write!(f, "{}", grouped(rate.round() as u64)),
            rate => write!(f, "{rate:.2e}"),
        }
    }
}

/// A time of any magnitude in three digits or more: `0 s`, `496 ns`, `7.32 µs`, `12.3 ms`, `1,234 s`.
pub struct Seconds(pub f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds <= 0.0 => write!(f, "0 s"),
            seconds if seconds < 0.9995e-6 => write!(f, "{} ns", Rate(seconds * 1e9)),
            seconds if seconds < 1e-3 => write!(f, "{} µs", Rate(seconds * 1e6)),
            seconds if seconds < 1.0 => write!(f, "{} ms", Rate(seconds * 1e3)),
            seconds => write!(f, "{} s", Rate(seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12345, "12,345"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn rates_have_three_digits_or_groups() {
        for (rate, text) in [
            (0.0, "0"),
            (0.001234, "1.23e-3"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (123.4, "123"),
            (123456.0, "123,456"),
            (999_999.9, "1.00e6"),
            (1.65e11, "1.65e11"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(Rate(rate).to_string(), text);
        }
    }

    #[test]
    fn times_have_a_unit_of_their_magnitude() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (496e-9, "496 ns"),
            (0.99999e-6, "1.00 µs"),
            (7.3216e-6, "7.32 µs"),
            (936e-6, "936 µs"),
            (0.1873, "187 ms"),
            (2.5, "2.50 s"),
            (1234.5, "1,235 s"),
        ] {
            assert_eq!(Seconds(seconds).to_string(), text);
        }
    }

    #[test]
    fn a_table_aligns_names_left_and_numbers_right() {
        let text =
            table(["kernel", "GB/s"], &[["long name".into(), "1".into()], ["short".into(), "23".into()]]).to_string();
        assert!(text.contains("long name") && text.contains("    1 ") && text.contains("   23 "), "{text}");
    }
}
