//! Parses rules in all supported notations.

use std::str::FromStr;

use super::{ALL, CENTRE, HEXAGONAL, MOORE, Rule, RuleError, VON_NEUMANN, hensel, map, names};

/// The supported notations, as error messages list them.
const SUPPORTED: &str = "B3/S23 (and 23/3 or b3s23), Hensel's letters as in B2-a/S12, H or V at the end for hexagonal \
                         (also B2o/S3mH) and von Neumann neighbours, MAP and base64, W30, Generations such as \
                         12/34/3, and names such as HighLife";

const NO_TABLES: &str = "rule tables and trees (Golly's .rule files) are not supported";

/// The maximum length of a rule in bytes. The longest MAP, with 86 digits and a number of states, has 94 bytes.
const MAX_BYTES: usize = 500;

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(RuleError(format!("a rule is missing: write {SUPPORTED}")));
        }
        let refused = |why: String| RuleError(format!("rule {}: {why}", shorten(text)));
        let given = text.len();
        if given > MAX_BYTES {
            return Err(refused(format!(
                "a rule has at most {MAX_BYTES} bytes, but {given} were given: write {SUPPORTED}"
            )));
        }
        if let Some((_, grid)) = text.split_once(':') {
            let grid = shorten(grid);
            return Err(refused(format!(":{grid} is a topology, but only a rule is allowed here: leave it out")));
        }
        let without_history = without_history(text).map(named_or_written);
        let is_annotated = |read: &Result<Rule, _>| !matches!(read, Ok(rule) if rule.states() > 2);
        let read = without_history.filter(is_annotated).unwrap_or_else(|| named_or_written(text));
        read.map_err(|RuleError(why)| refused(why))
    }
}

/// Returns `text` without the ending "History", or `None` if `text` has another ending. The ending marks rules with
/// additional states that only annotate cells, such as `LifeHistory` and `B36/S23History`.
fn without_history(text: &str) -> Option<&str> {
    let (of, history) = text.split_at_checked(text.len().checked_sub("History".len())?)?;
    (history.eq_ignore_ascii_case("History") && !of.trim().is_empty() && !is_map(of)).then_some(of)
}

fn is_map(text: &str) -> bool {
    text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("map"))
}

/// Parses the name of a rule or a rule in one of the notations.
fn named_or_written(text: &str) -> Result<Rule, RuleError> {
    let written = rule(names::rule_of(text).unwrap_or(text));
    let no_name = || RuleError(format!("no rule is known by this name, and {NO_TABLES}: write {SUPPORTED}"));
    written.map_err(|error| if is_word(text) { no_name() } else { error })
}

/// Returns true if `text` looks like a name: it begins with two letters, contains no `/` or `,`, and is no MAP.
fn is_word(text: &str) -> bool {
    text.chars().take(2).filter(|c| c.is_alphabetic()).count() == 2 && !text.contains(['/', ',']) && !is_map(text)
}

/// Escapes and shortens a text for a message.
fn shorten(text: &str) -> String {
    const MAX: usize = 40;
    let mut short: String = text.chars().take(MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX).is_some() {
        short.push('…');
    }
    short
}

fn rule(text: &str) -> Result<Rule, RuleError> {
    if is_map(text) {
        let digits = &text[3..];
        // A slash is also a base64 digit. A number of states can therefore follow only after a complete table.
        let length = [86, 22, 6].into_iter().find(|&length| digits.len() == length || has_states(digits, length));
        let (table, states) = length.map_or((digits, ""), |length| digits.split_at(length));
        let states = states.trim_start_matches("==");
        let table = map::parse(table, !states.is_empty())?;
        return if states.is_empty() { Ok(table) } else { table.with_states(number(&states[1..])?) };
    }
    let text: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    if is_larger_than_life(&text) {
        return Err(RuleError(format!("Larger-than-Life rules are not supported: write {SUPPORTED}")));
    }
    if let Some(digits) = text.strip_prefix('w')
        && let Ok(number) = digits.parse::<usize>()
    {
        return match number {
            0..=254 if number.is_multiple_of(2) => Ok(wolfram(number)),
            _ => Err(RuleError(format!("a Wolfram rule needs an even number from 0 to 254, but {number} was given"))),
        };
    }
    if let Some(unknown) = text.chars().find(|c| !"0123456789bscghvaeijknqrtwyzomp-/_".contains(*c)) {
        return Err(RuleError(format!(
            "{unknown:?} is not allowed in a rule of counts, and {NO_TABLES}: write {SUPPORTED}"
        )));
    }
    counts(&text)
}

