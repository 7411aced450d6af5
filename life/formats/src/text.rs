//! Converts line ends, and prepares texts for messages and files.

use std::borrow::Cow;

/// Replaces carriage returns that are not followed by a newline by newlines. Old Macintosh files end their lines in
/// this way.
pub(super) fn with_newlines(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_end = |pair: &[u8]| pair[0] == b'\r' && !matches!(pair[1], b'\r' | b'\n');
    if !text.ends_with('\r') && !text.as_bytes().windows(2).any(is_end) {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = rest.find('\r') {
        let (line, end) = rest.split_at(at);
        rest = end.trim_start_matches('\r');
        plain.push_str(line);
        if !rest.starts_with('\n') {
            plain.extend(std::iter::repeat_n('\n', end.len() - rest.len()));
        }
    }
    plain.push_str(rest);
    plain.into()
}

/// Returns `text` without control characters, or `None` if nothing remains.
pub(super) fn printable(text: &str) -> Option<String> {
    let text: String = text.trim().chars().filter(|character| !character.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// Returns `text` in the form that messages quote: escaped, and shortened to 40 characters.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
