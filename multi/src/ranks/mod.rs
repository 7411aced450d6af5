//! Ranks: processes that work together, as in MPI. Each rank has its own devices.
//!
//! Ranks communicate through a [`Communicator`]. [`alone`] returns the communicator of a single rank, and
//! [`in_threads`] runs ranks as threads, for tests. With the feature `mpi`, the function `mpi` returns the communicator
//! of a program that `mpirun` started.
//!
//! # Design
//!
//! Only this module calls MPI. It copies bytes between host memories, so it does not need a CUDA-aware MPI. Other code
//! takes a `&dyn Communicator`, and tests pass one whose ranks are threads. All ranks must make the same calls in the
//! same order.
//!
//! A rank that fails aborts all ranks. Before it does so, it waits for ranks of lower number, which may report the same
//! error.

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

/// The communication between ranks, which are processes, or threads in tests.
///
/// All ranks call the same functions in the same order. A call waits for the ranks that it communicates with.
pub trait Communicator: Send + Sync {
    /// Returns this rank's number and the number of ranks, in all and on its host.
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

    /// Starts all sends and receives, and waits for all of them. Each send or receive is a pair: the other rank, and
    /// the bytes. Messages between two ranks stay in order. A rank may send to itself.
    ///
    /// # Errors
    /// [`RanksError::Length`] if a message is not as long as its receive buffer; [`RanksError::Ended`] if the sender of
    /// a message has ended.
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError>;

    /// Returns the bytes that each rank passed, by rank. The ranks may pass different numbers of bytes.
    ///
    /// # Errors
    /// [`RanksError::Ended`] if another rank has ended.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError>;

    /// Waits until all ranks have called this function.
    ///
    /// # Errors
    /// [`RanksError::Ended`] if another rank has ended.
    fn barrier(&self) -> Result<(), RanksError>;
}

/// The number of a rank and the number of ranks, in all and on its host.
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
    /// Checks that the other ranks of all sends and receives exist.
    fn check(self, sends: &[(usize, &[u8])], receives: &[(usize, &mut [u8])]) -> Result<(), RanksError> {
        let size = self.size;
        let mut others = sends.iter().map(|(to, _)| *to).chain(receives.iter().map(|(from, _)| *from));
        others.find(|&rank| rank >= size).map_or(Ok(()), |rank| Err(RanksError::NoRank { rank, size }))
    }
}

/// The error of a failed communication between ranks.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RanksError {
    /// Several ranks were started, but the program was built without MPI.
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
    /// The rank of this number has ended, or does other work, while another rank waits for it.
    #[error("rank {0} has ended while another rank waits for it: run the same command on every rank")]
    Ended(usize),
}
