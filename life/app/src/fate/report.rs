//! What a pattern becomes, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Fate;
use super::bodies::Body;
use super::front::{Front, contains};
use super::hull::Vector;
use crate::objects::{Counts, identify_under, name_of};
use program::report::grouped;

/// A kind of object, with the number of objects of this kind.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Kind {
    /// The apgcode.
    pub code: String,
    /// The name, for common objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// The number of objects.
    pub count: u64,
}

/// The objects of a pattern that never interact again, and the front that makes more of them.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Outcome {
    /// The objects that stay, the most common kind first.
    pub rest: Vec<Kind>,
    /// The spaceships that have escaped, the most common kind first.
    pub escaped: Vec<Kind>,
    /// What grows for ever, or `None` if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// A front: a gun, a puffer, or any other part of a pattern that grows linearly or moves for ever.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Growth {
    /// The name, for well-known fronts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// The first generation from which on the front repeats itself.
    pub since: u64,
    /// The period in generations.
    pub period: u64,
    /// The displacement in a period, as columns to the right and rows down. `None` if the front stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Vector>,
    /// The spaceships that the front emits in a period.
    pub emits: Vec<Kind>,
    /// The objects at rest that the front leaves in a period.
    pub leaves: Vec<Kind>,
}

/// A well-known front.
struct Known {
    name: &'static str,
    period: u64,
    /// The lengths of the displacement, the longer one first.
    shift: (u64, u64),
    /// The minimum population of a gun in a period, without separate gliders. `None` for puffers.
    population: Option<usize>,
    /// The apgcodes and the numbers of the spaceships that it emits in a period.
    emits: &'static [(&'static str, u64)],
    /// The objects that it leaves in a period. `None` if they differ.
    leaves: Option<&'static [(&'static str, u64)]>,
}

const KNOWN: &[Known] = &[
    Known {
        name: "Gosper glider gun",
        period: 30,
        shift: (0, 0),
        population: Some(36),
        emits: &[("xq4_153", 1)],
        leaves: Some(&[]),
    },
    Known {
        name: "block-laying switch engine",
        period: 288,
        shift: (24, 24),
        population: None,
        emits: &[],
        leaves: Some(&[("xs4_33", 8)]),
    },
    Known {
        name: "glider-producing switch engine",
        period: 384,
        shift: (32, 32),
        population: None,
        emits: &[("xq4_153", 1)],
        leaves: None,
    },
];

impl Growth {
    fn of(rule: Counts, front: &Front, since: u64) -> Self {
        let &Front { period, shift, span, population, ref new, .. } = front;
        let of_period = |is_ship: bool| {
            let mut kinds = kinds(rule, new.iter().filter(|body| body.is_ship() == is_ship));
            kinds.iter_mut().for_each(|kind| kind.count /= span / period);
            kinds
        };
        let (emits, leaves) = (of_period(true), of_period(false));
        let (x, y) = (shift.0.unsigned_abs(), shift.1.unsigned_abs());
        let is_made = |kinds: &[Kind], known: &[(&str, u64)]| {
            kinds.iter().map(|kind| (kind.code.as_str(), kind.count)).eq(known.iter().copied())
        };
        let known = KNOWN.iter().find(|known| {
            (known.period, known.shift) == (period, (x.max(y), x.min(y)))
                && is_made(&emits, known.emits)
                && known.leaves.is_none_or(|known| is_made(&leaves, known))
                && known.population.is_none_or(|known| known == population)
        });
        let shift = Some(shift).filter(|&shift| shift != (0, 0));
        Self { name: known.map(|known| known.name), since, period, shift, emits, leaves }
    }

    /// Returns the word for this kind of front.
    fn what(&self) -> &'static str {
        match (self.shift, self.emits.is_empty(), self.leaves.is_empty()) {
            (None, true, _) => "an oscillator",
            (None, false, _) => "a gun",
            (Some(_), true, true) => "a spaceship",
            (Some(_), false, true) => "a rake",
            (Some(_), _, false) => "a puffer",
        }
    }
}

impl Outcome {
    /// Returns the state of the pattern in words. `stable` has the first generation in which the objects at rest are
    /// periodic, and a description of their period, unless something grows.
    pub fn state(&self, stable: Option<(u64, String)>) -> String {
        match (&self.growth, stable) {
            (Some(Growth { since, period, .. }), _) => {
                format!("growing or moving with period {} from generation {} on", grouped(*period), grouped(*since))
            }
            (None, Some((since, _))) if self.rest.is_empty() => {
                format!("only spaceships from generation {} on", grouped(since))
            }
            (None, Some((_, text))) => format!("{text}, except for spaceships that escaped"),
            (None, None) => "not stable yet".to_owned(),
        }
    }

