//! Holds threads before chosen atomic accesses, and records the trace of a launch's atomic accesses.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::holds::Hold;
use crate::region::Space;
use crate::schedule::Schedule;
use crate::source::Line;
use crate::watch::{Access, Touch};

/// The maximum number of atomic accesses that the trace records per launch.
const MAX_EVENTS: usize = 1 << 14;
/// The maximum number of atomic accesses that the trace records per thread.
const MAX_OF_THREAD: u32 = 64;

/// An atomic access that a thread of a launch has made or is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// The thread that makes the access, and the number of the access, counted over the thread's atomic accesses.
    pub(crate) hold: Hold,
    /// The address of the access. Addresses can be compared only within one launch of one run, because they differ
    /// between runs.
    pub(crate) address: AccessAddress,
    pub(crate) writes: bool,
    pub(crate) at: Line,
}

/// An address, with the number of the block if the address is in shared memory.
pub(crate) type AccessAddress = (Option<u32>, usize);

/// The atomic accesses that the launches of a run have made.
#[derive(Debug, Default)]
pub(crate) struct RunTrace {
    /// The atomic accesses of each launch. Consecutive repetitions of a load by one thread are listed once.
    pub(crate) launches: Vec<Vec<Event>>,
    /// Hashes of pairs: a read, and the write whose value it read. The same pair has the same hash in every run.
    pub(crate) reads: HashSet<u64>,
    /// Coarser hashes of the pairs in `reads`, mainly of the two source lines and the distance of the two blocks.
    /// Different pairs may have the same hash.
    pub(crate) features: HashSet<u64>,
    /// The maximum number of slices of synchronising accesses per block during which no block ended (see
    /// `block::turn`).
    pub(crate) slices: u64,
    /// A launch ends if it makes more such slices.
    pub(crate) max_slices: u64,
    /// True if a launch has ended for this reason.
    pub(crate) is_unfinished: bool,
}

/// Collects the traces of a simulator's launches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<RunTrace>>);

impl Trace {
    /// Makes a trace of launches that end after `max_slices` slices per block during which no block ends.
    pub(crate) fn new(max_slices: u64) -> Self {
        Self(Arc::new(Mutex::new(RunTrace { max_slices, ..RunTrace::default() })))
    }

    pub(crate) fn take(&self) -> RunTrace {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Holds threads of a launch before atomic accesses, and records the launch's trace. The launch must run on one OS
/// thread.
pub(crate) struct Director {
    holds: Vec<Hold>,
    trace: Option<Trace>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    threads: HashMap<(u32, u32), Progress>,
    /// The last atomic write to each address.
    writes: HashMap<AccessAddress, (Hold, Line)>,
    events: Vec<Event>,
    reads: HashSet<u64>,
    features: HashSet<u64>,
    /// The holds at which a thread waits now, one bit per hold.
    waiting: u32,
    ended: u32,
}

/// The atomic accesses that a thread has made so far.
#[derive(Default)]
struct Progress {
    accesses: u32,
    /// The address and the line of the thread's last atomic access, if that access was a load.
    polled: Option<(AccessAddress, Line)>,
}

/// A thread that has reached an atomic access.
pub(crate) struct Arrival {
    event: Event,
    is_new: bool,
    /// The index of the hold at which the thread must wait, if any.
    pub(crate) at: Option<usize>,
}

impl Director {
    /// Makes a director for a launch under `schedule`, and records the launch's accesses in `trace`. Returns `None` if
    /// the schedule holds no threads and `trace` is `None`.
    pub(crate) fn new(schedule: Schedule, trace: Option<&Trace>) -> Option<Self> {
        let holds = schedule.holds().map(<[Hold]>::to_vec);
        if holds.is_none() && trace.is_none() {
            return None;
        }
        Some(Self { holds: holds.unwrap_or_default(), trace: trace.cloned(), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a thread is about to make an atomic access. `block` and `thread` are linear indices.
    pub(crate) fn arrive(&self, (block, thread): (u32, u32), touch: &Touch) -> Arrival {
        let state = &mut *self.state();
        let address = ((touch.space == Space::Shared).then_some(block), touch.address);
        let polled = (!touch.access.writes()).then_some((address, touch.at));
        let progress = state.threads.entry((block, thread)).or_default();
        let is_new = polled.is_none() || progress.polled != polled;
        progress.accesses += u32::from(is_new);
        progress.polled = polled;
        let hold = Hold { block, thread, access: progress.accesses };
        let at = self.holds.iter().position(|one| *one == hold).filter(|at| state.ended & 1 << at == 0);
        state.waiting |= at.map_or(0, |at| 1 << at);
        Arrival { event: Event { hold, address, writes: touch.access.writes(), at: touch.at }, is_new, at }
    }

    /// Returns true if the hold with the index `hold` has ended.
    pub(crate) fn has_ended(&self, hold: usize) -> bool {
        self.state().ended & 1 << hold != 0
    }

    /// Notes that the launch has made `slices` slices of synchronising accesses per block since a block has last ended.
    /// Returns true if the trace allows no more. A launch without a trace has no limit.
    pub(crate) fn exceeds_limit(&self, slices: u64) -> bool {
        let Some(trace) = &self.trace else { return false };
        let mut seen = trace.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.slices = seen.slices.max(slices);
        seen.is_unfinished |= slices > seen.max_slices;
        seen.is_unfinished
    }

    /// Ends the first hold at which a thread waits. Returns false if no thread waits at a hold.
    pub(crate) fn end_hold(&self) -> bool {
        let state = &mut *self.state();
        let first = state.waiting & state.waiting.wrapping_neg();
        state.waiting &= !first;
        state.ended |= first;
        first != 0
    }

    /// Adds to the trace the access that the thread of `arrival` is about to make.
    pub(crate) fn note(&self, arrival: &Arrival, access: Access) {
        if self.trace.is_none() {
            return;
        }
        let state = &mut *self.state();
        let Event { hold, address, writes, at } = arrival.event;
        if arrival.is_new && hold.access <= MAX_OF_THREAD && state.events.len() < MAX_EVENTS {
            state.events.push(arrival.event);
        }
        if hold.access <= MAX_OF_THREAD {
            let last = state.writes.get(&address);
            let written = last.map(|(writer, line)| (writer.block, writer.thread, writer.access, line_of(line)));
            state.reads.insert(hash(&(hold, written)));
            let feature = last.map(|(writer, line)| {
                let distance = (i64::from(hold.block) - i64::from(writer.block)).clamp(-3, 3);
                (distance, hold.thread == writer.thread, line_of(line))
            });
            if access.reads() {
                state.features.insert(hash(&(line_of(&at), feature)));
            }
        }
        if writes {
            state.writes.insert(address, (hold, at));
        }
    }
}

/// Adds the launch's accesses to the trace when the launch ends.
impl Drop for Director {
    fn drop(&mut self) {
        if let Some(trace) = &self.trace {
            let state = std::mem::take(&mut *self.state());
            let mut seen = trace.0.lock().unwrap_or_else(PoisonError::into_inner);
            let launch = seen.launches.len();
            seen.launches.push(state.events);
            seen.reads.extend(state.reads.iter().map(|read| hash(&(launch, read))));
            seen.features.extend(state.features);
        }
    }
}

fn line_of<'a>(line: &Line) -> (&'a str, u32, u32) {
    (line.file(), line.line(), line.column())
}

pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
