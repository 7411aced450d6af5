//! Encodes boards and numbers as words and bytes, for messages between ranks.

use multi::ranks::Communicator;

use crate::Board;
use crate::error::LifeError;

/// Returns the `numbers` of every rank, indexed by rank. All ranks must pass slices of the same length.
pub(super) fn gather(ranks: &dyn Communicator, numbers: &[u64]) -> Result<Vec<Vec<u64>>, LifeError> {
    let all = ranks.all_gather(bytemuck::cast_slice(numbers))?;
    Ok(all.iter().map(|bytes| bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect()).collect())
}

/// Returns the words of a board: the words of [`Board::words`], followed by the words of [`Board::ages`].
pub(super) fn words_of(board: &Board) -> Vec<u32> {
    board.planes_of_words().collect::<Vec<_>>().concat()
}

/// Makes a board from `words`, which [`words_of`] returned.
pub(super) fn board_of(width: usize, rows: usize, words: &[u32]) -> Result<Board, LifeError> {
    let mut planes = words.chunks_exact(rows * width.div_ceil(u32::BITS as usize)).map(<[u32]>::to_vec);
    let alive = planes.next().unwrap_or_default();
    Ok(Board::from_words_and_ages(width, rows, alive, planes.collect())?)
}