    /// Returns the apgcodes and the numbers of all objects at rest and of all spaceships that have escaped.
    pub fn objects(&self) -> impl Iterator<Item = (String, u64)> {
        self.rest.iter().chain(&self.escaped).map(|kind| (kind.code.clone(), kind.count))
    }

    /// Describes `fate` from generation `since` on. Only those bodies count whose cells are in `cells`, the cells of
    /// that generation sorted by row and column. The others are made later.
    pub(super) fn of(fate: &Fate, since: u64, cells: &[Vector]) -> Self {
        let growth = fate.front.as_ref().filter(|_| fate.grows()).map(|front| Growth::of(fate.rule, front, since));
        let is_there = |body: &&Body| body.cells(fate.later(since)).all(|cell| contains(cells, cell));
        Self {
            rest: kinds(fate.rule, fate.rest.iter().filter(is_there)),
            escaped: kinds(fate.rule, fate.ships.iter().filter(is_there)),
            growth,
        }
    }
}

/// The apgcode of objects that cannot be told apart.
const UNKNOWN: &str = "unidentified";

/// Counts the objects of `bodies`, the most common kind first.
fn kinds<'b>(rule: Counts, bodies: impl IntoIterator<Item = &'b Body>) -> Vec<Kind> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for body in bodies {
        for code in identify_under(rule, body.shape()).unwrap_or_else(|| vec![UNKNOWN.to_owned()]) {
            *counts.entry(code).or_default() += 1;
        }
    }
    let mut kinds: Vec<Kind> =
        counts.into_iter().map(|(code, count)| Kind { name: name_of(&code), code, count }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}

/// Returns `count` objects in words, such as "2 beehives".
fn in_words(Kind { code, name, count }: &Kind) -> String {
    let name = name.unwrap_or(code);
    let number = grouped(*count);
    let is_code = name.contains('_') || name.ends_with(|last: char| last.is_ascii_digit());
    match name {
        _ if *count == 1 || is_code => format!("{number} {name}"),
        _ => match (name.strip_suffix("loaf"), name.strip_suffix('y'), name.strip_suffix('h')) {
            (Some(begin), ..) => format!("{number} {begin}loaves"),
            (_, Some(begin), _) => format!("{number} {begin}ies"),
            (.., Some(_)) => format!("{number} {name}es"),
            _ => format!("{number} {name}s"),
        },
    }
}

fn list(kinds: &[Kind]) -> String {
    kinds.iter().map(in_words).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rest, escaped, growth } = self;
        let mut parts = Vec::new();
        if let Some(growth) = growth {
            let what = growth.name.map_or_else(|| growth.what().to_owned(), |name| format!("the {name}"));
            let mut part = format!("{what} of period {}", grouped(growth.period));
            if let Some((x, y)) = growth.shift {
                part += &format!(", shifted by ({x}, {y})");
            }
            let made = [(" emits ", &growth.emits), (" leaves ", &growth.leaves)];
            let made: Vec<_> = made.into_iter().filter(|(_, kinds)| !kinds.is_empty()).collect();
            for (i, (verb, kinds)) in made.iter().enumerate() {
                part += if i == 0 { ", which" } else { " and" };
                part += &format!("{verb}{}", list(kinds));
            }
            part += if made.is_empty() { "" } else { " per period" };
            parts.push(part);
        }
        if !rest.is_empty() {
            parts.push(list(rest));
        }
        if !escaped.is_empty() {
            parts.push(format!("{} escaped", list(escaped)));
        }
        write!(f, "became: {}", parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_in_words() {
        let kind = |code: &str, count| Kind { code: code.to_owned(), name: name_of(code), count };
        let all = [("xs4_33", 1_234), ("xs7_2596", 2), ("xs14_g88m952z121", 2), ("xq4_153", 1), ("xs9_4ehr", 3)];
        let all: Vec<_> = all.into_iter().map(|(code, count)| kind(code, count)).collect();
        let text = list(&all);
        assert!(text.starts_with("1,234 blocks, 2 loaves, 2 half-bakeries, 1 glider, 3 "), "{text}");
    }
}
