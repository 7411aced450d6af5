//! `MAP` strings: a table of neighbourhoods in base64.

use super::{ALL, CENTRE, HEXAGONAL, MOORE, Rule, RuleError, VON_NEUMANN};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The cells that a table of the neighbourhoods is of, the smallest first.
const NEIGHBOURS: [usize; 3] = [VON_NEUMANN, HEXAGONAL, MOORE];

/// Digits of a table for the cells of `mask`.
fn length(mask: usize) -> usize {
    (1_usize << mask.count_ones()).div_ceil(6)
}

/// The number of neighbourhood `i` in a table for the cells of `mask`: the bits of the mask side by side.
fn packed(i: usize, mask: usize) -> usize {
    (0..9).rev().filter(|bit| mask >> bit & 1 == 1).fold(0, |number, bit| number << 1 | (i >> bit & 1))
}

/// The rule whose table `text` is, which is what follows `MAP`.
pub(super) fn parse(text: &str) -> Result<Rule, RuleError> {
    let text = text.strip_suffix("==").unwrap_or(text);
    let mask = NEIGHBOURS.into_iter().map(|mask| mask | CENTRE).find(|&mask| length(mask) == text.len());
    let Some(mask) = mask else {
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
        let bit = packed(i, mask);
        digits[bit / 6] >> (5 - bit % 6) & 1 == 1
    }))
}

/// The rule's table in base64, for the fewest neighbours that will do.
pub(super) fn print(rule: &Rule) -> String {
    let depends_on = |mask: usize| (0..ALL).all(|i| rule.is_alive(i) == rule.is_alive(i & mask));
    let masks = NEIGHBOURS.map(|mask| mask | CENTRE);
    let mask = masks.into_iter().find(|&mask| depends_on(mask)).unwrap_or(MOORE | CENTRE);
    let mut digits = vec![0; length(mask)];
    for i in (0..ALL).filter(|&i| i & !mask == 0 && rule.is_alive(i)) {
        let bit = packed(i, mask);
        digits[bit / 6] |= 1 << (5 - bit % 6);
    }
    digits.into_iter().map(|digit: usize| char::from(DIGITS[digit])).collect()
}
