//! [`Alone`]: the communicator of a program that runs as a single rank.

use std::collections::VecDeque;

use super::{Communicator, Position, RanksError};

/// The communicator of a single rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

/// Returns the communicator of a program that runs as a single rank.
pub fn alone() -> Alone {
    Alone
}

impl Communicator for Alone {
    fn position(&self) -> Position {
        Position { rank: 0, size: 1, local_rank: 0, local_size: 1 }
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError> {
        self.position().check(sends, receives)?;
        let mut messages: VecDeque<&[u8]> = sends.iter().map(|(_, bytes)| *bytes).collect();
        for (_, into) in receives {
            let message = messages.pop_front().ok_or(RanksError::Ended(0))?;
            receive(0, message, into)?;
        }
        Ok(())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        Ok(vec![bytes.to_vec()])
    }

    fn barrier(&self) -> Result<(), RanksError> {
        Ok(())
    }
}

/// Copies `message`, which rank `from` sent, to the receive buffer `into`. Both must have the same length.
pub(super) fn receive(from: usize, message: &[u8], into: &mut [u8]) -> Result<(), RanksError> {
    if message.len() != into.len() {
        return Err(RanksError::Length { from, found: message.len(), expected: into.len() });
    }
    into.copy_from_slice(message);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_alone_sends_to_itself_alone() {
        let ranks = alone();
        let (mut first, mut second) = ([0; 2], [0; 1]);
        ranks.exchange(&[(0, &[1, 2]), (0, &[3])], &mut [(0, &mut first), (0, &mut second)]).unwrap();
        assert_eq!((first, second), ([1, 2], [3]));
        assert_eq!(ranks.exchange(&[(1, &[])], &mut []), Err(RanksError::NoRank { rank: 1, size: 1 }));
        assert_eq!(ranks.exchange(&[], &mut [(0, &mut first)]), Err(RanksError::Ended(0)));
        let length = RanksError::Length { from: 0, found: 1, expected: 2 };
        assert_eq!(ranks.exchange(&[(0, &[1])], &mut [(0, &mut first)]), Err(length));
        assert_eq!(ranks.all_gather(&[7]).unwrap(), [vec![7]]);
    }
}
