//! Rules: how a cell and its eight neighbours determine the cell's next state.

use std::fmt;

use thiserror::Error;

mod hensel;
mod map;
mod names;
mod parse;
mod print;

/// A rule, which determines the next state of a cell from the 3 × 3 cells around it.
///
/// A rule is parsed and printed in Golly's notation: `B3/S23`, `B2-a/S12` (Hensel's letters), `B2/S34H` (hexagonal),
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

/// The reason why a text is not a supported rule. The message lists the supported notations.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct RuleError(pub(super) String);

/// The maximum number of states of a cell.
pub const MAX_STATES: u16 = 256;

/// The bit of the middle cell in the number of a neighbourhood.
const CENTRE: usize = 1 << 4;

/// The bits of the eight neighbours in the number of a neighbourhood.
const MOORE: usize = 0o757;
/// The bits of the six hexagonal neighbours in the number of a neighbourhood: all eight except NE and SW.
const HEXAGONAL: usize = 0o653;
/// The bits of the four orthogonal neighbours in the number of a neighbourhood.
const VON_NEUMANN: usize = 0o252;

/// The number of possible neighbourhoods, which are 3 × 3 cells.
const ALL: usize = 512;

impl Rule {
    /// Conway's Life: B3/S23.
    pub const LIFE: Self = Self::outer_totalistic(1 << 3, 1 << 2 | 1 << 3);

    /// Makes a rule that counts the eight neighbours. With n live neighbours, a cell is born if bit n of `birth` is
    /// set, and survives if bit n of `survival` is set.
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

    /// Makes a rule from a function. A cell is alive in the next generation if `is_alive` returns true for the number
    /// of its neighbourhood. [`table`](Self::table) explains these numbers.
    pub fn of(is_alive: impl Fn(usize) -> bool) -> Self {
        let mut table = [0; 8];
        for i in (0..ALL).filter(|&i| is_alive(i)) {
            table[i / 64] |= 1 << (i % 64);
        }
        Self { table, states: 2 }
    }

    /// Returns the same rule with `states` states (Generations). Under that rule, a live cell that does not survive
    /// passes through the states 2, 3, … before it is dead. A cell in these states does not count as a live neighbour,
    /// and cannot be born.
    ///
    /// # Errors
    /// [`RuleError`] if `states` is not from 2 to 256. Also if `states` is more than two and the rule has births
    /// without neighbours.
    pub fn with_states(self, states: u16) -> Result<Self, RuleError> {
        if !(2..=MAX_STATES).contains(&states) {
            return Err(RuleError(format!(
                "a Generations rule has from 2 to {MAX_STATES} states, but {states} was given"
            )));
        }
        if states > 2 && self.is_alive(0) {
            let message = "a rule of more than two states cannot have birth without neighbours (B0): leave out the 0";
            return Err(RuleError(message.into()));
        }
        Ok(Self { states, ..self })
    }

    /// Returns one bit for each of the 512 neighbourhoods: set if the middle cell is alive in the next generation. Each
    /// bit of a neighbourhood's number is one cell. From the highest bit, the cells are NW, N, NE, W, the cell itself,
    /// E, SW, S, SE. Neighbourhood i is bit i % 64 of word i / 64.
    ///
    /// For rules of more than two states, only cells in state 1 count as alive.
    pub const fn table(&self) -> &[u64; 8] {
        &self.table
    }

    /// Returns true if the middle cell of `neighbourhood` is alive in the next generation.
    pub const fn is_alive(&self, neighbourhood: usize) -> bool {
        self.table[neighbourhood / 64 % 8] >> (neighbourhood % 64) & 1 == 1
    }

    /// Returns the number of states of a cell: 2, or up to 256 for Generations.
    pub const fn states(&self) -> u16 {
        self.states
    }

    /// Returns the next state of a cell in state `state`. In `neighbourhood`, the bits of the cells in state 1 must be
    /// set.
    pub const fn next(&self, state: u8, neighbourhood: usize) -> u8 {
        match (state, self.is_alive(neighbourhood)) {
            (0 | 1, true) => 1,
            (0, false) => 0,
            _ if (state as u16) + 1 < self.states => state + 1,
            _ => 0,
        }
    }

    /// Returns the numbers of live neighbours for birth and for survival, as two masks: bit n stands for n live
    /// neighbours. Returns `None` if the rule depends on more than the number of live cells among the eight neighbours.
    pub fn totalistic(&self) -> Option<(u16, u16)> {
        self.counts(MOORE)
    }

    /// Returns the same masks as [`totalistic`](Self::totalistic), but counts only the neighbours in the mask
    /// `neighbours`.
    fn counts(&self, neighbours: usize) -> Option<(u16, u16)> {
        let mut counts = [0_u16; 2];
        for (centre, counts) in [0, CENTRE].into_iter().zip(&mut counts) {
            // It suffices to test one choice of n neighbours: the n lowest bits of the mask.
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

    /// Returns two rules, one for even and one for odd generations, under which dead cells without live neighbours stay
    /// dead.
    ///
    /// If the rule has no births without neighbours (B0), returns the rule itself twice. Otherwise returns the two
    /// rules by which Golly emulates the rule. If the rule also has survival with eight neighbours (S8), the emulation
    /// shows live and dead cells exchanged in all generations. Otherwise it shows them exchanged only in odd
    /// generations.
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
