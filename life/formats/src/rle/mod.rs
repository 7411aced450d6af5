//! Reads and writes run-length encoded patterns (`.rle`) in the format of Golly and LifeWiki.
//!
//! ```text
//! #N Glider
//! x = 3, y = 3, rule = B3/S23:T20,10
//! bob$2bo$3o!
//! ```
//!
//! Where the format is ambiguous, this module follows Golly.
//! - Comment lines start with `#` and may appear between any lines. `#N` names the pattern. `#r` sets the rule if the
//!   header has none. `#CXRLE Pos=x,y Gen=n` sets the position and the generation; `#P x y` and `#R x y` set the
//!   position. Other comments are ignored.
//! - The size in the header may be too small. The pattern's box then also contains all cells that are not dead. A text
//!   without a header must contain `!`, `$` or a count.
//! - A cell is `b` or `.` (dead), `o` or `A` (alive), or one of `B` to `X` and `pA` to `yX` (further states, up to
//!   255). `p` to `y` without a following capital letter are live cells, as in old files. White space may appear
//!   anywhere except within a number.
//! - The text after `!` is a comment. A text without `!` is an error if it has fewer rows than its header says, or no
//!   cells.
//! - The rule is stored as text, without parsing.

use std::io::{self, Write};

use super::collectors::RowCollector;
use super::cursor::Cursor;
use super::error::FormatError;
use super::metadata::Metadata;
use header::Header;
use life::board::Board;
use life::pattern::{ParseError, Pattern};
use life::plane::{Bounds, Plane};

mod header;

/// The maximum number of characters of a written line.
const LINE: usize = 70;

/// Reads a run-length encoded pattern.
///
/// The function needs time and memory proportional to the length of `text`. The memory is at most 100 times the memory
/// of `text`, and never more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Malformed`] for a malformed header, an invalid character, a run count that is zero or too large, and
/// a truncated text. The error reports line and column. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let mut cursor = Cursor::new(text);
    let mut comments = Comments::default();
    while cursor.skip_white_space() == Some(b'#') {
        comments.take(&mut cursor)?;
    }
    let has_header = header::is_here(&cursor);
    let header = if has_header { header::parse(&mut cursor)? } else { Header::default() };
    let mut cells = RowCollector::new((header.width, header.height), text.len(), limit);
    let states_at = parse_cells(&mut cursor, has_header.then_some(&header), &mut cells, &mut comments)?;
    let mut pattern = cells.finish()?;
    pattern.rule = header.rule.or(comments.rule);
    pattern.name = comments.name;
    pattern.generation = comments.generation;
    pattern.origin = comments.origin;
    pattern.states_at = states_at;
    Ok(pattern)
}

/// The metadata that comment lines contain.
#[derive(Default)]
struct Comments {
    name: Option<String>,
    rule: Option<String>,
    origin: (i64, i64),
    generation: u64,
}

impl Comments {
    /// Reads the comment line at the cursor.
    fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        let start = cursor.clone();
        let line = cursor.rest_of_line();
        if let Some(extended) = line.strip_prefix("#CXRLE") {
            for word in extended.split_whitespace() {
                if let Some(place) = word.strip_prefix("Pos=") {
                    self.origin = pair(place.split(',')).unwrap_or(self.origin);
                } else if let Some(number) = word.strip_prefix("Gen=") {
                    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                    let number = number.parse();
                    self.generation = if digits { number.map_err(|_| start.too_large())? } else { 0 };
                }
            }
        } else if let Some(name) = line.strip_prefix("#N") {
            self.name = self.name.take().or(super::text::printable(name));
        } else if let Some(rule) = line.strip_prefix("#r") {
            self.rule = self.rule.take().or((!rule.trim().is_empty()).then(|| rule.trim().to_owned()));
        } else if let Some(place) = line.strip_prefix("#P").or(line.strip_prefix("#R")) {
            self.origin = pair(place.split_whitespace()).unwrap_or(self.origin);
        }
        Ok(())
    }
}

