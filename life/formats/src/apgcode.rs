//! Reads apgcodes, which are the names of objects in apgsearch and Catagolue: `xs4_33`, `xp2_7`, `xq4_153`.
//!
//! The part after the underscore describes the cells in the extended Wechsler format. The text divides the object into
//! strips of five rows, separated by `z`. A digit, `0` to `9` or `a` to `v`, is a column of a strip, whose top cell is
//! the digit's lowest bit. `w` stands for two empty columns, and `x` for three. `y` and a following digit, `0` to `z`,
//! stand for four or more empty columns.

use super::error::{FormatError, check_memory};
use life::board::Run;
use life::pattern::{ParseError, Pattern};

/// Returns true if `text` looks like an apgcode: two letters for the kind, a number, an underscore, and then digits or
/// letters.
pub fn is_one(text: &str) -> bool {
    let text = text.trim();
    let Some((kind, cells)) = text.split_once('_') else { return false };
    let number = kind.get(2..).unwrap_or_default();
    kind.is_ascii()
        && kind.get(..2).is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_lowercase()))
        && !cells.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && cells.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'_')
}

/// Returns the object whose apgcode is `text`, as a pattern.
///
/// This function needs at most 400 times the memory of `text`, and never more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Refused`] for a code that does not contain the cells. [`FormatError::Malformed`] for a text that is
/// not an apgcode, and for a still life whose number of cells contradicts its name. [`FormatError::TooLarge`] if
/// `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    let text = text.trim();
    let error = |column: usize, message: String| ParseError { line: 1, column: column + 1, message };
    let Some((kind, cells)) = text.split_once('_').filter(|_| is_one(text)) else {
        return Err(error(0, "this is not an apgcode: write one such as xq4_153".to_owned()).into());
    };
    if !matches!(&kind[..2], "xs" | "xp" | "xq") {
        refuse!(
            "apgcodes that begin with {} do not contain the cells: use one that begins with xs, xp or xq",
            &kind[..2]
        );
    }
    if cells.contains('_') {
        refuse!("it is an apgcode of a rule with more than two states: use an RLE file instead");
    }
    let needed = (cells.len() as u64).saturating_mul(5 * 3 * size_of::<Run>() as u64);
    check_memory(needed, limit)?;
    let mut live = Vec::new();
    let (mut x, mut top) = (0, 0);
    let mut bytes = cells.bytes().zip(kind.len() + 1..);
    while let Some((byte, column)) = bytes.next() {
        let value = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
        match byte {
            b'w' => x += 2,
            b'x' => x += 3,
            b'y' => {
                let message = || "a digit or letter must follow `y`: the number of empty columns, less four".to_owned();
                let (count, _) = bytes.next().ok_or_else(|| error(column, message()))?;
                x += 4 + usize::from(value(count));
            }
            b'z' => (x, top) = (0, top + 5),
            _ => {
                let rows = (0..5).filter(|row| value(byte) >> row & 1 == 1);
                live.extend(rows.map(|row| Run { x, y: top + row, length: 1 }));
                x += 1;
            }
        }
    }
    let mut pattern = Pattern::from_runs(live);
    let population = pattern.population().to_string();
    if kind.starts_with("xs") && kind[2..] != population {
        let message = format!("{kind} is a still life of {} cells, but the code has {population}", &kind[2..]);
        return Err(error(0, message).into());
    }
    pattern.name = Some(text.to_owned());
    Ok(pattern)
}
