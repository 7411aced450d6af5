//! The tables that the kernels of other rules are given.

use gpu::life::{COUNT_TABLES, TABLES};

use super::Rule;

/// The tables of [`life_counts()`](gpu::life::life_counts) and [`life_generations()`](gpu::life::life_generations), for births and
/// survivals by bits, as [`Rule::totalistic`] gives them.
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

/// The tables of [`life_streaming()`](gpu::life::life_streaming) for a rule that counts, in even and in odd generations; none if the
/// rule is not such. A launch that begins in an odd generation takes them the other way round.
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

/// The tables of [`life_table()`](gpu::life::life_table): eight bits each of the rule's 512.
pub fn tables(rule: &Rule) -> &'static [u8] {
    let words = rule.table();
    let tables: [u8; TABLES] = std::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8]);
    launch::tables(&tables)
}
