//! `MAP` strings. A `MAP` string is a table of neighbourhoods in base64.

use super::{ALL, Rule, RuleError};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The cells on which a `MAP` table depends, as bit positions in the neighbourhood numbers that [`Rule::table`]
/// explains. The first cell is the highest bit of an index into the `MAP` table.
type Cells = &'static [usize];

/// All nine cells, from left to right, the upper row first.
const MOORE: Cells = &[8, 7, 6, 5, 4, 3, 2, 1, 0];
/// The cell and its orthogonal neighbours: N, W, the cell itself, E, S.
const VON_NEUMANN: Cells = &[7, 5, 4, 3, 1];
/// The hexagonal neighbourhood of two-state rules. Golly and LifeViewer number its cells from the lower row on: S, SE,
/// W, the cell itself, E, NW, N.
const HEXAGONAL: Cells = &[1, 0, 5, 4, 3, 8, 7];
/// The hexagonal neighbourhood of Generations rules. Golly numbers its cells from the upper row on.
const HEXAGONAL_GENERATIONS: Cells = &[8, 7, 5, 4, 3, 1, 0];

/// Returns the sets of cells on which a table may depend, the smallest set first.
const fn neighbourhoods(is_generations: bool) -> [Cells; 3] {
    [VON_NEUMANN, if is_generations { HEXAGONAL_GENERATIONS } else { HEXAGONAL }, MOORE]
}

/// Returns the number of base64 digits of a table that depends on `cells`.
fn length(cells: Cells) -> usize {
    (1_usize << cells.len()).div_ceil(6)
}

/// Returns the index of neighbourhood number `i` in a table that depends on `cells`.
fn packed(i: usize, cells: Cells) -> usize {
    cells.iter().fold(0, |number, bit| number << 1 | (i >> bit & 1))
}

/// Parses the table after `MAP` and returns it as a rule of two states. `is_generations` is true if a number of states
/// follows the table.
pub(super) fn parse(text: &str, is_generations: bool) -> Result<Rule, RuleError> {
    let text = text.strip_suffix("==").unwrap_or(text);
    let Some(cells) = neighbourhoods(is_generations).into_iter().find(|&cells| length(cells) == text.len()) else {
        let message = format!(
            "a MAP has 86 digits for eight neighbours, 22 for six or 6 for four, but {} were given",
            text.chars().count()
        );
        return Err(RuleError(message));
    };
    let mut digits = Vec::new();
    for character in text.chars() {
        let digit = DIGITS.iter().position(|&digit| char::from(digit) == character);
        digits.push(digit.ok_or_else(|| {
            RuleError(format!(
                "a MAP has the base64 digits A to Z, a to z, 0 to 9, + and /, but {character:?} was given"
            ))
        })?);
    }
    Ok(Rule::of(|i| {
        let bit = packed(i, cells);
        digits[bit / 6] >> (5 - bit % 6) & 1 == 1
    }))
}

/// Returns the rule's table in base64, for the smallest set of cells that determines the rule.
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
