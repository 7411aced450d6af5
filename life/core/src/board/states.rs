//! Boards whose cells have more than two states.
//!
//! In [`Board::words`], the bits of all cells that are not dead are set. The age of such a cell is its state minus 1.

use super::{Board, SizeError, WordsError};

impl Board {
    /// Makes a board of dead cells for rules of `states` states, from 2 to 256.
    ///
    /// # Errors
    /// Fails in the same cases as [`Board::new`].
    pub fn with_states(width: usize, height: usize, states: u16) -> Result<Self, SizeError> {
        let mut board = Self::new(width, height)?;
        for _ in 1..Self::planes(states) {
            board.ages.push(Self::new(width, height)?.words);
        }
        Ok(board)
    }

    /// Returns the number of bits per cell for rules of `states` states. One bit says that the cell is not dead. The
    /// other bits are the cell's age.
    pub fn planes(states: u16) -> usize {
        // The lowest age is 0 (live cells), and the highest age is the number of states minus 2.
        1 + (u16::BITS - states.saturating_sub(2).leading_zeros()) as usize
    }

    /// Makes a board whose packed rows are `words` and whose cells have the `ages`. `ages` has one vector per bit of
    /// the ages, the lowest bit first.
    ///
    /// # Errors
    /// Fails in the same cases as [`Board::from_words`], for `words` and for each vector of `ages`.
    pub fn from_words_and_ages(
        width: usize,
        height: usize,
        words: Vec<u32>,
        ages: Vec<Vec<u32>>,
    ) -> Result<Self, WordsError> {
        let mut board = Self::from_words(width, height, words)?;
        for age in ages {
            board.ages.push(Self::from_words(width, height, age)?.words);
        }
        Ok(board)
    }

    /// Returns the maximum number of states that the board can store: 2ⁿ + 1 for ages of n bits, but at most 256.
    pub fn states(&self) -> u16 {
        ((1 << self.ages.len()) + 1).min(256)
    }

    /// Returns one vector per bit of the cells' ages, the lowest bit first, each in the layout of [`Board::words`].
    /// Live and dead cells have age 0.
    pub fn ages(&self) -> &[Vec<u32>] {
        &self.ages
    }

    /// Returns the words of each bit plane: first the words of [`Board::words`], then the words of each bit of
    /// [`Board::ages`].
    pub(crate) fn planes_of_words(&self) -> impl Iterator<Item = &[u32]> {
        [&self.words].into_iter().chain(&self.ages).map(|words| &words[..])
    }

    /// Returns the state of the cell in column `x` of row `y`. The state is 0 for a dead cell, 1 for a live cell, and
    /// higher for a dying cell.
    ///
    /// # Panics
    /// If the cell is outside the board.
    pub fn state(&self, x: usize, y: usize) -> u8 {
        let (word, bit) = self.position(x, y);
        let ages = self.ages.iter().rev();
        let age = ages.fold(0, |age, words| age << 1 | (words[word] >> bit & 1) as u8);
        age + (self.words[word] >> bit & 1) as u8
    }

    /// Sets the state of the cell in column `x` of row `y`.
    ///
    /// # Panics
    /// If the cell is outside the board, or the board cannot store the state.
    pub fn set_state(&mut self, x: usize, y: usize, state: u8) {
        assert!(u16::from(state) < self.states(), "state {state} was given to a board of {} states", self.states());
        self.set(x, y, state > 0);
        let (word, bit) = self.position(x, y);
        let age = state.saturating_sub(1);
        for (i, words) in self.ages.iter_mut().enumerate() {
            words[word] = words[word] & !(1 << bit) | u32::from(age >> i & 1) << bit;
        }
    }
}
