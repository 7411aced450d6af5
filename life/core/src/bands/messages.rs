//! Messages between ranks: boards and numbers.

use crate::Board;
use crate::error::LifeError;
use multi::ranks::Communicator;

/// Words that are sent to a rank or received from one.
pub(super) enum Message<'a> {
    To(usize, &'a [u32]),
    From(usize, &'a mut [u32]),
}

/// Bytes that are sent to a rank or received from one.
pub(super) enum Way<'a> {
    To(usize, &'a [u8]),
    From(usize, &'a mut [u8]),
}

impl<'a> From<Message<'a>> for Way<'a> {
    fn from(message: Message<'a>) -> Self {
        match message {
            Message::To(rank, words) => Self::To(rank, bytemuck::cast_slice(words)),
            Message::From(rank, words) => Self::From(rank, bytemuck::cast_slice_mut(words)),
        }
    }
}

/// Sends and receives all messages. Messages between two ranks keep their order.
pub(super) fn exchange(ranks: &dyn Communicator, messages: Vec<Message<'_>>) -> Result<(), LifeError> {
    exchange_bytes(ranks, messages.into_iter().map(Way::from).collect())
}

/// Like [`exchange`], for bytes.
pub(super) fn exchange_bytes(ranks: &dyn Communicator, ways: Vec<Way<'_>>) -> Result<(), LifeError> {
    let mut sends: Vec<(usize, &[u8])> = Vec::new();
    let mut receives: Vec<(usize, &mut [u8])> = Vec::new();
    for way in ways {
        match way {
            Way::To(rank, bytes) => sends.push((rank, bytes)),
            Way::From(rank, bytes) => receives.push((rank, bytes)),
        }
    }
    Ok(ranks.exchange(&sends, &mut receives)?)
}

/// Returns the numbers of each rank, by rank. All ranks must pass equally many.
pub(super) fn all(ranks: &dyn Communicator, numbers: &[u64]) -> Result<Vec<Vec<u64>>, LifeError> {
    if ranks.size() == 1 {
        return Ok(vec![numbers.to_vec()]);
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    Ok(ranks.all_gather(&bytes)?.iter().map(|bytes| bytes.chunks(8).map(number).collect()).collect())
}

/// Returns the numbers of all ranks, concatenated by rank.
pub(super) fn all_of_any(ranks: &dyn Communicator, numbers: &[u64]) -> Result<Vec<u64>, LifeError> {
    Ok(all(ranks, numbers)?.concat())
}

/// Returns the words of a board, followed by the bits of its ages.
pub(super) fn words_of(board: &Board) -> Vec<u32> {
    [board.words()].into_iter().chain(board.ages().iter().map(|age| &age[..])).collect::<Vec<_>>().concat()
}

/// Makes a board of the words that [`words_of`] returned.
pub(super) fn board_of(width: usize, rows: usize, words: &[u32]) -> Result<Board, LifeError> {
    let mut planes = words.chunks_exact(rows * width.div_ceil(u32::BITS as usize)).map(<[u32]>::to_vec);
    let alive = planes.next().unwrap_or_default();
    Ok(Board::from_words_and_ages(width, rows, alive, planes.collect())?)
}
