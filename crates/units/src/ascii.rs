//! Replaces the characters that ASCII does not have, for terminals of the C locale.

use std::borrow::Cow;
use std::sync::LazyLock;

/// Superscript digits and signs, and the characters that follow a `^` instead.
const SUPERSCRIPTS: [(char, char); 11] = [
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁻', '-'),
];

/// Other characters of messages, tables and boards, and their replacements. In half-blocks, a dot is the lower of two
/// cells, and an apostrophe is the upper one.
const REPLACEMENTS: [(char, &str); 33] = [
    ('·', "*"),
    ('×', "x"),
    ('…', "..."),
    ('–', "-"),
    ('−', "-"),
    ('─', "-"),
    ('│', "|"),
    ('▏', "|"),
    ('┌', "+"),
    ('┐', "+"),
    ('└', "+"),
    ('┘', "+"),
    ('┼', "+"),
    ('µ', "u"),
    ('ε', "epsilon"),
    ('Σ', "sum "),
    ('√', "sqrt "),
    ('∞', "inf"),
    ('≤', "<="),
    ('≥', ">="),
    ('≈', "~"),
    ('←', "<"),
    ('→', "->"),
    ('↑', "^"),
    ('↓', "v"),
    ('▀', "'"),
    ('▄', "."),
    ('█', ":"),
    ('░', "~"),
    ('“', "\""),
    ('”', "\""),
    ('‘', "'"),
    ('’', "'"),
];

/// Returns true if the locale of the process is `C` or `POSIX`, whose characters are ASCII.
pub fn is_locale() -> bool {
    static IS_ASCII: LazyLock<bool> = LazyLock::new(|| is_ascii(|name| std::env::var(name).ok()));
    *IS_ASCII
}

/// Returns true if the locale that `variable` returns is `C` or `POSIX`. Without a variable it is unknown.
fn is_ascii(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).is_some_and(|value| value == "C" || value == "POSIX")
}

/// Returns `text` in ASCII if the [locale](is_locale) needs that, and otherwise `text` itself.
pub fn for_locale(text: &str) -> Cow<'_, str> {
    if is_locale() { plain(text) } else { text.into() }
}

/// Returns `text` with ASCII in place of the characters that this program uses. Other characters, such as those of a
/// file's name, stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut is_raised = false;
    for character in text.chars() {
        let raised = SUPERSCRIPTS.iter().find(|(superscript, _)| *superscript == character).map(|&(_, digit)| digit);
        plain.extend(raised.filter(|_| !is_raised).map(|_| '^'));
        is_raised = raised.is_some();
        match (raised, replacement(character)) {
            (Some(digit), _) => plain.push(digit),
            (None, Some(replacement)) => plain.push_str(replacement),
            (None, None) => plain.push(character),
        }
    }
    plain.into()
}

/// Returns the ASCII character for a character of a terminal's screen, which has the same width.
pub fn mark(character: char) -> char {
    match u32::from(character) {
        // Braille characters, by their number of dots.
        dots @ 0x2801..=0x28ff => [' ', '.', '.', ':', ':', ':', '#', '#', '#'][(dots & 0xff).count_ones() as usize],
        0x2800 => ' ',
        0x2192 => '>',
        _ => replacement(character).and_then(|text| text.chars().next()).unwrap_or(character),
    }
}

fn replacement(character: char) -> Option<&'static str> {
    REPLACEMENTS.iter().find(|(from, _)| *from == character).map(|&(_, to)| to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ascii_but_for_names() {
        assert_eq!(plain("12.5 µs · 3×4 – 2⁻¹²⁸ ≤ 10⁹ …"), "12.5 us * 3x4 - 2^-128 <= 10^9 ...");
        assert_eq!(plain("cannot read 'é.rle'"), "cannot read 'é.rle'");
        assert!(matches!(plain("plain"), Cow::Borrowed("plain")));
        assert_eq!(['▀', '▄', '█', '⠀', '⠁', '⣿', '→', 'x', '┌'].map(mark).iter().collect::<String>(), "'.: .#>x+");
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        let with = |values: [&str; 3]| {
            is_ascii(|name| {
                let at = ["LC_ALL", "LC_CTYPE", "LANG"].iter().position(|known| *known == name)?;
                Some(values[at].to_owned()).filter(|value| value != "none")
            })
        };
        for (values, expected) in [
            (["C", "none", "en_US.UTF-8"], true),
            (["", "POSIX", "en_US.UTF-8"], true),
            (["none", "none", "C"], true),
            (["C.UTF-8", "C", "C"], false),
            (["none", "none", "none"], false),
            (["none", "none", "de_DE.UTF-8"], false),
        ] {
            assert_eq!(with(values), expected, "{values:?}");
        }
    }
}
