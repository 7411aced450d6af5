//! The communicator of the first ranks of another communicator.

use super::{Communicator, Position, RanksError};

/// The communicator of the first `size` ranks of another communicator. The remaining ranks must not call its functions.
pub(crate) struct FirstRanks<'r> {
    ranks: &'r dyn Communicator,
    size: usize,
}

impl<'r> FirstRanks<'r> {
    pub(crate) fn new(ranks: &'r dyn Communicator, size: usize) -> Self {
        Self { ranks, size: size.min(ranks.size()) }
    }
}

impl Communicator for FirstRanks<'_> {
    fn position(&self) -> Position {
        let Position { rank, local_rank, local_size, .. } = self.ranks.position();
        Position { rank, size: self.size, local_rank, local_size: local_size.min(self.size) }
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError> {
        self.position().check(sends, receives)?;
        self.ranks.exchange(sends, receives)
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        if self.size == self.ranks.size() {
            return self.ranks.all_gather(bytes);
        }
        let me = self.rank();
        let others = || (0..self.size).filter(|&rank| rank != me);
        let own_len = (bytes.len() as u64).to_le_bytes();
        let mut lens = vec![own_len; self.size];
        let to = |bytes| others().map(|rank| (rank, bytes)).collect::<Vec<(usize, &[u8])>>();
        let of_others = |(rank, _): &(usize, _)| *rank != me;
        let mut receives: Vec<(usize, &mut [u8])> =
            lens.iter_mut().map(|len| &mut len[..]).enumerate().filter(|(rank, _)| *rank != me).collect();
        self.exchange(&to(&own_len), &mut receives)?;
        let mut all: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0; u64::from_le_bytes(len) as usize]).collect();
        all[me].copy_from_slice(bytes);
        let mut receives: Vec<(usize, &mut [u8])> =
            all.iter_mut().map(|bytes| &mut bytes[..]).enumerate().filter(of_others).collect();
        self.exchange(&to(bytes), &mut receives)?;
        Ok(all)
    }

    fn barrier(&self) -> Result<(), RanksError> {
        self.all_gather(&[]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::in_threads;

    #[test]
    fn the_first_ranks_talk_and_the_others_take_no_part() {
        for size in 1..=3 {
            let gathered = in_threads(3, |ranks| {
                let first = FirstRanks::new(ranks, size);
                let own = vec![ranks.rank() as u8; 1 + ranks.rank()];
                (ranks.rank() < size).then(|| (first.size(), first.all_gather(&own).unwrap(), first.barrier()))
            });
            let expected: Vec<Vec<u8>> = (0..size).map(|rank| vec![rank as u8; 1 + rank]).collect();
            for (rank, gathered) in gathered.into_iter().enumerate() {
                assert_eq!(gathered, (rank < size).then(|| (size, expected.clone(), Ok(()))));
            }
            let error = in_threads(3, |ranks| FirstRanks::new(ranks, 2).exchange(&[(2, &[])], &mut []));
            assert_eq!(error, vec![Err(RanksError::NoRank { rank: 2, size: 2 }); 3]);
        }
    }
}
