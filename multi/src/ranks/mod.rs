//! Ranks: processes that work together, as in MPI. Each rank opens its own devices.
//!
//! Ranks communicate through a [`Communicator`]. [`alone`] returns the communicator of a single rank, and
//! [`in_threads`] runs ranks as threads, for tests. With the feature `mpi`, the function `mpi` returns the communicator
//! of a program that `mpirun` started.
//!
//! # Design
//!
//! Only this module calls MPI. The module transfers bytes between host memories, so it does not need a CUDA-aware MPI.
//! Other code takes a `&dyn Communicator`, and tests pass a communicator whose ranks are threads. All ranks must make
//! the same calls in the same order.
//!
//! A rank that fails aborts all ranks. Before that, it waits for a while, so that a rank with a lower number can report
//! the same error instead.

use thiserror::Error;

mod alone;
mod first;
#[cfg(feature = "mpi")]
mod mpi;
mod threads;

pub use alone::{Alone, alone};
pub(crate) use first::FirstRanks;
#[cfg(feature = "mpi")]
pub use mpi::{Mpi, mpi};
pub use threads::in_threads;

/// The communication between ranks. A rank is a process, or a thread in tests.
///
/// All ranks must call the same functions in the same order. A call waits for the ranks with which it communicates.
pub trait Communicator: Send + Sync {
    /// Returns this rank's number and the number of ranks, both among all ranks and among the ranks on its host.
    fn position(&self) -> Position;

    /// Returns this rank's number, from 0.
    fn rank(&self) -> usize {
        self.position().rank
    }

    /// Returns the number of ranks.
    fn size(&self) -> usize {
        self.position().size
    }

    /// Returns this rank's number among the ranks on its host, from 0.
    fn local_rank(&self) -> usize {
        self.position().local_rank
    }

    /// Returns the number of ranks on this rank's host.
    fn local_size(&self) -> usize {
        self.position().local_size
    }

    /// Starts all sends and receives, and waits for all of them. An element of `sends` is a rank's number and the bytes
    /// to send to that rank. An element of `receives` is a rank's number and the buffer for the bytes from that rank.
    /// Messages between two ranks stay in order. A rank may send to itself.
    ///
    /// # Errors
    /// Returns [`RanksError::Length`] if a message is not as long as its receive buffer. Returns [`RanksError::Ended`]
    /// if the sender of a message has ended.
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError>;

    /// Returns the `bytes` that the ranks passed, indexed by rank. The ranks may pass different numbers of bytes.
    ///
    /// # Errors
    /// Returns [`RanksError::Ended`] if another rank has ended.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError>;

    /// Waits until all ranks have called this function.
    ///
    /// # Errors
    /// Returns [`RanksError::Ended`] if another rank has ended.
    fn barrier(&self) -> Result<(), RanksError>;
}

/// The number of a rank and the number of ranks, both among all ranks and among the ranks on its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The rank's number, from 0.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The rank's number among the ranks on its host, from 0.
    pub local_rank: usize,
    /// The number of ranks on this rank's host.
    pub local_size: usize,
}

impl Position {
    /// Checks that the ranks in `sends` and `receives` exist.
    fn check(self, sends: &[(usize, &[u8])], receives: &[(usize, &mut [u8])]) -> Result<(), RanksError> {
        let size = self.size;
        let mut others = sends.iter().map(|(to, _)| *to).chain(receives.iter().map(|(from, _)| *from));
        others.find(|&rank| rank >= size).map_or(Ok(()), |rank| Err(RanksError::NoRank { rank, size }))
    }
}

/// The error that is returned if a communication between ranks fails.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RanksError {
    /// The program was started as several ranks, but was built without MPI.
    #[error(
        "this program was started as one of {size} ranks, but was built without MPI: build it with `--features mpi`"
    )]
    NotBuilt {
        /// The number of ranks that were started.
        size: usize,
    },
    /// The program cannot use MPI.
    #[error("MPI cannot be used: {0}")]
    Unusable(&'static str),
    /// A message is not as long as its receive buffer.
    #[error("rank {from} sent {found} bytes, but {expected} were expected: run the same command on every rank")]
    Length {
        /// The rank that sent the message.
        from: usize,
        /// The number of bytes of the message.
        found: usize,
        /// The number of bytes of the receive buffer.
        expected: usize,
    },
    /// The requested rank does not exist.
    #[error("there is no rank {rank}: use 0 to {}", size - 1)]
    NoRank {
        /// The number of the requested rank.
        rank: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A rank waits for the rank with this number, which has ended or makes other calls.
    #[error("rank {0} has ended while another rank waits for it: run the same command on every rank")]
    Ended(usize),
}
