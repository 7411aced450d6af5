//! The tables that the kernels read for rules other than B3/S23.

use gpu::life::{COUNT_TABLES, TABLES};

use super::Rule;

/// Returns the tables that [`life_counts()`](gpu::life::life_counts()) and
/// [`life_generations()`](gpu::life::life_generations()) read. `birth` and `survival` are the bits that
/// [`Rule::totalistic`] returns.
pub fn count_tables(birth: u16, survival: u16) -> &'static [u8] {
    let tables: [u8; COUNT_TABLES] = std::array::from_fn(|table| {
        let (centre, fours) = (table % 2, table / 2);
        let counts = if centre == 1 { survival } else { birth };
        (0..8)
            .map(|row| {
                let (ones, carry, twos) = (row >> 2, row >> 1 & 1, row & 1);
                // The number of live cells among all nine, minus the centre. Sums that cannot occur may have any entry.
                let neighbours = (ones + 2 * (carry + twos) + 4 * fours).checked_sub(centre);
                let is_alive = neighbours.is_some_and(|neighbours| counts >> neighbours & 1 != 0);
                u8::from(is_alive) << row
            })
            .sum()
    });
    launch::tables(&tables)
}

/// The method by which a kernel computes a rule: a circuit or tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Circuit {
    /// The circuit for B3/S23 that is built into the kernels.
    Conway,
    /// Tables indexed by the number of live neighbours. Launches that begin in an even generation use the first array,
    /// other launches the second.
    Counts([&'static [u8]; 2]),
    /// Tables indexed by the neighbourhood. Even generations use the first array, odd generations the second.
    Table([&'static [u8]; 2]),
    /// Tables indexed by the number of live neighbours. The second field is the number of states, three or four.
    Generations(&'static [u8], u32),
}

impl Circuit {
    /// Returns the circuit of `rule`, or `None` if no kernel supports the rule. No kernel supports rules of more than
    /// four states. Rules of three or four states are supported only if they depend on the number of live neighbours.
    pub fn of(rule: &Rule) -> Option<Self> {
        if *rule == Rule::LIFE {
            return Some(Self::Conway);
        }
        let (states, phases) = (rule.states(), rule.phases());
        match (states, phases.map(|phase| phase.totalistic())) {
            (2, [Some(even), Some(odd)]) => {
                let [even, odd] = [even, odd].map(|(birth, survival)| count_tables(birth, survival));
                Some(Self::Counts([[even, odd], [odd, even]].map(|tables| launch::tables(&tables.concat()))))
            }
            (2, _) => Some(Self::Table(phases.map(|phase| tables(&phase)))),
            (3..=4, [Some((birth, survival)), _]) => {
                Some(Self::Generations(count_tables(birth, survival), states.into()))
            }
            _ => None,
        }
    }
}

/// Returns the tables that [`life_table()`](gpu::life::life_table()) reads. The tables contain the rule's 512 bits,
/// eight per table.
pub fn tables(rule: &Rule) -> &'static [u8] {
    let words = rule.table();
    let tables: [u8; TABLES] = std::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8]);
    launch::tables(&tables)
}