/// Returns true if `digits` consists of `length` digits of a MAP, a slash and a number of states.
fn has_states(digits: &str, length: usize) -> bool {
    let states = digits.get(length..).map(|rest| rest.trim_start_matches("=="));
    states.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/') && rest[1..].bytes().all(|b| b.is_ascii_digit()))
}

/// Returns true for rules that have a range (the family Larger than Life), such as Golly's `R5,C0,…` and Evans's
/// `5,34,58,…`.
fn is_larger_than_life(text: &str) -> bool {
    let is_of_numbers = text.contains(',') && text.chars().all(|c| c.is_ascii_digit() || c == ',');
    is_of_numbers || text.strip_prefix('r').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns Wolfram's elementary rule with this number. Under this rule, each row determines the next row below it.
pub(super) fn wolfram(number: usize) -> Rule {
    Rule::of(|i| number >> (i >> 6) & 1 == 1 || i & CENTRE != 0)
}

/// Parses a number of states.
fn number(text: &str) -> Result<u16, RuleError> {
    let digits = text.trim_start_matches(['c', 'g']);
    digits.parse().map_err(|_| {
        RuleError(format!("the number of states must be from 2 to 256, but {:?} was given", shorten(text)))
    })
}

/// Parses a rule of neighbour counts, with or without Hensel's letters.
fn counts(text: &str) -> Result<Rule, RuleError> {
    let (text, neighbours) = match text.strip_suffix(['h', 'v']) {
        Some(rest) if text.ends_with('h') => (rest, HEXAGONAL),
        Some(rest) => (rest, VON_NEUMANN),
        None => (text, MOORE),
    };
    let mut parts: Vec<&str> = text.split(['/', '_']).collect();
    // `H` and `V` are also allowed before the number of states.
    let neighbours = match &mut parts[..] {
        [_, second, _] if second.ends_with(['h', 'v']) && neighbours == MOORE => {
            let neighbours = if second.ends_with('h') { HEXAGONAL } else { VON_NEUMANN };
            *second = &second[..second.len() - 1];
            neighbours
        }
        _ => neighbours,
    };
    let (first, second, states) = match parts[..] {
        [one] => {
            let (states, one) = catagolue(one);
            let (first, second) = one.split_at(one.rfind(['b', 's']).unwrap_or(0));
            if !one.starts_with(['b', 's']) {
                return Err(RuleError(format!(
                    "it has neither a slash nor B or S, and {NO_TABLES}: write {SUPPORTED}"
                )));
            }
            (first, second, states)
        }
        [first, second] => (first, second, None),
        [first, second, states] => (first, second, Some(states)),
        _ => return Err(RuleError("a rule has at most two slashes, but more were given: write 12/34/3".into())),
    };
    let [birth, survival] = halves(first, second)?;
    let (birth, survival) = (half(birth, neighbours)?, half(survival, neighbours)?);
    let rule = Rule::of(|i| if i & CENTRE == 0 { birth(i) } else { survival(i) });
    match states {
        Some(states) => rule.with_states(number(states)?),
        None => Ok(rule),
    }
}

/// Splits Catagolue's notation, such as `g5b357s3457` for 5 states, into the number of states and the rest.
fn catagolue(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix('g') else { return (None, text) };
    let (states, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    (Some(states), rest)
}

/// Returns the parts of a rule for birth and for survival, without the letters B and S. If the text lacks these
/// letters, the first part is for survival.
fn halves<'t>(first: &'t str, second: &'t str) -> Result<[&'t str; 2], RuleError> {
    let kind = |part: &str| part.chars().next().filter(|c| matches!(c, 'b' | 's'));
    let rest = |part: &'t str| part.strip_prefix(['b', 's']).unwrap_or(part);
    let halves = match (kind(first), kind(second)) {
        (Some('b'), Some('s') | None) | (None, Some('s')) => [rest(first), rest(second)],
        (Some('s'), Some('b') | None) | (None, Some('b') | None) => [rest(second), rest(first)],
        _ => return Err(RuleError("B and S must have one half of the rule each: write B3/S23".into())),
    };
    match halves.into_iter().any(|half| half.contains(['b', 's'])) {
        true => Err(RuleError("B and S must stand before the counts of their half: write B3/S23".into())),
        false => Ok(halves),
    }
}

/// Returns a function that returns true for neighbourhoods that match the counts and letters of `text`.
fn half(text: &str, neighbours: usize) -> Result<impl Fn(usize) -> bool + use<>, RuleError> {
    let max = neighbours.count_ones() as usize;
    let mut is_in = vec![false; ALL];
    let mut rest = text;
    while let Some(digit) = rest.chars().next() {
        let Some(count) = digit.to_digit(10).map(|count| count as usize) else {
            return Err(RuleError(format!("a count of neighbours is expected, but {digit:?} was given: write B3/S23")));
        };
        if count > max {
            return Err(RuleError(format!(
                "{count} neighbours were given, but a cell has {max}: write counts up to {max}"
            )));
        }
        rest = &rest[1..];
        let all_but = rest.strip_prefix('-');
        rest = all_but.unwrap_or(rest);
        let (letters, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len()));
        rest = after;
        let named = named(count, letters, neighbours)?;
        // Like Golly, the parser ignores a minus without letters.
        let inverted = all_but.is_some() && !letters.is_empty();
        for (i, is_in) in is_in.iter_mut().enumerate().filter(|(i, _)| (i & neighbours).count_ones() as usize == count)
        {
            *is_in |= letters.is_empty() || named.contains(&(i & neighbours)) != inverted;
        }
    }
    Ok(move |i: usize| is_in[i])
}

