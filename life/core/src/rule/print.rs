//! Prints rules in Golly's notation.

use std::fmt;

use super::{ALL, CENTRE, HEXAGONAL, MOORE, Rule, VON_NEUMANN, hensel, map};

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (halves, neighbours) = if let Some(halves) = counted(self, MOORE) {
            (halves, "")
        } else if let Some(halves) = counted(self, VON_NEUMANN) {
            (halves, "V")
        } else if let Some(halves) = counted(self, HEXAGONAL) {
            (halves, "H")
        } else if let Some(halves) = lettered(self) {
            (halves, "")
        } else {
            match (wolfram(self), self.states) {
                (Some(number), 2) => write!(f, "W{number}")?,
                _ => write!(f, "MAP{}", map::print(self))?,
            }
            return if self.states > 2 { write!(f, "/{}", self.states) } else { Ok(()) };
        };
        let [birth, survival] = halves;
        match self.states {
            2 => write!(f, "B{birth}/S{survival}{neighbours}"),
            states => write!(f, "{survival}/{birth}/{states}{neighbours}"),
        }
    }
}

/// Returns the digits for birth and for survival. Returns `None` if the rule depends on more than the number of live
/// cells among `neighbours`.
fn counted(rule: &Rule, neighbours: usize) -> Option<[String; 2]> {
    let (birth, survival) = rule.counts(neighbours)?;
    Some([birth, survival].map(|counts| (0..=8).filter(|n| counts >> n & 1 == 1).map(|n| n.to_string()).collect()))
}

/// Returns the parts for birth and survival with Hensel's letters, or `None` if the rule distinguishes directions.
fn lettered(rule: &Rule) -> Option<[String; 2]> {
    let is_isotropic =
        (0..ALL).all(|i| hensel::images(i).iter().all(|&image| rule.is_alive(image) == rule.is_alive(i)));
    let half = |centre: usize| {
        let mut text = String::new();
        for count in 0..=8_usize {
            let all: Vec<_> = hensel::shapes(count).collect();
            let (alive, dead): (Vec<_>, Vec<_>) = all.iter().partition(|(_, shape)| rule.is_alive(shape | centre));
            let letters = |some: Vec<(char, usize)>| some.into_iter().map(|(letter, _)| letter).collect::<String>();
            match (count, alive.len(), dead.len()) {
                (0, ..) if rule.is_alive(centre) => text.push('0'),
                (8, ..) if rule.is_alive(centre | MOORE) => text.push('8'),
                (0 | 8, ..) | (_, 0, _) => {}
                (_, _, 0) => text += &count.to_string(),
                (_, some, others) if some <= others + 1 => text += &format!("{count}{}", letters(alive)),
                _ => text += &format!("{count}-{}", letters(dead)),
            }
        }
        text
    };
    is_isotropic.then(|| [half(0), half(CENTRE)])
}

/// Returns the number of Wolfram's elementary rule that equals `rule`, or `None` if `rule` is not elementary.
fn wolfram(rule: &Rule) -> Option<usize> {
    let number = (0..8).filter(|above| rule.is_alive(above << 6)).fold(0, |number, above| number | 1 << above);
    (*rule == super::parse::wolfram(number)).then_some(number)
}