/// Returns the first two of `words` as numbers, or `None` if they are not two numbers.
fn pair<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<(i64, i64)> {
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Reads the runs of cells up to `!`. Returns the line and column of the first cell in a state above 1.
///
/// A text without a header must contain `!`, `$` or a count, because the letters of any word could otherwise be read as
/// cells.
fn parse_cells(
    cursor: &mut Cursor<'_>,
    header: Option<&Header>,
    cells: &mut RowCollector,
    comments: &mut Comments,
) -> Result<Option<(usize, usize)>, ParseError> {
    let (mut is_begun, mut is_rle) = (false, false);
    let mut states_at = None;
    loop {
        match cursor.skip_white_space() {
            Some(b'#') if cursor.at_line_start() => {
                comments.take(cursor)?;
                continue;
            }
            None => {
                return match header {
                    None if is_rle => Ok(states_at),
                    None => Err(cursor.end_error(NOT_RLE.to_owned())),
                    Some(Header { width: 0, height: 0, .. }) => Ok(states_at),
                    Some(header) if is_begun && cells.rows().saturating_add(1) >= header.height => Ok(states_at),
                    Some(_) => Err(truncated(cursor)),
                };
            }
            Some(_) => is_begun = true,
        }
        let start = cursor.clone();
        let count = cursor.number()?;
        is_rle |= count.is_some();
        if count == Some(0) {
            return Err(start.error("a count must be at least 1, but 0 was given".to_owned()));
        }
        let Some(tag) = cursor.skip_white_space() else { return Err(truncated(cursor)) };
        let length = count.unwrap_or(1);
        let added = if let Some(state) = cursor.state(b'p')? {
            if state > 1 && states_at.is_none() {
                let (line, next) = cursor.position();
                states_at = Some((line, next - 1 - usize::from(state > 24)));
            }
            cells.extend(length, state)
        } else {
            let added = match tag {
                b'!' => return Ok(states_at),
                b'$' => {
                    is_rle = true;
                    cells.end_rows(length)
                }
                b'b' | b'.' => cells.extend(length, 0),
                b'o'..=b'y' => cells.extend(length, 1),
                _ => return Err(unexpected(cursor, tag)),
            };
            cursor.advance(1);
            added
        };
        added.ok_or_else(|| start.too_large())?;
    }
}

/// The error message for a text that contains only comments, or only letters that could be cells.
const NOT_RLE: &str =
    "this is not RLE: add a header such as `x = 3, y = 3`, or end each row with `$` and the pattern with `!`";

/// Returns the error for a text that ends too early.
fn truncated(cursor: &Cursor<'_>) -> ParseError {
    cursor
        .end_error("the text ends without `!`, so it seems to be truncated: add the missing rows and a `!`".to_owned())
}

/// Returns the error for a character that has no meaning in the cells of a pattern.
fn unexpected(cursor: &Cursor<'_>, tag: u8) -> ParseError {
    let found = cursor.found();
    cursor.error(match tag {
        b'0'..=b'9' => "a cell or `$` must follow a count, but another number does".to_owned(),
        _ => format!(
            "{found} is not allowed here: use `b` (dead), `o` (alive), `A` to `yO` (states), `$` (end of a row) or \
             `!` (end of the pattern)"
        ),
    })
}

/// A writer of run-length encoded text for a board and its metadata. The writer receives the rows of the board in
/// parts.
///
/// Lines of cells have at most 70 characters. Each line is a separate write to the output, so the caller should pass a
/// buffered writer.
pub struct Writer<'a, W: Write + ?Sized> {
    out: &'a mut W,
    /// The current line, which has not been written yet.
    line: Vec<u8>,
    has_states: bool,
    /// The number of rows received so far.
    rows: usize,
    /// The row of the last run that was written.
    y: usize,
    /// The column after the end of the last run that was written.
    x: usize,
}

