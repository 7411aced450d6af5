//! The header line `x = m, y = n, rule = …`, and the rules that it may name.

use super::cursor::Cursor;
use gridstride::life::ParseError;

/// What the header says.
pub(super) struct Header {
    /// `x`, columns.
    pub(super) width: usize,
    /// `y`, rows.
    pub(super) height: usize,
    /// The torus of the rule, where there is a rule.
    pub(super) rule: Option<Option<(usize, usize)>>,
}

/// Reads the header line that the cursor stands at.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Header, ParseError> {
    match cursor.skip_white_space() {
        None => return Err(cursor.end_error(format!("the text ends here without a header: {EXPECTED}"))),
        Some(b'x' | b'X') => {}
        Some(_) => return Err(cursor.error(format!("the header is missing: {EXPECTED}"))),
    }
    let width = assignment(cursor, "x")?;
    expect(cursor, ",")?;
    let height = assignment(cursor, "y")?;
    let rule = if cursor.skip_blanks().is_some() {
        expect(cursor, ",")?;
        expect(cursor, "rule")?;
        expect(cursor, "=")?;
        cursor.skip_blanks();
        let place = cursor.clone();
        Some(check_rule(cursor.rest_of_line(), &place)?)
    } else {
        None
    };
    Ok(Header { width, height, rule })
}

/// What a header looks like.
const EXPECTED: &str = "a line such as `x = 3, y = 3, rule = B3/S23` comes before the cells";

/// Reads `name = number`.
fn assignment(cursor: &mut Cursor<'_>, name: &str) -> Result<usize, ParseError> {
    expect(cursor, name)?;
    expect(cursor, "=")?;
    cursor.skip_blanks();
    cursor
        .number()?
        .ok_or_else(|| cursor.error(format!("expected a number for the header's `{name}`, found {}", cursor.found())))
}

/// Reads `word`, in either case, after blanks.
fn expect(cursor: &mut Cursor<'_>, word: &str) -> Result<(), ParseError> {
    cursor.skip_blanks();
    let start = cursor.clone();
    for wanted in word.bytes() {
        if cursor.peek().is_none_or(|byte| byte.to_ascii_lowercase() != wanted) {
            return Err(start.error(format!("expected `{word}` in the header, found {}", start.found())));
        }
        cursor.advance(1);
    }
    Ok(())
}

/// The torus of `rule`, which stands at `place`, once it is found to be Conway's.
pub(super) fn check_rule(rule: &str, place: &Cursor<'_>) -> Result<Option<(usize, usize)>, ParseError> {
    let (name, topology) = match rule.split_once(':') {
        Some((name, topology)) => (name, Some(topology)),
        None => (rule, None),
    };
    if name.trim().is_empty() {
        return Err(place.error("the rule is empty: write `rule = B3/S23`, or leave it out".to_owned()));
    }
    if !is_conways(name.trim()) {
        let name = shorten(name.trim());
        return Err(place.error(format!("rule {name} is not supported yet: this program runs B3/S23")));
    }
    let Some(topology) = topology else { return Ok(None) };
    let mut place = place.clone();
    place.advance(name.len());
    torus(topology).map_err(|reason| place.error(format!("topology :{} {reason}", shorten(topology))))
}

/// Whether a rule is B3/S23.
fn is_conways(rule: &str) -> bool {
    const NAMES: [&str; 4] = ["life", "conway's life", "conway's game of life", "game of life"];
    let rule = rule.to_lowercase();
    let (first, second) = match rule.split_once('/') {
        Some(halves) => halves,
        None => rule.split_at(rule.rfind(['b', 's']).unwrap_or(0)),
    };
    let (birth, survival) = match (first.strip_prefix('b'), second.strip_prefix('s')) {
        (Some(birth), Some(survival)) => (birth, survival),
        _ => match (first.strip_prefix('s'), second.strip_prefix('b')) {
            (Some(survival), Some(birth)) => (birth, survival),
            _ => (second, first),
        },
    };
    NAMES.contains(&&rule[..]) || birth == "3" && (survival == "23" || survival == "32")
}

/// The torus of a topology `Tw,h`, or what is wrong with it.
fn torus(topology: &str) -> Result<Option<(usize, usize)>, &'static str> {
    let topology = topology.trim();
    let Some(sizes) = topology.strip_prefix(['T', 't']) else {
        return Err("is not supported yet: this program runs on a torus, written :Tw,h");
    };
    if sizes.contains(['+', '-', '*']) {
        return Err("is not supported yet: this program runs on a torus without shift or twist, written :Tw,h");
    }
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok())?;
    let sizes = sizes.split_once(',').and_then(|(width, height)| Some((number(width.trim())?, number(height.trim())?)));
    match sizes {
        None => Err("is no torus: it is written :Tw,h, with a width and a height"),
        Some((0, 0)) => Ok(None),
        Some((0, _) | (_, 0)) => Err("is not supported yet: this program runs on a torus bounded in both directions"),
        Some(sizes) => Ok(Some(sizes)),
    }
}

/// A text as a message quotes it: printable, and not too long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
