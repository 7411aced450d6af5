//! Boards of three or four states on a device.

use gpu::life::{self as kernels, AGES_WORDS, CELLS_PER_WORD, ROWS_PER_THREAD};
use launch::{Buffer, Device, Error, Queue};

use super::grids::planar;
use crate::Board;
use crate::error::LifeError;

/// Two boards with two bits per cell: the present board and the next board.
pub(super) struct TwoBitCells {
    /// The tables of births and survivals, which the kernel reads.
    tables: &'static [u8],
    states: u32,
    /// The words of the low bits of the states, and the words of the high bits.
    pub(super) now: [Buffer<u32>; 2],
    pub(super) next: [Buffer<u32>; 2],
}

/// Returns the words of the low bits of a board's states, and the words of the high bits. For a cell that is not dead,
/// a [`Board`] stores the age, which is the state minus 1.
pub(super) fn bits(board: &Board) -> [Vec<u32>; 2] {
    let age = |i: usize, word: usize| board.ages().get(i).map_or(0, |age| age[word]);
    let words = || board.words().iter().enumerate();
    [words().map(|(i, word)| word & !age(0, i)).collect(), words().map(|(i, _)| age(0, i) | age(1, i)).collect()]
}

impl TwoBitCells {
    /// Makes a board of dead cells with `words` words per bit plane.
    pub(super) fn dead(device: &Device, tables: &'static [u8], states: u32, words: usize) -> Result<Self, Error> {
        let now = [device.zeroed(words)?, device.zeroed(words)?];
        Ok(Self { tables, states, now, next: [device.alloc(words)?, device.alloc(words)?] })
    }

    /// Makes a [`Board`] from the words of the low bits of its states and the words of the high bits.
    pub(super) fn board(&self, width: usize, [low, high]: [&[u32]; 2]) -> Result<Board, LifeError> {
        let of = |combine: fn(u32, u32) -> u32| low.iter().zip(high).map(|(&low, &high)| combine(low, high)).collect();
        let ages = vec![of(|low, high| high & !low), of(|low, high| high & low)];
        let ages = ages.into_iter().take(self.states as usize - 2).collect();
        let height = low.len() / width.div_ceil(CELLS_PER_WORD);
        Ok(Board::from_words_and_ages(width, height, of(|low, high| low | high), ages)?)
    }

    /// Enqueues a launch that advances the board by one generation.
    pub(super) fn advance(&mut self, queue: Queue<'_>, width: usize, height: usize) -> Result<(), Error> {
        let across = width.div_ceil(CELLS_PER_WORD).div_ceil(AGES_WORDS);
        let config = planar(32 * across, height.div_ceil(ROWS_PER_THREAD)).tables(self.tables);
        let ([low, high], [next_low, next_high]) = (&self.now, &mut self.next);
        let (low, high) = (low.view(), high.view());
        let (next_low, next_high) = (next_low.view_mut(), next_high.view_mut());
        let call = kernels::life_generations(low, high, next_low, next_high, width, height, self.states);
        queue.launch(config, call)?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }
}
