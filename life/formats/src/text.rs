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

/// Returns `text` with `filler` in place of each character of LifeViewer's scripts, which stand between `[[` and `]]`.
/// Line ends stay, and so do comment lines, which begin with `#` or `!`. A `[[` without a `]]` does not begin a script.
pub(super) fn without_scripts(text: &str, filler: char) -> Cow<'_, str> {
    let last_end = text.rfind("]]").filter(|_| text.contains("[["));
    let Some(last_end) = last_end else { return text.into() };
    let mut plain = String::with_capacity(text.len());
    let (mut is_inside, mut at) = (false, 0);
    for line in text.split_inclusive('\n') {
        let is_comment = line.trim_start().starts_with(['#', '!']);
        let mut rest = line;
        loop {
            let mark = rest.find(if is_inside { "]]" } else { "[[" });
            let mark = mark.filter(|mark| is_inside || at + mark < last_end);
            let length = mark.map_or(rest.len(), |mark| if is_inside { mark + 2 } else { mark });
            let (part, later) = rest.split_at(length);
            if is_inside && !is_comment {
                plain.extend(part.chars().map(|c| if matches!(c, '\n' | '\r') { c } else { filler }));
            } else {
                plain.push_str(part);
            }
            (at, rest) = (at + length, later);
            if mark.is_none() {
                break;
            }
            is_inside = !is_inside;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_pattern_bytes;
    use life::pattern::Pattern;

    fn read(bytes: &[u8]) -> Result<Pattern, crate::FormatError> {
        read_pattern_bytes(bytes, None, 1 << 22)
    }

    #[test]
    fn scripts_of_lifeviewer_are_ignored() {
        let glider = read(b"bo$2bo$3o!").unwrap();
        for text in [
            "[[ THEME 6\nGPS 30 ]]\nbo$2bo$3o!",
            "x = 3, y = 3\nbo$[[ ZOOM 4 ]]2bo$\r\n[[\r\nAUTOSTART ]]\r\n3o!",
            "#C [[ THEME 6\n#C GPS 30 ]] and words\nbo$2bo$3o!",
            "#C [[ THEME 6\nGPS 30\n#C ]]\nbo$2bo$3o!",
            "bo$2bo$3o!\n[[ THEME 6 ]]",
            "[[ THEME 6 ]]\n.O\n..O\nOOO\n[[\nGPS 30\n]]\n",
        ] {
            let read = read(text.as_bytes()).unwrap();
            assert_eq!((read.width, read.height), (3, 3), "{text:?}");
            assert!(read.cells().eq(glider.cells()), "{text:?}");
        }
        for (text, message) in [
            ("[[ THEME 6 ]]\nbo$2bz$3o!", "line 2, column 6: `z`"),
            ("é[[ é ]]\u{e9}bo$!", "column 1: `é`"),
            ("[[ THEME 6 ]]\n", "it is empty"),
            ("bo$[[2bo$3o!", "column 4: `[`"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
        assert_eq!(without_scripts("a[[b]]c[[d]]\n[[e]]f", '!'), "a!!!!!c!!!!!\n!!!!!f");
        assert_eq!(without_scripts("a]]b[[c", ' '), "a]]b[[c");
        assert_eq!(without_scripts(&"[[".repeat(100_000), ' ').len(), 200_000);
    }
}
