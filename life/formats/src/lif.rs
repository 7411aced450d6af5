//! Reads Life 1.05 (blocks of rows, each with a position), and reads and writes Life 1.06 (lists of live cells). The
//! extensions are `.lif` and `.life`.
//!
//! ```text
//! #Life 1.05            #Life 1.06
//! #P -1 -1              0 -1
//! .*.                   1 0
//! ..*                   -1 1
//! ***                   0 1
//!                       1 1
//! ```
//!
//! `#R` sets the rule (`23/3`), `#N` sets Conway's rule, and `#P` sets the position of the following rows. Other lines
//! that begin with `#` are comments. Empty lines are ignored. Blocks may overlap.

use std::io::{self, Write};

use super::collectors::PlaneCollector;
use super::error::FormatError;
use super::metadata::Metadata;
use life::board::Board;
use life::pattern::{ParseError, Pattern};

/// Reads a pattern in the format Life 1.05 or 1.06.
///
/// This function needs at most 40 times the memory of `text`, and never more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Malformed`] for a line that is not a row, a cell or a comment, and for a coordinate beyond 2⁶².
/// [`FormatError::Refused`] for a text without rows and cells that is not Life 1.06. [`FormatError::TooLarge`] if
/// `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut plane = PlaneCollector::new(limit);
    let mut rule = None;
    let (mut left, mut y) = (0, 0);
    // A Life 1.06 text without cells is an empty board. A Life 1.05 text is a pattern if it has a row, even if all
    // cells of the row are dead.
    let mut is_pattern = false;
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        let error = |column: usize, message: String| ParseError { line: number, column, message };
        let no_place = |words: &str| {
            format!(
                "`{}` is not a position: write a column and a row, such as `-1 2`, both within 2⁶²",
                super::text::shorten(words)
            )
        };
        let place = |words: &str| pair(words).ok_or_else(|| error(1, no_place(words)));
        match line.as_bytes() {
            [] => {}
            [b'#', b'L', b'i', b'f', b'e', version @ ..] => is_pattern |= version.trim_ascii() == b"1.06",
            [b'#', b'P', b' ' | b'\t', ..] => (left, y) = place(&line[2..])?,
            [b'#', b'R', ..] => rule = Some(line[2..].trim().to_owned()).filter(|rule| !rule.is_empty()),
            [b'#', b'N'] => rule = Some("B3/S23".to_owned()),
            [b'#', ..] => {}
            [b'-' | b'0'..=b'9', ..] if line.split_whitespace().count() > 2 => {
                return Err(error(1, no_place(line)).into());
            }
            [b'-' | b'0'..=b'9', ..] => {
                plane.push(place(line)?, 1);
                is_pattern = true;
            }
            row => {
                is_pattern = true;
                let mut column = 0;
                while let Some(&cell) = row.get(column) {
                    let alive = |cell: &u8| matches!(cell, b'*' | b'O');
                    let length = row[column..].iter().take_while(|cell| alive(cell)).count();
                    match cell {
                        b'.' => column += 1,
                        _ if length > 0 => {
                            // This sum cannot overflow, because a row is at most as long as its text, and `left` is at
                            // most 2⁶².
                            plane.push((left + column as i64, y), length);
                            column += length;
                        }
                        _ => {
                            let found = super::text::shorten(line.get(column..).unwrap_or_default());
                            let message =
                                format!("`{found}` is neither `.` (dead) nor `*` (alive) nor a column and a row");
                            return Err(error(line[..column].chars().count() + 1, message).into());
                        }
                    }
                }
                y += 1;
            }
        }
    }
    if !is_pattern {
        let needed = "it needs rows of `.` and `*`, or the line `#Life 1.06` and the column and row of each live cell";
        refuse!("it has no cells of Life 1.05 or 1.06: {needed}");
    }
    let mut pattern = plane.finish()?;
    pattern.rule = rule;
    Ok(pattern)
}

/// Reads two numbers from `words`. Returns `None` if a number is missing or is not from -2⁶² to 2⁶².
fn pair(words: &str) -> Option<(i64, i64)> {
    let mut numbers = words.split_whitespace().map(|word| word.parse().ok());
    let (x, y): (i64, i64) = (numbers.next()??, numbers.next()??);
    let near = |number: i64| number.unsigned_abs() <= 1 << 62;
    (near(x) && near(y)).then_some((x, y))
}

/// Writes the line with which a Life 1.06 file begins.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_heading(out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "#Life 1.06")
}

/// Writes the live cells of `board`. The first row of `board` is row `first` of the whole board.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_rows(board: &Board, first: usize, metadata: &Metadata, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_cells(board.cells().map(|(x, y)| (x as i64, (first + y) as i64)), metadata, out)
}

/// Writes `cells`, the columns and rows of live cells. The position of `metadata` is the position of (0, 0).
///
/// # Errors
/// If writing to `out` fails.
pub fn write_cells(
    mut cells: impl Iterator<Item = (i64, i64)>,
    metadata: &Metadata,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let (left, top) = metadata.origin;
    cells.try_for_each(|(x, y)| writeln!(out, "{} {}", left.saturating_add(x), top.saturating_add(y)))
}
