//! Ranks that are processes, which `mpirun` has started.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{
    Communicator as _, CommunicatorCollectives as _, Destination as _, Equivalence as _, Root as _, Source as _,
};
use mpi::{Count, Threading, request};

use super::{Communicator, Position, RanksError};

/// The largest number of bytes in a piece of a message. Messages are split because MPI counts bytes in 31 bits.
const PIECE: usize = 1 << 30;

/// The communicator of all processes that `mpirun` started.
///
/// A program can start MPI only once, so a program has at most one value of this type. Dropping the value waits until
/// all ranks have dropped their values. A rank that fails must call [`abort`](Self::abort) instead.
pub struct Mpi {
    position: Position,
    /// The handles of MPI; `None` after [`finalise`](Self::finalise).
    world: Mutex<Option<World>>,
}

struct World {
    all: SimpleCommunicator,
    // This field is declared after the communicator, so that it is dropped last.
    _universe: Universe,
}

// SAFETY: MPI was initialised for calls from any thread, but only one call at a time. The mutex around this value
// serialises the calls. The value consists of handles, which do not depend on the thread.
unsafe impl Send for World {}

/// Starts MPI and returns its communicator. Without `mpirun`, the program is a single rank.
///
/// # Errors
/// Returns [`RanksError::Unusable`] if MPI was started before, or does not allow calls from several threads.
pub fn mpi() -> Result<Mpi, RanksError> {
    let started = mpi::initialize_with_threading(Threading::Serialized);
    let (universe, threading) =
        started.ok_or(RanksError::Unusable("it was started before, and it can start only once"))?;
    if threading < Threading::Serialized {
        return Err(RanksError::Unusable(
            "it allows calls from one thread only; use an MPI library with MPI_THREAD_SERIALIZED",
        ));
    }
    let all = universe.world();
    let (rank, size) = (index(all.rank()), index(all.size()));
    let (local_rank, local_size) = {
        let local = all.split_shared(all.rank());
        (index(local.rank()), index(local.size()))
    };
    let position = Position { rank, size, local_rank, local_size };
    let world = Mutex::new(Some(World { all, _universe: universe }));
    Ok(Mpi { position, world })
}

impl Mpi {
    /// Ends all ranks. This rank ends with exit code `code`.
    pub fn abort(&self, code: i32) -> ! {
        match &*self.lock() {
            Some(world) => world.all.abort(code),
            None => std::process::exit(code),
        }
    }

    /// Waits for all ranks and ends MPI. All later calls of the communicator fail.
    pub fn finalise(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> MutexGuard<'_, Option<World>> {
        // A poisoned mutex is no problem, because a thread that panics does not change the handles.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, work: impl FnOnce(&SimpleCommunicator) -> Result<R, RanksError>) -> Result<R, RanksError> {
        match &*self.lock() {
            Some(world) => work(&world.all),
            None => Err(RanksError::Ended(self.position.rank)),
        }
    }
}

impl Communicator for Mpi {
    fn position(&self) -> Position {
        self.position
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<(), RanksError> {
        self.position.check(sends, receives)?;
        // The number of an existing rank fits into `Count`.
        let number = |rank: usize| rank as Count;
        self.with(|all| {
            request::scope(|scope| {
                let mut asked = Vec::new();
                for (from, into) in receives {
                    let process = all.process_at_rank(number(*from));
                    for piece in pieces_mut(into) {
                        let expected = piece.len();
                        asked.push((*from, expected, process.immediate_receive_into(scope, piece)));
                    }
                }
                let mut sent = Vec::new();
                for &(to, bytes) in sends {
                    let process = all.process_at_rank(number(to));
                    sent.extend(pieces(bytes).map(|piece| process.immediate_send(scope, piece)));
                }
                // Waits for all requests, even after an error, which is returned at the end.
                let mut result = Ok(());
                for (from, expected, request) in asked {
                    let found = index(request.wait().count(u8::equivalent_datatype()));
                    if found != expected && result.is_ok() {
                        result = Err(RanksError::Length { from, found, expected });
                    }
                }
                sent.into_iter().for_each(|request| request.wait_without_status());
                result
            })
        })
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        self.with(|all| {
            let mut lengths = vec![0_u64; self.position.size];
            all.all_gather_into(&(bytes.len() as u64), &mut lengths[..]);
            let mut gathered: Vec<Vec<u8>> = lengths.iter().map(|&len| vec![0; len as usize]).collect();
            gathered[self.position.rank].copy_from_slice(bytes);
            for (root, bytes) in gathered.iter_mut().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
                // The number of a rank fits into `Count`.
                let root = all.process_at_rank(root as Count);
                pieces_mut(bytes).for_each(|piece| root.broadcast_into(piece));
            }
            Ok(gathered)
        })
    }

    fn barrier(&self) -> Result<(), RanksError> {
        self.with(|all| {
            all.barrier();
            Ok(())
        })
    }
}

/// Converts a count of MPI to `usize`. MPI's counts are never negative.
fn index(count: Count) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// Divides a message into pieces of at most [`PIECE`] bytes. An empty message has one empty piece.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let empty = bytes.is_empty().then_some(bytes);
    bytes.chunks(PIECE).chain(empty)
}

/// Does the same as [`pieces`] for a buffer that receives a message.
fn pieces_mut(bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let len = bytes.len();
    let (all, empty) = if len == 0 { (&mut [][..], Some(bytes)) } else { (bytes, None) };
    all.chunks_mut(PIECE).chain(empty)
}
