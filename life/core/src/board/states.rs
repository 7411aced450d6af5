//! Boards whose cells have more than two states.
//!
//! [`Board::words`] say which cells are not dead, hence what is alive of a board of two states. A cell's state less 1
//! is its age.

use super::{Board, SizeError, WordsError};

impl Board {
    /// A board of dead cells that may have `states` states, from 2 to 256.
    ///
    /// # Errors
    /// As for [`Board::new`].
    pub fn with_states(width: usize, height: usize, states: u16) -> Result<Self, SizeError> {
        let mut board = Self::new(width, height)?;
        for _ in 1..Self::planes(states) {
            board.ages.push(Self::new(width, height)?.words);
        }
        Ok(board)
    }

    /// Bits of a cell that may have `states` states: whether it is not dead, and those of its age.
    pub fn planes(states: u16) -> usize {
        // A live cell's age is 0, and the oldest one's is the number of states less 2.
        1 + (u16::BITS - states.saturating_sub(2).leading_zeros()) as usize
    }

    /// The board whose words are `words`, and the bits of whose ages are `ages`, the lowest first.
    ///
    /// # Errors
    /// As for [`Board::from_words`], for each of them.
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

    /// The most states that the board's cells can be of: 2, or another power of two and 1, at most 256.
    pub fn states(&self) -> u16 {
        ((1 << self.ages.len()) + 1).min(256)
    }

    /// The bits of the cells' ages, the lowest first, each laid out as [`Board::words`]. A live cell and a dead one
    /// have none.
    pub fn ages(&self) -> &[Vec<u32>] {
        &self.ages
    }

    /// The state of the cell in column `x` of row `y`: 0 if it is dead, 1 if it is alive.
    ///
    /// # Panics
    /// When the cell lies outside of the board.
    pub fn state(&self, x: usize, y: usize) -> u8 {
        let (word, bit) = self.position(x, y);
        let ages = self.ages.iter().rev();
        let age = ages.fold(0, |age, words| age << 1 | (words[word] >> bit & 1) as u8);
        age + (self.words[word] >> bit & 1) as u8
    }

    /// Gives the cell in column `x` of row `y` a state.
    ///
    /// # Panics
    /// When the cell lies outside of the board, or the board has no such state.
    pub fn set_state(&mut self, x: usize, y: usize, state: u8) {
        assert!(u16::from(state) < self.states(), "state {state} on a board of {} states", self.states());
        self.set(x, y, state > 0);
        let (word, bit) = self.position(x, y);
        let age = state.saturating_sub(1);
        for (i, words) in self.ages.iter_mut().enumerate() {
            words[word] = words[word] & !(1 << bit) | u32::from(age >> i & 1) << bit;
        }
    }
}
