//! Reads the header line of an RLE text: `x = m, y = n, rule = …`.

use super::super::cursor::Cursor;
use life::ParseError;

/// The header of an RLE text.
#[derive(Default)]
pub(super) struct Header {
    /// The number of columns, `x`.
    pub(super) width: usize,
    /// The number of rows, `y`.
    pub(super) height: usize,
    /// The rule as it is written in the text, without parsing.
    pub(super) rule: Option<String>,
}

/// Reads the header line at the cursor.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Header, ParseError> {
    let width = assignment(cursor, "x")?;
    skip_comma(cursor);
    let height = assignment(cursor, "y")?;
    skip_comma(cursor);
    let mut header = Header { width, height, rule: None };
    if matches!(cursor.skip_blanks(), Some(b'z' | b'Z')) {
        let message = "the header has `z`: 3-D patterns (.rle3) are not supported: use a pattern with `x` and `y` only";
        return Err(cursor.error(message.to_owned()));
    }
    if cursor.skip_blanks().is_some() {
        expect(cursor, "rule")?;
        expect(cursor, "=")?;
        cursor.skip_blanks();
        let start = cursor.clone();
        let rule = cursor.rest_of_line().trim_end_matches([',', ' ', '\t']);
        if rule.is_empty() {
            return Err(start.error("the rule is empty: write `rule = B3/S23`, or leave out `rule =`".to_owned()));
        }
        header.rule = Some(rule.to_owned());
    }
    Ok(header)
}

/// Returns true if a header begins at the cursor. A header begins with an `x` that is not a cell.
pub(super) fn is_here(cursor: &Cursor<'_>) -> bool {
    let mut cursor = cursor.clone();
    matches!(cursor.skip_white_space(), Some(b'x' | b'X'))
        && matches!(cursor.peek_next(), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'=' | b','))
}

/// Skips a comma, which some files omit.
fn skip_comma(cursor: &mut Cursor<'_>) {
    if cursor.skip_blanks() == Some(b',') {
        cursor.advance(1);
    }
}

/// Reads `name = number` at the cursor and returns the number.
fn assignment(cursor: &mut Cursor<'_>, name: &str) -> Result<usize, ParseError> {
    expect(cursor, name)?;
    expect(cursor, "=")?;
    cursor.skip_blanks();
    cursor
        .number()?
        .ok_or_else(|| cursor.error(format!("expected a number for the header's `{name}`, found {}", cursor.found())))
}

/// Skips blanks and reads `word` in upper or lower case.
fn expect(cursor: &mut Cursor<'_>, word: &str) -> Result<(), ParseError> {
    cursor.skip_blanks();
    let start = cursor.clone();
    for wanted in word.bytes() {
        if cursor.peek().is_none_or(|byte| byte.to_ascii_lowercase() != wanted) {
            return Err(start.error(format!("expected `{word}` in the header, found {}", start.found())));
        }
        cursor.advance(1);
    }
    Ok(())
}
