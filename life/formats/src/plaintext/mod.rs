//! Reads and writes plaintext patterns (`.cells`). Each line is a row, with `.` for a dead cell and `O` for a live
//! cell.
//!
//! ```text
//! !Name: Glider
//! .O.
//! ..O
//! OOO
//! ```
//!
//! Lines that start with `!` are comments. `!Name:` sets the name of the pattern. `*`, `o`, `x`, `X` and `@` also stand
//! for live cells, and a blank for a dead cell. Rows may omit dead cells at their ends. An empty line is a row of dead
//! cells. White space at the end of a line is ignored.

use std::io::{self, Write};

use super::collectors::RowCollector;
use super::error::FormatError;
use super::metadata::Metadata;
use life::board::{Board, Run, WORD_BITS};
use life::pattern::{ParseError, Pattern};

/// Reads a plaintext pattern. The pattern is as wide as the longest row.
///
/// This function needs at most 50 times the memory of `text`, and never more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Malformed`] for a character that is not a cell, with its line and column. [`FormatError::Refused`]
/// for a text without rows. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = || text.lines().map(str::trim_end).zip(1..).filter(|(line, _)| !line.starts_with('!'));
    if rows().next().is_none() {
        refuse!("it has no rows of cells: write each row as a line of `.` (dead) and `O` (alive)");
    }
    let width = rows().map(|(row, _)| row.len()).max().unwrap_or(0);
    let mut cells = RowCollector::new((width, rows().count()), text.len(), limit);
    for (y, (row, line)) in rows().enumerate() {
        let mut x = 0;
        while let Some(&cell) = row.as_bytes().get(x) {
            match cell {
                b'.' | b' ' => x += 1,
                _ if is_alive(cell) => {
                    let length = row[x..].bytes().take_while(|&cell| is_alive(cell)).count();
                    cells.push(Run { x, y, length }, 1);
                    x += length;
                }
                // All characters before this one have one byte, so `x` is also the number of characters.
                _ => return Err(ParseError { line, column: x + 1, message: unexpected(&row[x..]) }.into()),
            }
        }
    }
    let mut pattern = cells.finish()?;
    pattern.name = text.lines().find_map(|line| line.strip_prefix("!Name:")).and_then(super::text::printable);
    Ok(pattern)
}

fn is_alive(cell: u8) -> bool {
    matches!(cell, b'O' | b'*' | b'o' | b'x' | b'X' | b'@')
}

/// Returns the error message for the first character of `rest`. This character is not a cell.
fn unexpected(rest: &str) -> String {
    let found: String = rest.chars().take(1).flat_map(char::escape_debug).collect();
    format!(
        "`{found}` is neither `.` or a blank (dead) nor `O` (alive); a comment must have `!` at the start of a line"
    )
}

/// Writes a line with the pattern's name if `metadata` contains a name.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_name(metadata: &Metadata, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    match &metadata.name {
        Some(name) => writeln!(out, "!Name: {}", super::text::printable(name).unwrap_or_default()),
        None => Ok(()),
    }
}

/// Writes the rows of `board`, including all dead cells, so that a reader can find out the board's size.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_rows(board: &Board, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut line = Vec::new();
    for y in 0..board.height() {
        line.clear();
        for word in board.row(y) {
            line.extend((0..WORD_BITS).map(|bit| if word >> bit & 1 == 1 { b'O' } else { b'.' }));
        }
        line.truncate(board.width());
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
