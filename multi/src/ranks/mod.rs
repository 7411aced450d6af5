//! Ranks: processes that work together, each with devices of its own, as MPI's are.
//!
//! What is spread over them asks a [`Communicator`] alone. [`alone`] is that of a program which is no part of several;
//! [`in_threads`] makes ranks of threads, for tests; and with the feature `mpi`, `mpi` gives that of the program that
//! `mpirun` started.
//!
//! # Design
//!
//! Only this module knows MPI. It carries bytes between host memories; a CUDA-aware MPI is not needed. Users take a
//! `&dyn Communicator`, and tests pass one whose ranks are threads. All ranks must make the same calls in the same
//! order.
//!
//! A rank that fails aborts all ranks, but first gives ranks of lower number time to report the same error.

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

/// Processes (or threads, in tests) that work together, as MPI's communicator.
///
/// All ranks call the same functions in the same order. A call waits for the ranks that it takes part with.
pub trait Communicator: Send + Sync {
    /// This rank's number, from 0.
    fn rank(&self) -> usize;

    /// Ranks in all.
    fn size(&self) -> usize;

    /// This rank's number among those of its host.
    fn local_rank(&self) -> usize;

    /// Ranks of its host.
    fn local_size(&self) -> usize;

    /// Sends and receives, each with (rank, bytes), all at once; returns when all are done. Between two ranks, messages
    /// are in order. A rank may send to itself.
    ///
    /// # Errors
    /// [`RanksError::Length`] when a message is not as long as what is to receive it; [`RanksError::Ended`] when the
    /// rank that should send it has ended.
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError>;

    /// Returns the bytes that each rank passed, by rank. Their lengths may differ.
    ///
    /// # Errors
    /// [`RanksError::Ended`] when another rank has ended.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError>;

    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// [`RanksError::Ended`] when another rank has ended.
    fn barrier(&self) -> Result<(), RanksError>;
}

/// The error of ranks that cannot work together.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RanksError {
    /// The program was built without MPI.
    #[error("this program was started as one of {size} ranks and built without MPI: build it with `--features mpi`")]
    NotBuilt {
        /// The number of ranks that were started.
        size: usize,
    },
    /// MPI does not start.
    #[error("MPI cannot be used: {0}")]
    Unusable(&'static str),
    /// A message is of another length than what is to receive it.
    #[error("rank {from} sent {found} bytes, and {expected} were to be received: the ranks do not do the same work")]
    Length {
        /// The rank that sent it.
        from: usize,
        /// Bytes of the message.
        found: usize,
        /// Bytes that were to be received.
        expected: usize,
    },
    /// There is no such rank.
    #[error("there is no rank {rank}: they are 0 to {}", size - 1)]
    NoRank {
        /// The rank asked for.
        rank: usize,
        /// Ranks in all.
        size: usize,
    },
    /// Another rank has ended, or has gone on to other work, while it is waited for.
    #[error("rank {0} has ended while another waits for it")]
    Ended(usize),
}