impl<'a, W: Write + ?Sized> Writer<'a, W> {
    /// Starts the text of a board of `size` (columns, rows) cells. `has_states` is true if the cells have more than two
    /// states.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn new(size: (usize, usize), has_states: bool, metadata: &Metadata, out: &'a mut W) -> io::Result<Self> {
        if let Some(name) = &metadata.name {
            writeln!(out, "#N {}", super::text::printable(name).unwrap_or_default())?;
        }
        writeln!(out, "#CXRLE Pos={},{} Gen={}", metadata.origin.0, metadata.origin.1, metadata.generation)?;
        writeln!(out, "x = {}, y = {}, rule = {}", size.0, size.1, metadata.rule)?;
        Ok(Self { out, line: Vec::with_capacity(LINE + 1), has_states, rows: 0, y: 0, x: 0 })
    }

    /// Writes the rows of `board`, which come after the rows that were written before.
    ///
    /// # Errors
    /// If writing to the output fails.
    pub fn rows(&mut self, board: &Board) -> io::Result<()> {
        for run in board.runs() {
            self.run((run.x, self.rows + run.y), run.length, |x| board.state(x, run.y))?;
        }
        self.rows += board.height();
        Ok(())
    }

    /// Writes a run of `length` cells that are not dead. It begins at column `x` of row `y` of the whole board, and
    /// comes after the runs that were written before. `state` returns the state of a column's cell.
    fn run(&mut self, (x, y): (usize, usize), length: usize, state: impl Fn(usize) -> u8) -> io::Result<()> {
        if y > self.y {
            self.push(y - self.y, b"$")?;
            (self.x, self.y) = (0, y);
        }
        if x > self.x {
            self.push(x - self.x, if self.has_states { b"." } else { b"b" })?;
        }
        self.x = x + length;
        if !self.has_states {
            return self.push(length, b"o");
        }
        let mut from = x;
        while from < self.x {
            let first = state(from);
            let length = (from..self.x).take_while(|&x| state(x) == first).count();
            self.push(length, &letters(first)[usize::from(first <= 24)..])?;
            from += length;
        }
        Ok(())
    }

    /// Completes the text by writing the last line.
    ///
    /// # Errors
    /// If writing to the output fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.push(1, b"!")?;
        self.end_line()
    }

    /// Adds a run to the current line: the number `count` followed by `tag`. If `count` is 1, it is omitted.
    fn push(&mut self, count: usize, tag: &[u8]) -> io::Result<()> {
        let digits = if count == 1 { 0 } else { count.ilog10() as usize + 1 };
        if self.line.len() + digits + tag.len() > LINE {
            self.end_line()?;
        }
        // Short counts are handled separately, because most runs are short and formatting is slow.
        match (digits, u8::try_from(count)) {
            (0, _) => {}
            (1, Ok(digit)) => self.line.push(b'0' + digit),
            _ => write!(self.line, "{count}")?,
        }
        self.line.extend_from_slice(tag);
        Ok(())
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// Writes the cells of `plane` in the rectangle `area`, which contains all of them, with their rule, generation and
/// position. The position of `metadata` is the position of (0, 0). The time follows the cells, and not the rectangle.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_plane(
    plane: &Plane,
    area: Bounds,
    metadata: &Metadata,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let (left, top) = metadata.origin;
    let metadata = Metadata { origin: (left.saturating_add(area.x), top.saturating_add(area.y)), ..metadata.clone() };
    let size = (area.width as usize, area.height as usize);
    let mut writer = Writer::new(size, plane.rule().states > 2, &metadata, out)?;
    for run in plane.runs() {
        let at = ((run.x - area.x) as usize, (run.y - area.y) as usize);
        writer.run(at, run.length as usize, |x| plane.state(area.x + x as i64, run.y))?;
    }
    writer.finish()
}

/// Returns the two letters of a state above 0. The text of states up to 24 contains only the second letter.
fn letters(state: u8) -> [u8; 2] {
    let (before, last) = ((state - 1) / 24, (state - 1) % 24);
    [b'o' + before, b'A' + last]
}

#[cfg(test)]
mod tests;
