//! Rules: what a cell becomes, by itself and its eight neighbours.

use std::fmt;

use thiserror::Error;

mod hensel;
mod map;
mod names;
mod parse;
mod print;

/// A rule: the next state of a cell, by the nine cells of which it is the middle.
///
/// It is read and printed as Golly writes it: `B3/S23`, `B2-a/S12` (Hensel's letters), `B2/S34H` (hexagonal),
/// `B13/S012V` (von Neumann's neighbourhood), `MAP…` (all 512 neighbourhoods in base64), `W30` (Wolfram's), `12/34/3`
/// (Generations).
///
/// ```
/// # use life::Rule;
/// let rule: Rule = "b36s23".parse()?;
/// assert_eq!(rule.to_string(), "B36/S23");
/// assert_eq!(rule, "HighLife".parse()?);
/// # Ok::<(), life::RuleError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    table: [u64; 8],
    states: u16,
}

/// A text that is no rule, or none that is supported: what is wrong, and what can be written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct RuleError(pub(super) String);

/// The most states of a cell.
pub const MOST_STATES: u16 = 256;

/// The bit of the cell itself in the number of a neighbourhood.
const CENTRE: usize = 1 << 4;

/// The neighbours among the nine cells.
const MOORE: usize = 0o757;
/// As a hexagonal grid's cells lie in a square one: without the upper right and the lower left.
const HEXAGONAL: usize = 0o653;
/// The four beside the cell.
const VON_NEUMANN: usize = 0o252;

/// Neighbourhoods.
const ALL: usize = 512;

impl Rule {
    /// Conway's Life: B3/S23.
    pub const LIFE: Self = Self::outer_totalistic(1 << 3, 1 << 2 | 1 << 3);

    /// A rule that counts the eight neighbours: a cell is born where `birth` has bit n for n live ones, and survives
    /// where `survival` has it.
    pub const fn outer_totalistic(birth: u16, survival: u16) -> Self {
        let mut table = [0; 8];
        let mut i = 0;
        while i < ALL {
            let counts = if i & CENTRE == 0 { birth } else { survival };
            if counts >> (i & MOORE).count_ones() & 1 == 1 {
                table[i / 64] |= 1 << (i % 64);
            }
            i += 1;
        }
        Self { table, states: 2 }
    }

    /// The rule that makes a cell alive after the neighbourhoods for which `is_alive` holds. They are numbered as in
    /// [`table`](Self::table).
    pub fn of(is_alive: impl Fn(usize) -> bool) -> Self {
        let mut table = [0; 8];
        for i in (0..ALL).filter(|&i| is_alive(i)) {
            table[i / 64] |= 1 << (i % 64);
        }
        Self { table, states: 2 }
    }

    /// The same rule for cells of `states` states (Generations): a live cell that does not survive goes through states
    /// 2, 3, … before it is dead; meanwhile it is no live neighbour, and nothing is born there.
    ///
    /// # Errors
    /// [`RuleError`] for fewer than two states or more than 256, and for a rule of more than two under which cells are
    /// born without neighbours.
    pub fn with_states(self, states: u16) -> Result<Self, RuleError> {
        if !(2..=MOST_STATES).contains(&states) {
            return Err(RuleError(format!("{states} states: a Generations rule has from 2 to {MOST_STATES}")));
        }
        if states > 2 && self.is_alive(0) {
            let message =
                "a Generations rule with birth without neighbours (B0): those of more than two states have none";
            return Err(RuleError(message.into()));
        }
        Ok(Self { states, ..self })
    }

    /// 512 bits, one for each neighbourhood: whether the cell in its middle is alive then. The cells are the bits of
    /// the neighbourhood's number, from the highest: upper left, above, upper right, left, the cell itself, right,
    /// lower left, below, lower right. It is bit i % 64 of word i / 64.
    ///
    /// With more than two states a bit is set for a cell of state 1.
    pub const fn table(&self) -> &[u64; 8] {
        &self.table
    }

    /// Whether the cell in the middle of `neighbourhood` is alive in the next generation.
    pub const fn is_alive(&self, neighbourhood: usize) -> bool {
        self.table[neighbourhood / 64 % 8] >> (neighbourhood % 64) & 1 == 1
    }

    /// States of a cell: 2, or up to 256 of a Generations rule.
    pub const fn states(&self) -> u16 {
        self.states
    }

    /// The next state of a cell of `state`, when those of state 1 make up `neighbourhood`.
    pub const fn next(&self, state: u8, neighbourhood: usize) -> u8 {
        match (state, self.is_alive(neighbourhood)) {
            (0 | 1, true) => 1,
            (0, false) => 0,
            _ if (state as u16) + 1 < self.states => state + 1,
            _ => 0,
        }
    }

    /// The counts of live neighbours with which a cell is born, and with which it survives, as bits; none if not the
    /// count of all eight decides.
    pub fn totalistic(&self) -> Option<(u16, u16)> {
        self.counts(MOORE)
    }

    /// [`totalistic`](Self::totalistic) for the neighbours of a mask.
    fn counts(&self, neighbours: usize) -> Option<(u16, u16)> {
        let mut counts = [0_u16; 2];
        for (centre, counts) in [0, CENTRE].into_iter().zip(&mut counts) {
            // The lowest neighbours of the mask stand for any as many.
            let mut some = centre;
            for n in 0..=neighbours.count_ones() {
                *counts |= u16::from(self.is_alive(some)) << n;
                let missing = neighbours & !some;
                some |= missing & missing.wrapping_neg();
            }
        }
        let [birth, survival] = counts;
        let is_so = |i: usize| {
            let counts = if i & CENTRE == 0 { birth } else { survival };
            counts >> (i & neighbours).count_ones() & 1 == u16::from(self.is_alive(i))
        };
        (0..ALL).all(is_so).then_some((birth, survival))
    }

    /// What to run in even and in odd generations so that cells without live neighbours stay dead.
    ///
    /// They are the rule itself, unless cells are born without neighbours (B0): then they are what Golly runs instead.
    /// Where cells of full neighbourhoods survive (S8), live and dead exchange their names for good; otherwise they do
    /// in odd generations.
    pub fn phases(&self) -> [Self; 2] {
        if !self.is_alive(0) {
            return [*self; 2];
        }
        let of = |is_alive: &dyn Fn(usize) -> bool| Self { states: self.states, ..Self::of(is_alive) };
        if self.is_alive(ALL - 1) {
            return [of(&|i| !self.is_alive(ALL - 1 - i)); 2];
        }
        [of(&|i| !self.is_alive(i)), of(&|i| self.is_alive(ALL - 1 - i))]
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::LIFE
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({self})")
    }
}

#[cfg(test)]
mod tests;