/// Returns the neighbourhoods with `count` live cells among `neighbours` that match `letters`. The letters are Hensel's
/// for eight neighbours, and Callahan's for hexagonal ones.
fn named(count: usize, letters: &str, neighbours: usize) -> Result<Vec<usize>, RuleError> {
    if !letters.is_empty() && neighbours == VON_NEUMANN {
        return Err(RuleError(
            "letters after a count need eight neighbours or H, but V was given: leave out the letters".into(),
        ));
    }
    let is_hexagonal = neighbours == HEXAGONAL;
    let known: String = match is_hexagonal {
        true if (2..=4).contains(&count) => hensel::OF_HEXAGONS.to_owned(),
        true => String::new(),
        false => hensel::shapes(count).map(|(letter, _)| letter).collect(),
    };
    if let Some(letter) = letters.chars().find(|&letter| !known.contains(letter)) {
        let remedy = if known.is_empty() { "leave it out".to_owned() } else { format!("use letters of {known:?}") };
        return Err(RuleError(format!("{count} has no letter {letter:?}: {remedy}")));
    }
    if is_hexagonal {
        let is_named = |&shape: &usize| hensel::of_hexagon(shape).is_some_and(|letter| letters.contains(letter));
        return Ok((0..ALL).filter(|shape| shape & !HEXAGONAL == 0).filter(is_named).collect());
    }
    let shapes = hensel::shapes(count).filter(|&(letter, _)| letters.contains(letter));
    Ok(shapes.flat_map(|(_, shape)| hensel::images(shape)).collect())
}
