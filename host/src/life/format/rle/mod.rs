//! Run length encoded patterns (`.rle`), as Golly and LifeWiki write them.
//!
//! ```text
//! #N Glider
//! x = 3, y = 3, rule = B3/S23:T20,10
//! bob$2bo$3o!
//! ```
//!
//! What the format leaves open is settled as follows.
//! - Comment lines start with `#` and may stand before the header and between lines of cells. `#N` names the pattern;
//!   `#r` gives the rule where the header gives none; the others, offsets among them, are passed over.
//! - Dead cells and row ends may lie beyond the header's width and height, where they say nothing; a live cell there is
//!   an error.
//! - Cells are `b` or `.` (dead) and `o` or `A` (alive). White space may stand anywhere but within a number.
//! - What follows `!` is a comment. A text without `!` is truncated, hence an error.
//! - The rule is Conway's: `B3/S23` in either order and case, with or without the slash, `23/3` in the older notation of
//!   survival before birth, or `Life`. A header without a rule means it. After a colon may follow Golly's topology:
//!   `:Tw,h` is a torus. `:T0,0` is the unbounded plane, which a pattern without a topology asks for as well. Other
//!   rules are errors, as are a torus that is shifted or unbounded in one direction, and the other topologies.

use std::io::{self, Write};

use cursor::Cursor;
use gridstride::life::board::{Board, Run};
use gridstride::life::pattern::{ParseError, Pattern};

mod cursor;
mod header;

/// Longest line written.
const LINE: usize = 70;

/// The pattern that `text` gives.
///
/// The time is proportional to the length of the text, and so is the memory.
///
/// # Errors
/// [`ParseError`] with line and column when the header is missing or malformed, for a rule other than B3/S23 or a
/// topology other than a torus, a character that is no cell, a run count that is zero or too large, a live cell outside
/// of the header's width and height, and a text that ends without `!`.
pub fn parse(text: &str) -> Result<Pattern, ParseError> {
    let mut cursor = Cursor::new(text);
    let mut comments = Comments::default();
    while cursor.skip_white_space() == Some(b'#') {
        comments.take(&mut cursor);
    }
    let header = header::parse(&mut cursor)?;
    let mut pattern = Pattern::with_budget(header.width, header.height, text.len().max(4096));
    parse_cells(&mut cursor, &mut pattern, &mut comments)?;
    pattern.rule = header.rule.or(comments.rule);
    pattern.name = comments.name;
    Ok(pattern)
}

/// What comment lines say.
#[derive(Default)]
struct Comments {
    name: Option<String>,
    rule: Option<String>,
}

impl Comments {
    /// Reads the comment line that the cursor stands at.
    fn take(&mut self, cursor: &mut Cursor<'_>) {
        let line = cursor.rest_of_line();
        if let Some(name) = line.strip_prefix("#N") {
            let name: String = name.trim().chars().filter(|character| !character.is_control()).collect();
            self.name = self.name.take().or((!name.is_empty()).then_some(name));
        } else if let Some(rule) = line.strip_prefix("#r") {
            self.rule = self.rule.take().or((!rule.trim().is_empty()).then(|| rule.trim().to_owned()));
        }
    }
}

