//! Documentation for a terminal.

/// The most columns of a line, and the fewest that lines are broken for.
pub(super) const MOST_COLUMNS: usize = 160;
pub(super) const FEWEST_COLUMNS: usize = 60;

/// Documentation without its links' targets: ``[`life_pack()`](x)`` is `` `life_pack()` ``.
pub(crate) fn plain(documentation: &str) -> String {
    let mut text = String::with_capacity(documentation.len());
    let mut in_code = false;
    let mut rest = documentation;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '`' => in_code = !in_code,
            '[' if !in_code => continue,
            ']' if !in_code => {
                rest = after_target(rest).unwrap_or(rest);
                continue;
            }
            _ => {}
        }
        text.push(character);
    }
    text
}

/// What follows a link's target, if `text` begins with one: `(super::life_pack()).` gives `.`.
fn after_target(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.find(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0
    })?;
    (end > 0).then(|| &text[end + 1..])
}

/// The first sentence: up to a full stop before a capital letter or code.
pub(super) fn first_sentence(text: &str) -> &str {
    let starts = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || c == '`');
    let end = text.match_indices(". ").find(|(at, stop)| starts(&text[at + stop.len()..]));
    end.map_or(text, |(at, _)| &text[..=at])
}
