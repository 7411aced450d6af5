//! Shared arrays by their text: `shared_array![T; 64 * N]`.

use std::collections::BTreeMap;

use crate::source_text::SourceText;

/// Element types whose size is known, as they stand in an entry's name.
const ELEMENTS: &[(u64, &[&str])] = &[
    (1, &["u8", "i8"]),
    (2, &["u16", "i16"]),
    (4, &["u32", "i32", "f32"]),
    (8, &["u64", "i64", "f64", "usize", "isize", "affine"]),
];

/// Element type and length of each shared array in a body, as they are written.
pub(super) fn declared(code: &str) -> Vec<(String, String)> {
    let of = |(at, name): (usize, &str)| {
        let rest = code[at + name.len()..].trim_start();
        let close = rest.char_indices().scan(0i32, |depth, (at, character)| {
            *depth += i32::from(matches!(character, '(' | '[' | '{')) - i32::from(matches!(character, ')' | ']' | '}'));
            Some((at, *depth))
        });
        let end = close.skip_while(|&(at, _)| at == 0).find(|&(_, depth)| depth == 0).map_or(rest.len(), |(at, _)| at);
        let (element, len) = rest.get(1..end).unwrap_or_default().split_once(';').unwrap_or_default();
        (element.trim().to_owned(), len.trim().to_owned())
    };
    code.match_indices("shared_array!").map(of).collect()
}

/// The constants that the sources declare: for each name, file and value as it is written.
pub(super) struct Constants(BTreeMap<String, Vec<(usize, String)>>);

impl Constants {
    pub fn new(sources: &[SourceText<'_>]) -> Constants {
        let mut constants: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (file, source) in sources.iter().enumerate() {
            for at in source.words("const") {
                let declaration = source.code()[at + "const".len()..].split(';').next().unwrap_or_default();
                let Some((name, value)) = declaration.split_once('=') else { continue };
                let name = name.split(':').next().unwrap_or_default().trim();
                constants.entry(name.to_owned()).or_default().push((file, value.trim().to_owned()));
            }
        }
        Constants(constants)
    }

    /// The bytes of an array in `file`, for generic `arguments`; `None` if the text is more than names and arithmetic.
    pub fn bytes(&self, file: usize, element: &str, len: &str, arguments: &[(String, String)]) -> Option<u64> {
        let scope = Scope { constants: self, file, arguments };
        let element = scope.argument(element).unwrap_or(element).to_lowercase();
        let name = element.rsplit("::").next().unwrap_or_default();
        let (size, _) = ELEMENTS.iter().find(|(_, names)| names.contains(&name))?;
        scope.value(len, 0)?.checked_mul(*size)
    }

    fn named(&self, name: &str, file: usize) -> Option<(usize, &str)> {
        let all = self.0.get(name)?;
        let near: Vec<_> = all.iter().filter(|(of, _)| *of == file).collect();
        match (&near[..], &all[..]) {
            ([(file, value)], _) | ([], [(file, value)]) => Some((*file, value)),
            _ => None,
        }
    }
}

/// Where an expression stands.
struct Scope<'a> {
    constants: &'a Constants,
    file: usize,
    arguments: &'a [(String, String)],
}

/// How far a constant may lead to others.
const MAX_DEPTH: usize = 8;

impl Scope<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(parameter, _)| parameter == name).map(|(_, argument)| argument.as_str())
    }

    /// The value of an expression of whole numbers, names and the four operations.
    fn value(&self, text: &str, depth: usize) -> Option<u64> {
        let mut rest = text;
        let value = self.sum(&mut rest, depth)?;
        (depth < MAX_DEPTH && rest.trim().is_empty()).then_some(value)
    }

    fn sum(&self, rest: &mut &str, depth: usize) -> Option<u64> {
        let mut value = self.product(rest, depth)?;
        while let Some(operator) = operator(rest, ['+', '-']) {
            let right = self.product(rest, depth)?;
            value = if operator == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn product(&self, rest: &mut &str, depth: usize) -> Option<u64> {
        let mut value = self.atom(rest, depth)?;
        while let Some(operator) = operator(rest, ['*', '/']) {
            let right = self.atom(rest, depth)?;
            value = if operator == '*' { value.checked_mul(right)? } else { value.checked_div(right)? };
        }
        Some(value)
    }

    fn atom(&self, rest: &mut &str, depth: usize) -> Option<u64> {
        if operator(rest, ['(', '(']).is_some() {
            let value = self.sum(rest, depth)?;
            operator(rest, [')', ')'])?;
            return self.cast(rest, value);
        }
        let text = rest.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')).unwrap_or(text.len());
        let (word, after) = text.split_at(end);
        *rest = after;
        let value = if word.starts_with(|c: char| c.is_ascii_digit()) {
            number(word)?
        } else {
            let name = word.rsplit("::").next()?;
            match self.argument(name) {
                Some(argument) => number(argument)?,
                None => {
                    let (file, text) = self.constants.named(name, self.file)?;
                    // A constant knows no generic argument.
                    Scope { file, arguments: &[], ..*self }.value(text, depth + 1)?
                }
            }
        };
        self.cast(rest, value)
    }

    /// `value` after an `as usize`, which changes no length.
    fn cast(&self, rest: &mut &str, value: u64) -> Option<u64> {
        if let Some(after) = rest.trim_start().strip_prefix("as ") {
            let after = after.trim_start();
            *rest = ["usize", "u32", "u64"].iter().find_map(|name| after.strip_prefix(name))?;
        }
        Some(value)
    }
}

fn operator(rest: &mut &str, operators: [char; 2]) -> Option<char> {
    let text = rest.trim_start();
    let first = text.chars().next().filter(|first| operators.contains(first))?;
    *rest = &text[first.len_utf8()..];
    Some(first)
}

/// A literal such as `1_024` or `64usize`.
fn number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    let digits = ["usize", "u32", "u64"].iter().find_map(|suffix| digits.strip_suffix(suffix)).unwrap_or(&digits);
    digits.parse().ok()
}
