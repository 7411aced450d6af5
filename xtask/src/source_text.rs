//! Rust source as text whose comments and literals can be told from its code, without parsing it.

/// A source text, and a copy of the same length in which whatever is no code is blank.
///
/// Offsets and lines are the same in both.
pub struct SourceText<'a> {
    text: &'a str,
    code: String,
}

impl<'a> SourceText<'a> {
    /// Splits `text` into code and the rest.
    pub fn new(text: &'a str) -> SourceText<'a> {
        SourceText { text, code: blank_all_but_code(text) }
    }

    /// The text as it is.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text with comments and the insides of literals blank.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The line of a byte offset, from 1.
    pub fn line_of(&self, offset: usize) -> usize {
        self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    /// The offsets at which `word` stands in the code, not as a part of a longer name.
    pub fn words<'w>(&'w self, word: &'w str) -> impl Iterator<Item = usize> + 'w {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        self.code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
            let before = self.code[..at].chars().next_back();
            let after = self.code[at + word.len()..].chars().next();
            let starts = !word.starts_with(is_name) || !before.is_some_and(is_name);
            let ends = !word.ends_with(is_name) || !after.is_some_and(is_name);
            starts && ends
        })
    }

    /// The range of the braces, brackets or parentheses that open at `offset` in the code, both ends included; up to the
    /// end of the text if they never close.
    pub fn enclosed(&self, offset: usize) -> std::ops::Range<usize> {
        let mut depth = 0usize;
        for (at, byte) in self.code.bytes().enumerate().skip(offset) {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                return offset..at + 1;
            }
        }
        offset..self.code.len()
    }

    /// Where the head of an item ends that starts at `from`, or goes on there: at the brace of its body, or at the semicolon
    /// of an item without any.
    pub fn head_end(&self, from: usize) -> Option<usize> {
        let mut open = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(from) {
            match byte {
                // An attribute's or a signature's brackets.
                b'(' | b'[' => open += 1,
                b')' | b']' => open = open.saturating_sub(1),
                b'{' | b';' if open == 0 => return Some(offset),
                _ => {}
            }
        }
        None
    }

    /// The ranges of the items that follow each occurrence of `start` (an attribute, or `macro_rules!`): up to the end of
    /// their braces, or to the semicolon of an item without any.
    pub fn items_after(&self, start: &str) -> Vec<std::ops::Range<usize>> {
        let of = |at: usize| match self.head_end(at + start.len()) {
            Some(end) if self.code.as_bytes()[end] == b'{' => at..self.enclosed(end).end,
            Some(end) => at..end + 1,
            None => at..self.code.len(),
        };
        self.code.match_indices(start).map(|(at, _)| of(at)).collect()
    }
}

fn blank_all_but_code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let (end, keep) = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => (line_end(bytes, at), 0),
            b'/' if bytes.get(at + 1) == Some(&b'*') => (block_comment_end(bytes, at), 0),
            b'"' => (string_end(bytes, at), 1),
            b'r' if !follows_name(bytes, at) => match raw_string_end(bytes, at) {
                Some(end) => (end, 1),
                None => (at + 1, 1),
            },
            b'\'' => match char_end(bytes, at) {
                Some(end) => (end, 1),
                None => (at + 1, 1),
            },
            _ => (at + 1, 1),
        };
        // A literal keeps its first and last byte, so that it is still seen to be one.
        for byte in &mut code[at + keep..end.max(at + keep) - usize::from(keep == 1 && end > at + 1)] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Only bytes inside of literals and comments were replaced, each whole character of them.
    String::from_utf8(code).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"` or `r#"…"#`, if that is what starts here.
fn raw_string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start + 1..].iter().take_while(|&&byte| byte == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let inside = &bytes[open + 1..];
    let length = inside.windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// The end of a character literal, if it is one and not a lifetime.
fn char_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    if bytes.get(at) == Some(&b'\\') {
        at += 2;
        while at < bytes.len() && bytes[at] != b'\'' && bytes[at] != b'\n' {
            at += 1;
        }
        return (bytes.get(at) == Some(&b'\'')).then_some(at + 1);
    }
    // One character of up to four bytes.
    let first = *bytes.get(at)?;
    let length = if first < 0x80 { 1 } else { first.leading_ones() as usize };
    at += length;
    (first != b'\'' && bytes.get(at) == Some(&b'\'')).then_some(at + 1)
}

/// Whether the byte before belongs to a name; `b` and `c` alone are the prefixes of `br"…"` and `cr"…"`.
fn follows_name(bytes: &[u8], at: usize) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let Some(before) = at.checked_sub(1) else { return false };
    match bytes[before] {
        b'b' | b'c' => before.checked_sub(1).is_some_and(|earlier| is_name(bytes[earlier])),
        byte => is_name(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let source = SourceText::new(text);
        assert_eq!(source.code().len(), text.len());
        assert_eq!(source.code().matches('\n').count(), text.matches('\n').count());
        source.code().to_owned()
    }

    #[test]
    fn comments_and_literals_are_blank() {
        assert_eq!(code("a // b\nc"), "a     \nc");
        assert_eq!(code("a /* b /* c */ d */ e"), "a                   e");
        assert_eq!(code("f(\"x // y\", 'z')"), "f(\"      \", ' ')");
        assert_eq!(code(r#"f("a\"b", c)"#), r#"f("    ", c)"#);
        assert_eq!(code(r##"r#"a"b"# + c"##), r##"r      # + c"##);
        assert_eq!(code(r#"br"unsafe {" + c"#), r#"br         " + c"#);
        assert_eq!(code("'\\'' 'é' x"), "'  ' '  ' x");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("var(\"é\")"), "var(\"  \")");
    }

    #[test]
    fn words_are_whole() {
        let source = SourceText::new("std::a cuda_std::b // std::c\nx::std::d");
        assert_eq!(source.words("std::").collect::<Vec<_>>(), [0, 32]);
        assert_eq!(source.line_of(32), 2);
    }

    #[test]
    fn items_end_with_their_braces() {
        let text = "#[cfg(test)]\nmod tests { fn f() { } }\nfn g() {}\n#[cfg(test)]\nmod more;\nfn h() {}";
        let source = SourceText::new(text);
        let items: Vec<&str> = source.items_after("#[cfg(test)]").into_iter().map(|range| &text[range]).collect();
        assert_eq!(items, ["#[cfg(test)]\nmod tests { fn f() { } }", "#[cfg(test)]\nmod more;"]);
        let open = text.find("() { } }").unwrap() + 3;
        assert_eq!(&text[source.enclosed(open)], "{ }");
    }
}
