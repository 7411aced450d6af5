//! Plaintext patterns (`.cells`): one line per row, `.` for a dead cell and `O` for a live one.
//!
//! ```text
//! !Name: Glider
//! .O.
//! ..O
//! OOO
//! ```
//!
//! Lines that start with `!` are comments; `!Name:` names the pattern. `*` is a live cell too. Rows may be of different
//! lengths, where dead cells at their ends are left out, and an empty line is a row of dead cells. White space at a
//! line's end is passed over.

use std::io::{self, Write};

use gridstride::life::board::{Board, Run, WORD_BITS};
use gridstride::life::pattern::{ParseError, Pattern};

/// The pattern that `text` gives: as wide as its longest row, as high as it has rows.
///
/// # Errors
/// [`ParseError`] with line and column for a character that is no cell.
pub fn parse(text: &str) -> Result<Pattern, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = || text.lines().map(str::trim_end).zip(1..).filter(|(line, _)| !line.starts_with('!'));
    let width = rows().map(|(row, _)| row.len()).max().unwrap_or(0);
    let mut pattern = Pattern::with_budget(width, rows().count(), text.len().max(4096));
    pattern.name = text.lines().find_map(|line| line.strip_prefix("!Name:")).and_then(|name| {
        let name: String = name.trim().chars().filter(|character| !character.is_control()).collect();
        (!name.is_empty()).then_some(name)
    });
    for (y, (row, line)) in rows().enumerate() {
        let mut x = 0;
        while let Some(&cell) = row.as_bytes().get(x) {
            match cell {
                b'.' => x += 1,
                b'O' | b'*' => {
                    let length = row[x..].bytes().take_while(|cell| matches!(cell, b'O' | b'*')).count();
                    pattern.push(Run { x, y, length });
                    x += length;
                }
                // All before it are of one byte each.
                _ => return Err(ParseError { line, column: x + 1, message: unexpected(&row[x..]) }),
            }
        }
    }
    Ok(pattern)
}

/// What to say of the first character of `rest`, which is no cell.
fn unexpected(rest: &str) -> String {
    let found: String = rest.chars().take(1).flat_map(char::escape_debug).collect();
    format!("`{found}` is neither `.` (dead) nor `O` (alive), and a comment starts with `!` at the line's start")
}

/// Writes `board`, every row in full, so that reading it back gives a pattern of the board's size.
///
/// # Errors
/// Those of `out`.
pub fn write(board: &Board, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_named(board, None, out)
}

/// [`write()`] with a `!Name:` line.
///
/// # Errors
/// Those of `out`.
pub fn write_named(board: &Board, name: Option<&str>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    if let Some(name) = name {
        let name: String = name.chars().filter(|character| !character.is_control()).collect();
        writeln!(out, "!Name: {}", name.trim())?;
    }
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
