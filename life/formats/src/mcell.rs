//! MCell files (`.mcl`): lines with keywords. `#L` lines contain the cells, run-length encoded.
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
//! Dead cells are `.`, states 1 to 24 are `A` to `X`, and the next ones `aA` to `jO`. The board size becomes the rule's
//! topology as in Golly: a torus if the board wraps, else a bounded plane. The games Life and Generations are read, and
//! every other game that names a rule for Golly (`#GOLLY`).

use super::cells::Cells;
use super::error::FormatError;
use life::board::Run;
use life::pattern::{ParseError, Pattern};

/// Reads a pattern.
///
/// It needs at most 100 times the memory of the text, and never more than `limit`.
///
/// # Errors
/// [`FormatError::Refused`] for another game and for a text without `#MCell` or `#L`. [`FormatError::Malformed`] for an
/// invalid cell. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let mut cells = Cells::new((0, 0), text.len(), limit);
    let (mut rule, mut golly, mut board, mut wraps) = (String::new(), None, None, false);
    let (mut x, mut y, mut game) = (0, 0, "Life");
    let is_cells = |line: &str| line.strip_prefix("#L ").is_some_and(|rest| !rest.trim().is_empty());
    if !text.lines().any(|line| line.trim_start_matches('\u{feff}').trim_start().starts_with("#MCell")) {
        return Err(FormatError::Refused(
            "it is not an MCell file: the first line must be such as `#MCell 4.20`".into(),
        ));
    }
    if !text.lines().any(is_cells) {
        let needed = "add lines such as `#L .A$..A$3A`, or check whether the file was cut off";
        return Err(FormatError::Refused(format!("it is an MCell file without cells: {needed}")));
    }
    for (line, number) in text.lines().zip(1..) {
        let Some((keyword, rest)) = line.trim_end().split_once(' ') else { continue };
        match keyword {
            "#GAME" => game = rest.trim(),
            // Long rules span several lines.
            "#RULE" => rule.push_str(rest.trim()),
            "#GOLLY" => golly = Some(rest.trim().to_owned()),
            "#BOARD" => board = rest.split_once('x').map(|(width, height)| (width.trim(), height.trim())),
            "#WRAP" => wraps = rest.trim() == "1",
            "#L" => row(line, number, &mut cells, (&mut x, &mut y))?,
            _ => {}
        }
    }
    if golly.is_none() && !matches!(game, "Life" | "Generations") {
        let game = super::text::shorten(game);
        return Err(FormatError::Refused(format!(
            "MCell's game {game} is not supported: use Life or Generations, or name a rule in a `#GOLLY` line"
        )));
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

/// Reads the cells of one line.
fn row(line: &str, number: usize, cells: &mut Cells, (x, y): (&mut usize, &mut usize)) -> Result<(), ParseError> {
    let bytes = line.as_bytes();
    let mut at = "#L ".len();
    let error = |at: usize, message: String| {
        let column = String::from_utf8_lossy(&bytes[..at]).chars().count() + 1;
        ParseError { line: number, column, message }
    };
    let mut count = None::<usize>;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let too_large = || error(start, "this number is too large: positions and counts must be below 2⁶⁴".to_owned());
        let length = count.unwrap_or(1);
        let state = match byte {
            b'0'..=b'9' => {
                let more = count.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add((byte - b'0').into()));
                count = Some(more.ok_or_else(too_large)?);
                continue;
            }
            // `0$` would start the same row again.
            _ if count == Some(0) => {
                return Err(error(start, "a count must be at least 1, but 0 was given".to_owned()));
            }
            b' ' | b'\t' | b'\r' => continue,
            b'$' => {
                *y = y.checked_add(length).filter(|&y| y < usize::MAX).ok_or_else(too_large)?;
                *x = 0;
                count = None;
                continue;
            }
            b'.' => 0,
            b'A'..=b'X' => u16::from(byte - b'A' + 1),
            b'a'..=b'j' if matches!(bytes.get(at), Some(b'A'..=b'X')) => {
                at += 1;
                24 * u16::from(byte - b'a' + 1) + u16::from(bytes[at - 1] - b'A' + 1)
            }
            _ => {
                let found = super::text::shorten(String::from_utf8_lossy(&bytes[start..]).as_ref());
                return Err(error(
                    start,
                    format!("`{found}` is neither `.` (dead) nor `A` to `jO` (states) nor `$` (end of a row)"),
                ));
            }
        };
        let state = u8::try_from(state)
            .map_err(|_| error(start, format!("the state of a cell must be at most 255, but {state} was given")))?;
        let end = x.checked_add(length).ok_or_else(too_large)?;
        if state > 0 {
            cells.push(Run { x: *x, y: *y, length }, state);
        }
        (*x, count) = (end, None);
    }
    match count {
        Some(count) => Err(error(at, format!("the line ends after the count {count}: a cell or `$` must follow it"))),
        None => Ok(()),
    }
}
