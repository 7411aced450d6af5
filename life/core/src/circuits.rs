//! The tables that a rule other than B3/S23 becomes for the kernels.

use gpu::life::{COUNT_TABLES, TABLES};

use super::Rule;

/// The tables of [`life_counts()`](gpu::life::life_counts()) and [`life_generations()`](gpu::life::life_generations()),
/// for births and survivals by bits, as [`Rule::totalistic`] gives them.
pub fn count_tables(birth: u16, survival: u16) -> &'static [u8] {
    let tables: [u8; COUNT_TABLES] = std::array::from_fn(|table| {
        let (centre, fours) = (table % 2, table / 2);
        let counts = if centre == 1 { survival } else { birth };
        (0..8)
            .map(|row| {
                let (ones, carry, twos) = (row >> 2, row >> 1 & 1, row & 1);
                // Of all nine; a sum that there cannot be may become anything.
                let neighbours = (ones + 2 * (carry + twos) + 4 * fours).checked_sub(centre);
                let is_alive = neighbours.is_some_and(|neighbours| counts >> neighbours & 1 != 0);
                u8::from(is_alive) << row
            })
            .sum()
    });
    launch::tables(&tables)
}

/// The tables of [`life_streaming()`](gpu::life::life_streaming()) for a rule that counts, in even and in odd
/// generations; none if the rule is not such. A launch that begins in an odd generation takes them the other way round.
pub fn alternating_tables(rule: &Rule) -> Option<[&'static [u8]; 2]> {
    let phases = rule.phases();
    if rule.states() != 2 || !phases.iter().all(|phase| phase.totalistic().is_some()) {
        return None;
    }
    let [even, odd] = phases.map(|phase| {
        let (birth, survival) = phase.totalistic().unwrap_or_default();
        count_tables(birth, survival)
    });
    Some([[even, odd], [odd, even]].map(|tables| launch::tables(&tables.concat())))
}

/// What the kernels have for a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Circuit {
    /// Their own: B3/S23.
    Conway,
    /// Tables by the number of live neighbours, for launches that begin in an even and in an odd generation.
    Counts([&'static [u8]; 2]),
    /// Tables of all neighbourhoods, for even and odd generations.
    Table([&'static [u8]; 2]),
    /// Tables by the number of live neighbours, and how many states there are: three or four.
    Generations(&'static [u8], u32),
}

impl Circuit {
    /// That of `rule`. There is none for more than four states, or more than two where the neighbours' places count.
    pub fn of(rule: &Rule) -> Option<Self> {
        match (rule.states(), rule.totalistic()) {
            _ if *rule == Rule::LIFE => Some(Self::Conway),
            (2, _) => {
                let any = || Self::Table(rule.phases().map(|phase| tables(&phase)));
                Some(alternating_tables(rule).map_or_else(any, Self::Counts))
            }
            (states @ 3..=4, Some((birth, survival))) => {
                Some(Self::Generations(count_tables(birth, survival), states.into()))
            }
            _ => None,
        }
    }
}

/// The tables of [`life_table()`](gpu::life::life_table()): eight bits each of the rule's 512.
pub fn tables(rule: &Rule) -> &'static [u8] {
    let words = rule.table();
    let tables: [u8; TABLES] = std::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8]);
    launch::tables(&tables)
}
