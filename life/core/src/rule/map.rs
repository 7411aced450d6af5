//! `MAP` strings: a table of neighbourhoods in base64.

use super::{ALL, Rule, RuleError};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The cells of a table, from the one that is the highest bit of a neighbourhood's number, as bits of [`Rule::table`]'s
/// numbers.
type Cells = &'static [usize];

/// Left to right, the upper row first.
const MOORE: Cells = &[8, 7, 6, 5, 4, 3, 2, 1, 0];
/// Above, left, the cell itself, right, below.
const VON_NEUMANN: Cells = &[7, 5, 4, 3, 1];
/// Golly and LifeViewer number the hexagonal neighbourhoods of two states from the lower row on: below, lower right,
/// left, the cell itself, right, upper left, above.
const HEXAGONAL: Cells = &[1, 0, 5, 4, 3, 8, 7];
/// Golly numbers the hexagonal neighbourhoods of Generations from the upper row on.
const HEXAGONAL_GENERATIONS: Cells = &[8, 7, 5, 4, 3, 1, 0];

/// The neighbourhoods that a table can have, the smallest first.
const fn neighbourhoods(is_generations: bool) -> [Cells; 3] {
    [VON_NEUMANN, if is_generations { HEXAGONAL_GENERATIONS } else { HEXAGONAL }, MOORE]
}

/// Digits of a table of `cells`.
fn length(cells: Cells) -> usize {
    (1_usize << cells.len()).div_ceil(6)
}

/// The number of neighbourhood `i` in a table of `cells`.
fn packed(i: usize, cells: Cells) -> usize {
    cells.iter().fold(0, |number, bit| number << 1 | (i >> bit & 1))
}

/// The rule of two states whose table is `text`, which follows `MAP`. `is_generations` says that a number of states
/// follows `text`.
pub(super) fn parse(text: &str, is_generations: bool) -> Result<Rule, RuleError> {
    let text = text.strip_suffix("==").unwrap_or(text);
    let Some(cells) = neighbourhoods(is_generations).into_iter().find(|&cells| length(cells) == text.len()) else {
        let message = format!(
            "a MAP of {} digits: it has 86 for eight neighbours, 22 for six or 6 for four",
            text.chars().count()
        );
        return Err(RuleError(message));
    };
    let mut digits = Vec::new();
    for byte in text.bytes() {
        let digit = DIGITS.iter().position(|&digit| digit == byte);
        digits.push(digit.ok_or_else(|| {
            RuleError("a MAP with a character that is no digit of base64: A to Z, a to z, 0 to 9, + or /".into())
        })?);
    }
    Ok(Rule::of(|i| {
        let bit = packed(i, cells);
        digits[bit / 6] >> (5 - bit % 6) & 1 == 1
    }))
}

/// The rule's table in base64, for the fewest neighbours that will do.
pub(super) fn print(rule: &Rule) -> String {
    let mask = |cells: Cells| cells.iter().fold(0, |mask, bit| mask | 1 << bit);
    let depends_on = |mask: usize| (0..ALL).all(|i| rule.is_alive(i) == rule.is_alive(i & mask));
    let cells = neighbourhoods(rule.states() > 2).into_iter().find(|&cells| depends_on(mask(cells))).unwrap_or(MOORE);
    let mut digits = vec![0; length(cells)];
    for i in (0..ALL).filter(|&i| i & !mask(cells) == 0 && rule.is_alive(i)) {
        let bit = packed(i, cells);
        digits[bit / 6] |= 1 << (5 - bit % 6);
    }
    digits.into_iter().map(|digit: usize| char::from(DIGITS[digit])).collect()
}
