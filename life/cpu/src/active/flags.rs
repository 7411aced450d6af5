//! One flag per tile of a board.

/// The number of tiles of a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of columns of tiles.
    pub columns: usize,
    /// The number of rows of tiles, a multiple of 64.
    pub rows: usize,
}

impl Shape {
    /// Returns the number of words that have the flags of a column.
    pub fn words(self) -> usize {
        self.rows / 64
    }

    /// Returns the position of a word of flags. Each column has one more word before and after, and the board one more
    /// column on each side.
    pub fn flag_word(self, column: usize, word: usize) -> usize {
        (column + 1) * (self.words() + 2) + word + 1
    }

    /// Returns the number of words of all flags.
    pub fn flag_words(self) -> usize {
        (self.columns + 2) * (self.words() + 2)
    }

    /// Returns the position of a tile. The board has one more tile on each side, which is dead.
    pub fn tile(self, column: usize, row: usize) -> usize {
        (column + 1) * (self.rows + 2) + row + 1
    }

    /// Returns the number of tiles, including those around the board.
    pub fn tiles(self) -> usize {
        (self.columns + 2) * (self.rows + 2)
    }

    /// Returns the (column, row) of each tile whose flag is set.
    pub fn set(self, flags: &[u64]) -> impl Iterator<Item = (usize, usize)> {
        (0..self.columns).flat_map(move |column| {
            (0..self.words()).flat_map(move |word| {
                let mut left = flags[self.flag_word(column, word)];
                std::iter::from_fn(move || {
                    let bit = left.trailing_zeros() as usize;
                    left &= left.wrapping_sub(1);
                    (bit < 64).then_some((column, 64 * word + bit))
                })
            })
        })
    }

    /// Sets the flag of a tile.
    pub fn raise(self, flags: &mut [u64], column: usize, row: usize) {
        flags[self.flag_word(column, row / 64)] |= 1 << (row % 64);
    }
}
