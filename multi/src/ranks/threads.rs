//! Ranks that are threads of one process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::alone::receive;
use super::{Communicator, Position, RanksError};

/// Runs `work` on `size` ranks, one thread per rank, and returns the results in the order of the ranks. If a rank waits
/// for another rank whose work has ended or panicked, the call that waits returns [`RanksError::Ended`].
///
/// ```
/// use multi::ranks::in_threads;
///
/// let sums = in_threads(3, |ranks| {
///     let all = ranks.all_gather(&[ranks.rank() as u8]).unwrap();
///     all.iter().map(|bytes| bytes[0]).sum::<u8>()
/// });
/// assert_eq!(sums, [3, 3, 3]);
/// ```
///
/// # Panics
/// Panics if the work of a rank panics. The function first waits until all ranks have ended.
pub fn in_threads<R: Send>(size: usize, work: impl Fn(&dyn Communicator) -> R + Sync) -> Vec<R> {
    let shared = Shared { state: Mutex::new(State::default()), changed: Condvar::new() };
    let (shared, work) = (&shared, &work);
    std::thread::scope(|scope| {
        let run = |rank| {
            let thread = Thread { rank, size, shared };
            work(&thread)
        };
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || run(rank))).collect();
        // Joins all threads before it resumes the panic of one of them.
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        ended.into_iter().map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// The state that the threads of all ranks share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: HashMap<Channel, VecDeque<Vec<u8>>>,
    ended: Vec<usize>,
}

/// An ordered sequence of messages from one rank to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Channel {
    from: usize,
    to: usize,
    /// True if the channel carries the messages of collective calls, false if it carries the messages of `exchange`.
    is_collective: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned mutex is no problem, because the state is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, channel: Channel, bytes: &[u8]) {
        self.lock().messages.entry(channel).or_default().push_back(bytes.to_vec());
        self.changed.notify_all();
    }

    fn wait(&self, channel: Channel) -> Result<Vec<u8>, RanksError> {
        let mut state = self.lock();
        loop {
            if let Some(message) = state.messages.get_mut(&channel).and_then(VecDeque::pop_front) {
                return Ok(message);
            }
            if state.ended.contains(&channel.from) {
                return Err(RanksError::Ended(channel.from));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The communicator of a rank that is a thread.
struct Thread<'a> {
    rank: usize,
    size: usize,
    shared: &'a Shared,
}

impl Drop for Thread<'_> {
    fn drop(&mut self) {
        self.shared.lock().ended.push(self.rank);
        self.shared.changed.notify_all();
    }
}

impl Communicator for Thread<'_> {
    fn position(&self) -> Position {
        let Self { rank, size, .. } = *self;
        Position { rank, size, local_rank: rank, local_size: size }
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError> {
        let me = self.rank;
        self.position().check(sends, receives)?;
        for &(to, bytes) in sends {
            self.shared.send(Channel { from: me, to, is_collective: false }, bytes);
        }
        for (from, into) in receives {
            let message = self.shared.wait(Channel { from: *from, to: me, is_collective: false })?;
            receive(*from, &message, into)?;
        }
        Ok(())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        let me = self.rank;
        (0..self.size).for_each(|to| self.shared.send(Channel { from: me, to, is_collective: true }, bytes));
        (0..self.size).map(|from| self.shared.wait(Channel { from, to: me, is_collective: true })).collect()
    }

    fn barrier(&self) -> Result<(), RanksError> {
        self.all_gather(&[]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn messages_between_two_ranks_are_in_order() {
        for size in 1..=4 {
            let received = in_threads(size, |ranks| {
                let (me, next, previous) =
                    (ranks.rank() as u8, (ranks.rank() + 1) % size, (ranks.rank() + size - 1) % size);
                let (mut first, mut second, mut third) = ([0; 1], [0; 2], [0; 0]);
                let mut receives: Vec<(usize, &mut [u8])> =
                    vec![(previous, &mut first), (previous, &mut second), (previous, &mut third)];
                ranks.exchange(&[(next, &[me]), (next, &[me, 9]), (next, &[])], &mut receives).unwrap();
                (first[0], second)
            });
            for (rank, (first, second)) in received.into_iter().enumerate() {
                let previous = ((rank + size - 1) % size) as u8;
                assert_eq!((first, second), (previous, [previous, 9]));
            }
        }
    }

    #[test]
    fn all_gather_keeps_the_order_of_ranks_and_lengths() {
        let expected: Vec<Vec<u8>> = (0..4).map(|rank| vec![rank as u8; rank]).collect();
        for gathered in in_threads(4, |ranks| ranks.all_gather(&vec![ranks.rank() as u8; ranks.rank()]).unwrap()) {
            assert_eq!(gathered, expected);
        }
    }

    #[test]
    fn a_barrier_waits_for_all_ranks() {
        let come = AtomicUsize::new(0);
        let seen = in_threads(4, |ranks| {
            come.fetch_add(1, Ordering::SeqCst);
            ranks.barrier().unwrap();
            come.load(Ordering::SeqCst)
        });
        assert_eq!(seen, [4; 4]);
    }

    #[test]
    fn waiting_for_an_ended_rank_is_an_error() {
        let results = in_threads(2, |ranks| match ranks.rank() {
            0 => Ok(()),
            _ => ranks.barrier(),
        });
        assert_eq!(results, [Ok(()), Err(RanksError::Ended(0))]);
        let results = in_threads(2, |ranks| match ranks.rank() {
            0 => Ok(()),
            _ => ranks.exchange(&[], &mut [(0, &mut [0; 3])]),
        });
        assert_eq!(results[1], Err(RanksError::Ended(0)));
    }

    #[test]
    fn a_message_of_another_length_is_an_error() {
        let results = in_threads(2, |ranks| match ranks.rank() {
            0 => ranks.exchange(&[(1, &[1, 2])], &mut []),
            _ => ranks.exchange(&[], &mut [(0, &mut [0; 3])]),
        });
        assert_eq!(results[1], Err(RanksError::Length { from: 0, found: 2, expected: 3 }));
    }
}
