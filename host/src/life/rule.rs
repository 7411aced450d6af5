//! Which rules and topologies a file may name.

use crate::error::UsageError;

/// The torus that `rule` names, if it does, once it is found to be Conway's.
///
/// # Errors
/// [`UsageError`] for another rule or another topology.
pub fn torus_of(rule: &str) -> Result<Option<(usize, usize)>, UsageError> {
    let (name, topology) = match rule.split_once(':') {
        Some((name, topology)) => (name, Some(topology)),
        None => (rule, None),
    };
    if !is_conways(name.trim()) {
        let name = shorten(name.trim());
        return Err(UsageError(format!("rule {name} is not supported yet: this program runs B3/S23")));
    }
    let Some(topology) = topology else { return Ok(None) };
    torus(topology).map_err(|reason| UsageError(format!("topology :{} {reason}", shorten(topology))))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_rule() {
        let rules = ["B3/S23", "b3/s23", "B3/S32", "S23/B3", "B3S23", "s23b3", "23/3", "Life", "LIFE", "Conway's Life"];
        for rule in rules {
            assert_eq!(torus_of(rule).ok(), Some(None), "{rule}");
            assert_eq!(torus_of(&format!("{rule}:T 30, 20")).ok(), Some(Some((30, 20))), "{rule}");
        }
        assert_eq!(torus_of("23/3:t5,6").ok(), Some(Some((5, 6))));
        assert_eq!(torus_of("B3/S23:T0,0").ok(), Some(None));
    }

    #[test]
    fn what_is_not_supported() {
        for rule in ["B36/S23", "B3/S23V", "23/36", "3/23", "B3/S23/3", "B3", "23", "/", "b", "LifeHistory", "é"] {
            let UsageError(text) = torus_of(rule).unwrap_err();
            assert_eq!(text, format!("rule {rule} is not supported yet: this program runs B3/S23"));
        }
        for topology in ["K30*,20", "C30,20", "S30", "P30,20", "X", "T30+5,20", "T0,20", "T30,0"] {
            let UsageError(text) = torus_of(&format!("B3/S23:{topology}")).unwrap_err();
            assert!(text.starts_with(&format!("topology :{topology} is not supported yet")), "{text}");
        }
        for topology in ["T", "T30", "T30,", "T,20", "T30,20,10", "T99999999999999999999999,1", "Tx,y"] {
            let UsageError(text) = torus_of(&format!("B3/S23:{topology}")).unwrap_err();
            assert!(text.contains("written :Tw,h"), "{text}");
        }
    }
}