/// Reads runs up to `!`.
fn parse_cells(cursor: &mut Cursor<'_>, pattern: &mut Pattern, comments: &mut Comments) -> Result<(), ParseError> {
    let (mut x, mut y) = (0usize, 0usize);
    loop {
        let Some(first) = cursor.skip_white_space() else { return Err(truncated(cursor)) };
        if first == b'#' && cursor.at_line_start() {
            comments.take(cursor);
            continue;
        }
        let start = cursor.clone();
        let count = cursor.number()?;
        if count == Some(0) {
            return Err(start.error("a run of 0 cells: a count is at least 1".to_owned()));
        }
        let Some(tag) = cursor.skip_white_space() else { return Err(truncated(cursor)) };
        let length = count.unwrap_or(1);
        match tag {
            b'b' | b'.' => x = x.checked_add(length).ok_or_else(|| start.too_large())?,
            b'$' => {
                y = y.checked_add(length).ok_or_else(|| start.too_large())?;
                x = 0;
            }
            b'o' | b'A' => {
                let end = x.checked_add(length).ok_or_else(|| start.too_large())?;
                if y >= pattern.height {
                    let message = format!("a live cell in row {}, beyond the header's y = {}", y + 1, pattern.height);
                    return Err(start.error(message));
                }
                if end > pattern.width {
                    let message = format!("a live cell in column {end}, beyond the header's x = {}", pattern.width);
                    return Err(start.error(message));
                }
                pattern.push(Run { x, y, length });
                x = end;
            }
            b'!' if count.is_none() => return Ok(()),
            _ => return Err(unexpected(cursor, tag, count.is_some())),
        }
        cursor.advance(1);
    }
}

/// The text ends where more was to come.
fn truncated(cursor: &Cursor<'_>) -> ParseError {
    cursor.end_error("the text ends here without the `!` that ends a pattern: it seems to be truncated".to_owned())
}

/// A character that is no cell, row end or pattern end, with or without a count before it.
fn unexpected(cursor: &Cursor<'_>, tag: u8, counted: bool) -> ParseError {
    let found = cursor.found();
    cursor.error(match tag {
        b'0'..=b'9' => "a number after a number: what is to be repeated is missing between them".to_owned(),
        b'!' if counted => "a count before `!`: what is to be repeated is missing".to_owned(),
        b'B'..=b'X' => format!(
            "{found} is a state of a rule with more than two: this program runs B3/S23, whose cells are \
             `b` (dead) and `o` (alive)"
        ),
        _ => format!("{found} is none of `b` (dead), `o` (alive), `$` (end of a row) and `!` (end of the pattern)"),
    })
}

/// Writes `board` with its torus in the rule, so that reading it back gives the board.
///
/// Lines are at most 70 characters long, and each goes out in one write: give it a buffered writer.
///
/// # Errors
/// Those of `out`.
pub fn write(board: &Board, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_named(board, None, out)
}

/// [`write()`] with a `#N` line.
///
/// # Errors
/// Those of `out`.
pub fn write_named(board: &Board, name: Option<&str>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    if let Some(name) = name {
        let name: String = name.chars().filter(|character| !character.is_control()).collect();
        writeln!(out, "#N {}", name.trim())?;
    }
    let (width, height) = (board.width(), board.height());
    writeln!(out, "x = {width}, y = {height}, rule = B3/S23:T{width},{height}")?;
    let mut lines = Lines { out, line: Vec::with_capacity(LINE + 1) };
    let (mut x, mut y) = (0, 0);
    for run in board.runs() {
        if run.y > y {
            lines.push(run.y - y, b'$')?;
            (x, y) = (0, run.y);
        }
        if run.x > x {
            lines.push(run.x - x, b'b')?;
        }
        lines.push(run.length, b'o')?;
        x = run.x + run.length;
    }
    lines.push(1, b'!')?;
    lines.end()
}

/// Breaks items into lines.
struct Lines<'a, W: ?Sized> {
    out: &'a mut W,
    line: Vec<u8>,
}

impl<W: Write + ?Sized> Lines<'_, W> {
    /// Adds `count` times `tag`.
    fn push(&mut self, count: usize, tag: u8) -> io::Result<()> {
        let digits = if count == 1 { 0 } else { count.ilog10() as usize + 1 };
        if self.line.len() + digits + 1 > LINE {
            self.end()?;
        }
        // Most runs are short, and formatting is slow.
        match (digits, u8::try_from(count)) {
            (0, _) => {}
            (1, Ok(digit)) => self.line.push(b'0' + digit),
            _ => write!(self.line, "{count}")?,
        }
        self.line.push(tag);
        Ok(())
    }

    /// Writes the line.
    fn end(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
