//! A position in a text, with its line and column for error messages.

use life::ParseError;

/// A position in a text, always at the start of a character.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// The byte offset.
    at: usize,
    /// The line number, from 1.
    line: usize,
    /// The byte offset of the line's start.
    line_start: usize,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the start of `text`. If `text` begins with a byte order mark, the cursor is after the mark.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, line: 1, line_start: 0 }
    }

    /// Returns a cursor after the first `at` bytes of line number `line`.
    pub(super) fn in_line(text: &'a str, line: usize, at: usize) -> Self {
        Self { text, at, line, line_start: 0 }
    }

    /// Returns the next byte.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the byte after the next one.
    pub(super) fn peek_next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Moves the cursor forward by `bytes` bytes. The cursor must not cross the end of a line.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips white space and line ends, and returns the next byte.
    #[inline]
    pub(super) fn skip_white_space(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                other => return Some(other),
            }
        }
    }

    /// Skips blanks within a line. Returns the next byte, or `None` at the end of the line.
    pub(super) fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => return None,
                other => return Some(other),
            }
        }
    }

    /// Reads the decimal number at this position. Returns `None` if there is no number.
    #[inline]
    pub(super) fn number(&mut self) -> Result<Option<usize>, ParseError> {
        let start = self.at;
        let mut number = Some(0usize);
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.and_then(|number| number.checked_mul(10)?.checked_add((digit - b'0').into()));
            self.at += 1;
        }
        match number {
            _ if start == self.at => Ok(None),
            Some(number) => Ok(Some(number)),
            None => Err(Self { at: start, ..self.clone() }.too_large()),
        }
    }

    /// Reads the letters of a state above 0 at this position. States up to 24 have the letters `A` to `X`. Higher
    /// states have two letters: first one of the ten letters from `prefix` on, then a letter from `A` to `X`. Returns
    /// `None` for any other text.
    #[inline]
    pub(super) fn state(&mut self, prefix: u8) -> Result<Option<u8>, ParseError> {
        let (group, letter) = match (self.peek(), self.peek_next()) {
            (Some(letter @ b'A'..=b'X'), _) => (0, letter),
            (Some(group), Some(letter @ b'A'..=b'X')) if (prefix..prefix + 10).contains(&group) => {
                (group - prefix + 1, letter)
            }
            _ => return Ok(None),
        };
        let state = 24 * u16::from(group) + u16::from(letter - b'A' + 1);
        let too_large = || self.error(format!("the state of a cell must be at most 255, but {state} was given"));
        let state = u8::try_from(state).map_err(|_| too_large())?;
        self.at += 1 + usize::from(group > 0);
        Ok(Some(state))
    }

    /// Returns the rest of the line without trailing white space, and moves to the end of the line.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.len();
        line.trim_end()
    }

    /// Returns true if only white space precedes this position in the line.
    pub(super) fn at_line_start(&self) -> bool {
        self.text[self.line_start..self.at].trim_start().is_empty()
    }

    /// Returns the character at this position, in the form that messages quote.
    pub(super) fn found(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some('\n') | None => "the line's end".to_owned(),
            Some(character) => format!("`{}`", character.escape_debug()),
        }
    }

    /// Returns the line and the column, counted from 1.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.line, self.text[self.line_start..self.at].chars().count() + 1)
    }

    /// Returns an error that reports this position.
    pub(super) fn error(&self, message: String) -> ParseError {
        let (line, column) = self.position();
        ParseError { line, column, message }
    }

    /// Returns the error for a number that is 2⁶⁴ or more, or for a number that would move a position to 2⁶⁴ or beyond.
    pub(super) fn too_large(&self) -> ParseError {
        self.error("this number is too large: it and the position of each cell must be below 2⁶⁴".to_owned())
    }

    /// Returns an error that reports the end of the text, before trailing white space.
    pub(super) fn end_error(&self, message: String) -> ParseError {
        let text = self.text.trim_end();
        let line_start = text.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
        Self { text, at: text.len(), line, line_start }.error(message)
    }
}
