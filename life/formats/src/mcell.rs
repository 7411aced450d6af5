//! Reads MCell files (`.mcl`). Each line begins with a keyword. Lines with the keyword `#L` contain the run-length
//! encoded cells.
//!
//! ```text
//! #MCell 4.00
//! #GAME Life
//! #RULE 23/3
//! #BOARD 40x30
//! #WRAP 1
//! #L .A$..A$3A
//! ```
//!
//! Dead cells are `.`, states 1 to 24 are `A` to `X`, and states 25 to 255 are `aA` to `jO`. The size of the board
//! becomes the topology of the rule, as in Golly: a torus if the board wraps, and a bounded plane otherwise. The games
//! Life and Generations are supported. Any other game is supported if the file names a rule for Golly (`#GOLLY`).

use super::collectors::RowCollector;
use super::cursor::Cursor;
use super::error::FormatError;
use life::pattern::{ParseError, Pattern};

/// Reads a pattern from an MCell file.
///
/// This function needs at most 100 times the memory of `text`, and never more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Refused`] for an unsupported game, and for a text without `#MCell` or `#L`.
/// [`FormatError::Malformed`] for an invalid cell. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let mut cells = RowCollector::new((0, 0), text.len(), limit);
    let (mut rule, mut golly, mut board, mut wraps) = (String::new(), None, None, false);
    let mut game = "Life";
    let is_cells = |line: &str| line.strip_prefix("#L ").is_some_and(|rest| !rest.trim().is_empty());
    if !text.lines().any(|line| line.trim_start_matches('\u{feff}').trim_start().starts_with("#MCell")) {
        refuse!("it is not an MCell file: the first line must look like `#MCell 4.20`");
    }
    if !text.lines().any(is_cells) {
        let needed = "add lines such as `#L .A$..A$3A`, or check whether the file was cut off";
        refuse!("it is an MCell file without cells: {needed}");
    }
    for (line, number) in text.lines().zip(1..) {
        let Some((keyword, rest)) = line.trim_end().split_once(' ') else { continue };
        match keyword {
            "#GAME" => game = rest.trim(),
            // A long rule is divided into several lines.
            "#RULE" => rule.push_str(rest.trim()),
            "#GOLLY" => golly = Some(rest.trim().to_owned()),
            "#BOARD" => board = rest.split_once('x').map(|(width, height)| (width.trim(), height.trim())),
            "#WRAP" => wraps = rest.trim() == "1",
            "#L" => row(Cursor::in_line(line, number, keyword.len() + 1), &mut cells)?,
            _ => {}
        }
    }
    if golly.is_none() && !matches!(game, "Life" | "Generations") {
        let game = super::text::shorten(game);
        refuse!("MCell's game {game} is not supported: use Life or Generations, or name a rule in a `#GOLLY` line");
    }
    let mut pattern = cells.finish()?;
    let rule = golly.filter(|rule| !rule.is_empty()).or((!rule.is_empty()).then_some(rule));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    pattern.rule = match board.filter(|(width, height)| is_number(width) && is_number(height)) {
        Some((width, height)) => {
            let topology = if wraps { 'T' } else { 'P' };
            Some(format!("{}:{topology}{width},{height}", rule.as_deref().unwrap_or("B3/S23")))
        }
        None => rule,
    };
    Ok(pattern)
}

/// Reads the cells of one `#L` line.
fn row(mut cursor: Cursor<'_>, cells: &mut RowCollector) -> Result<(), ParseError> {
    loop {
        cursor.skip_blanks();
        let start = cursor.clone();
        let count = cursor.number()?;
        let length = count.unwrap_or(1);
        let added = match (cursor.skip_blanks(), count) {
            (None, None) => return Ok(()),
            (None, Some(count)) => {
                let message = format!("the line ends after the count {count}: a cell or `$` must follow it");
                return Err(cursor.error(message));
            }
            // `0$` is rejected, because it would start the same row again.
            (_, Some(0)) => return Err(cursor.error("a count must be at least 1, but 0 was given".to_owned())),
            (Some(tag @ (b'.' | b'$')), _) => {
                cursor.advance(1);
                if tag == b'.' { cells.extend(length, 0) } else { cells.end_rows(length) }
            }
            _ => {
                let needed = "neither `.` (dead) nor `A` to `jO` (states) nor `$` (end of a row)";
                let state = cursor.state(b'a')?;
                let state = state.ok_or_else(|| cursor.error(format!("{} is {needed}", cursor.found())))?;
                cells.extend(length, state)
            }
        };
        added.ok_or_else(|| start.too_large())?;
    }
}
