//! Texts of files, as messages and other files show them.

/// `text` without what is not to be printed, if anything is left.
pub(super) fn printable(text: &str) -> Option<String> {
    let text: String = text.trim().chars().filter(|character| !character.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// A text as a message quotes it: printable, and not too long.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
