//! A place in a text, which knows its line and column.

use life::ParseError;

/// A place in a text, at a character's start.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
    /// Counted from 1.
    line: usize,
    /// Where the line starts, in bytes.
    line_start: usize,
}

impl<'a> Cursor<'a> {
    /// The start of `text`, after a byte order mark.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, line: 1, line_start: 0 }
    }

    /// The next byte.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte behind the next one.
    pub(super) fn peek_next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Goes on by `bytes` within a line.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips white space and line ends; the byte after them.
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

    /// Skips blanks within a line; the byte after them, none at the end of the line.
    pub(super) fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => return None,
                other => return Some(other),
            }
        }
    }

    /// A decimal number, if there is one.
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

    /// The rest of the line without its end; goes there.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.len();
        line.trim_end()
    }

    /// True if only white space stands before this position in its line.
    pub(super) fn at_line_start(&self) -> bool {
        self.text[self.line_start..self.at].trim_start().is_empty()
    }

    /// The character here, as a message quotes it.
    pub(super) fn found(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some('\n') | None => "the line's end".to_owned(),
            Some(character) => format!("`{}`", character.escape_debug()),
        }
    }

    /// An error here.
    pub(super) fn error(&self, message: String) -> ParseError {
        let column = self.text[self.line_start..self.at].chars().count() + 1;
        ParseError { line: self.line, column, message }
    }

    /// An error for a number here that is not below 2⁶⁴, or leads beyond it.
    pub(super) fn too_large(&self) -> ParseError {
        self.error("this number is larger than this program can count".to_owned())
    }

    /// An error behind the last character of the text that is no white space.
    pub(super) fn end_error(&self, message: String) -> ParseError {
        let text = self.text.trim_end();
        let line_start = text.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.bytes().filter(|&byte| byte == b'\n').count() + 1;
        Self { text, at: text.len(), line, line_start }.error(message)
    }
}
