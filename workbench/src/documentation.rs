//! Converts the documentation of kernels to plain text.

/// Returns a documentation text with its links replaced by their labels: ``[`life_pack()`](x)`` becomes ``
/// `life_pack()` ``.
pub fn plain(documentation: &str) -> String {
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

/// Returns the text after the target of a link if `text` begins with a target. For `(super::life_pack()).` this is `.`.
fn after_target(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.find(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0
    })?;
    (end > 0).then(|| &text[end + 1..])
}

/// Returns the first sentence of `text`. A sentence ends at a full stop that is followed by a capital letter or code.
pub fn first_sentence(text: &str) -> &str {
    let starts = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || c == '`');
    let end = text.match_indices(". ").find(|(at, stop)| starts(&text[at + stop.len()..]));
    end.map_or(text, |(at, _)| &text[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_shown_without_links() {
        assert_eq!(plain("`y[i]` = [`a()`](fn@a) of [b](c), [`D`]; `[e](f)`."), "`y[i]` = `a()` of b, `D`; `[e](f)`.");
        assert_eq!(plain("[open"), "open");
        assert_eq!(plain("As [`a()`](super::a()) (a lane) does."), "As `a()` (a lane) does.");
        assert_eq!(plain("[`a`](b(c"), "`a`(b(c");
    }

    #[test]
    fn a_sentence_ends_before_the_next_one() {
        assert_eq!(first_sentence("Adds `a.b`, i.e. both. Any grid. Twice."), "Adds `a.b`, i.e. both.");
        assert_eq!(first_sentence("Adds 1.5. `x` stays."), "Adds 1.5.");
        assert_eq!(first_sentence("Adds."), "Adds.");
    }
}
