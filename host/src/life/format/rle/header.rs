//! The header line `x = m, y = n, rule = …`.

use super::cursor::Cursor;
use gridstride::life::ParseError;

/// What the header says.
pub(super) struct Header {
    /// `x`, columns.
    pub(super) width: usize,
    /// `y`, rows.
    pub(super) height: usize,
    /// The rule, as it stands there.
    pub(super) rule: Option<String>,
}

/// Reads the header line that the cursor stands at.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Header, ParseError> {
    match cursor.skip_white_space() {
        None => return Err(cursor.end_error(format!("the text ends here without a header: {EXPECTED}"))),
        Some(b'x' | b'X') => {}
        Some(_) => return Err(cursor.error(format!("the header is missing: {EXPECTED}"))),
    }
    let width = assignment(cursor, "x")?;
    expect(cursor, ",")?;
    let height = assignment(cursor, "y")?;
    let rule = if cursor.skip_blanks().is_some() {
        expect(cursor, ",")?;
        expect(cursor, "rule")?;
        expect(cursor, "=")?;
        cursor.skip_blanks();
        let rule = cursor.rest_of_line();
        if rule.is_empty() {
            return Err(cursor.error("the rule is empty: write `rule = B3/S23`, or leave it out".to_owned()));
        }
        Some(rule.to_owned())
    } else {
        None
    };
    Ok(Header { width, height, rule })
}

/// What a header looks like.
const EXPECTED: &str = "a line such as `x = 3, y = 3, rule = B3/S23` comes before the cells";

/// Reads `name = number`.
fn assignment(cursor: &mut Cursor<'_>, name: &str) -> Result<usize, ParseError> {
    expect(cursor, name)?;
    expect(cursor, "=")?;
    cursor.skip_blanks();
    cursor
        .number()?
        .ok_or_else(|| cursor.error(format!("expected a number for the header's `{name}`, found {}", cursor.found())))
}

/// Reads `word`, in either case, after blanks.
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
