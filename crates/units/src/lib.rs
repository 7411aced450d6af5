//! Formats numbers, shares, times, sizes and lists of names for messages, tables and reports.
//!
//! The feature `table` adds tables for a terminal.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::fmt;

pub mod ascii;
mod count;
#[cfg(feature = "table")]
mod table;

pub use count::{number_in, parse_count, parse_number};
#[cfg(feature = "table")]
pub use table::table;

/// Returns the name of the program for messages that show a command: `gridstride` if it was started by this name, and
/// otherwise `host`.
pub fn program() -> &'static str {
    let name = std::env::args_os().next().map(std::path::PathBuf::from);
    let is_installed = name.is_some_and(|name| name.file_stem().is_some_and(|stem| stem == "gridstride"));
    if is_installed { "gridstride" } else { "host" }
}

/// Returns a number with commas between groups of three digits: `1,234,567`.
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

/// Displays a rate of any magnitude with three digits: `0`, `12.3`, `4,560`, `1.65e11`.
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

/// Displays a time of any magnitude with at least three digits: `0 s`, `496 ns`, `7.32 µs`, `12.3 ms`, `1,234 s`.
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

/// Displays a number of bytes in binary units: `512 B`, `227 KiB`, `139.8 GiB`.
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let Some(power) = self.0.checked_ilog2().map(|bits| bits / 10).filter(|&power| power > 0) else {
            return write!(f, "{} B", self.0);
        };
        let unit = units[power as usize - 1];
        if self.0.is_multiple_of(1 << (10 * power)) {
            write!(f, "{} {unit}", self.0 >> (10 * power))
        } else {
            write!(f, "{:.1} {unit}", self.0 as f64 / 1024f64.powi(power as i32))
        }
    }
}

/// Formats a share in percent with three digits: `97.3 %`, `0.12 %`, `212 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", Rate(100.0 * share))
}

/// Formats a share in percent with at most one decimal, which is left out if it is 0: `100 %`, `12.5 %`, `0.4 %`.
pub fn short_percent(share: f64) -> String {
    let value = 100.0 * share;
    match value {
        value if value > 0.0 && value < 0.05 => "< 0.1 %".into(),
        value if (value - value.round()).abs() < 0.05 => format!("{} %", value.round()),
        value if value > 99.95 => "100 %".into(),
        value => format!("{value:.1} %"),
    }
}

/// Formats a number with one or two decimals, or with none if they are 0: `4`, `4.5`, `0.03`.
pub fn number(value: f64) -> String {
    if (value - value.round()).abs() < 0.005 || value >= 99.95 {
        grouped(value.round() as u64)
    } else if value < 0.095 {
        format!("{value:.2}")
    } else {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }
}

/// Joins the names to a text such as `a, b or c`.
pub fn alternatives(names: &[&str]) -> String {
    listed(names, "or")
}

/// Joins the names to a text such as `a, b and c`.
pub fn conjunction(names: &[&str]) -> String {
    listed(names, "and")
}

fn listed(names: &[&str], word: &str) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// Breaks `line` between words into lines of at most `most` columns, and indents all lines except the first by `indent`
/// columns.
pub fn wrapped(line: &str, indent: usize, most: usize) -> String {
    let mut text = String::with_capacity(line.len());
    let mut columns = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if columns + length > most && columns > indent {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            columns = indent;
        }
        text.push_str(word);
        columns += word.chars().count();
    }
    text.truncate(text.trim_end().len());
    text
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
    fn shares_and_numbers_have_no_decimals_that_are_0() {
        let numbers = [
            (0.0, "0"),
            (1.0, "1"),
            (4.0001, "4"),
            (4.5, "4.5"),
            (0.03, "0.03"),
            (0.5, "0.5"),
            (4.016, "4"),
            (123.4, "123"),
        ];
        for (value, text) in numbers {
            assert_eq!(number(value), text);
        }
        for (share, text) in [
            (1.0, "100 %"),
            (0.125, "12.5 %"),
            (0.1206, "12.1 %"),
            (0.9999, "100 %"),
            (0.004, "0.4 %"),
            (0.0001, "< 0.1 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(short_percent(share), text);
        }
        assert_eq!(
            (percent(0.97312), percent(0.00123), percent(2.12)),
            ("97.3 %".into(), "0.12 %".into(), "212 %".into())
        );
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
    fn bytes_have_binary_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (227 << 10, "227 KiB"),
            (1536, "1.5 KiB"),
            (139 << 30 | 3 << 28, "139.8 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
