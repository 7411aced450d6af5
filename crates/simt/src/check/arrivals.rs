//! Records the arrivals at the barriers in shared memory (`mbarrier`), and the barriers for whose phases threads have
//! waited. If one lane arrives for its warp without a warp synchronisation, the report of a race can then say so. If a
//! phase never ends, the report says which one it is and who has not arrived.

use rustc_hash::FxHashMap;

use super::stamp::Stamp;
use crate::faults::wait::PhaseWait;
use crate::lanes::{Extent, LANES};
use crate::watch::PhaseRead;

/// The maximum number of arrivals that are recorded per phase.
const MAX_ARRIVALS: usize = 64;

/// The maximum number of threads that a report names because they have not arrived.
const MAX_ABSENT: usize = 4;

/// The arrivals of a barrier's current phase and of the one before.
#[derive(Default)]
struct Phases {
    now: Vec<Stamp>,
    before: Vec<Stamp>,
    /// The number of arrivals in the current phase, which may be more than the recorded ones.
    arrived: u32,
    /// The number of phases that have ended.
    ended: u64,
}

impl Phases {
    /// Returns the number of the current phase. `phase` is that number modulo 256.
    fn number(&self, phase: u64) -> u64 {
        // A barrier that was initialised again counts from 0.
        if self.ended % 256 == phase { self.ended } else { phase }
    }
}

/// The arrivals at the barriers of a block.
#[derive(Default)]
pub(super) struct Arrivals {
    barriers: FxHashMap<usize, Phases>,
    /// The address of the barrier for which each thread has waited last.
    waits: FxHashMap<u32, usize>,
    /// The waits of each thread at each barrier.
    phases: FxHashMap<(u32, usize), PhaseReads>,
}

/// What a thread has last read of a barrier.
#[derive(Clone, Copy)]
struct PhaseReads {
    read: PhaseRead,
    /// The last phase for whose end the thread has waited.
    last: Option<u64>,
    /// True if the thread has waited for that phase more than once, or for none because no phase has ended.
    is_repeated: bool,
    /// The first and the last of the phases before `last` for which the thread has not waited, if there are any.
    missed: Option<[u64; 2]>,
}

impl PhaseReads {
    fn new(read: PhaseRead) -> Self {
        Self { read, last: None, is_repeated: false, missed: None }
    }

    /// Returns the first phase for which the thread has not waited.
    fn next(&self) -> u64 {
        self.last.map_or(0, |last| last + 1)
    }
}

/// A phase for which a thread has not waited.
pub(super) struct Later {
    pub(super) address: usize,
    pub(super) waited: Option<u64>,
    pub(super) needed: u64,
}

impl Arrivals {
    pub(super) fn begin(&mut self) {
        if !self.barriers.is_empty() || !self.waits.is_empty() {
            self.barriers.clear();
            self.waits.clear();
            self.phases.clear();
        }
    }

    /// Records the arrival `stamp` at the barrier at `address`.
    pub(super) fn arrive(&mut self, address: usize, stamp: Stamp) {
        let Phases { now, arrived, .. } = self.barriers.entry(address).or_default();
        *arrived += 1;
        if now.len() < MAX_ARRIVALS {
            now.push(stamp);
        }
    }

    /// Records that `thread` waits for a phase of the barrier at `address`.
    pub(super) fn wait(&mut self, address: usize, thread: u32) {
        self.waits.insert(thread, address);
    }

    /// Records the end of a phase of the barrier at `address`.
    pub(super) fn end_phase(&mut self, address: usize) {
        if let Some(Phases { now, before, arrived, ended }) = self.barriers.get_mut(&address) {
            std::mem::swap(now, before);
            now.clear();
            *arrived = 0;
            *ended += 1;
        }
    }

    /// Records that `thread` has read the word of the barrier at `address`.
    pub(super) fn phase_read(&mut self, address: usize, thread: u32, read: PhaseRead) {
        let ended = self.barriers.get(&address).map_or(read.phase, |phases| phases.number(read.phase));
        let reads = self.phases.entry((thread, address)).or_insert(PhaseReads::new(read));
        reads.read = read;
        if read.is_over {
            let last = ended.checked_sub(1);
            reads.is_repeated = reads.last == last;
            if reads.next() < ended.saturating_sub(1) {
                reads.missed = Some([reads.next(), ended - 2]);
            }
            reads.last = last;
        }
    }

    /// Returns the phase for which the thread `waiter` has not waited: its last wait at a barrier was for a phase for
    /// which it had waited before, and the thread `other` arrives in a later one. `access` is the access of `other`
    /// that must precede, if it has been made. `is_load` is true if `waiter` loads.
    pub(super) fn later_phase(&self, waiter: u32, other: u32, access: Option<&Stamp>, is_load: bool) -> Option<Later> {
        let address = *self.waits.get(&waiter)?;
        let &PhaseReads { last: waited, is_repeated, .. } = self.phases.get(&(waiter, address))?;
        if !is_repeated {
            return None;
        }
        let none = Phases::default();
        let phases = self.barriers.get(&address).unwrap_or(&none);
        let follows = |arrival: &Stamp| {
            arrival.thread() / LANES == other / LANES && access.is_some_and(|access| arrival.epoch >= access.epoch)
        };
        let needed = if phases.now.iter().any(follows) {
            phases.ended
        } else if phases.before.iter().any(follows) {
            phases.ended.saturating_sub(1)
        } else if is_load {
            // The other thread has not arrived since its access.
            phases.ended
        } else {
            return None;
        };
        waited.is_none_or(|waited| waited < needed).then_some(Later { address, waited, needed })
    }

    /// Returns the phase of the barrier at `address` for whose end `thread`, a thread of a block of `extent`, waits.
    pub(super) fn phase_wait(&self, address: usize, thread: u32, extent: &Extent) -> Option<PhaseWait> {
        let none = Phases::default();
        let phases = self.barriers.get(&address).unwrap_or(&none);
        let reads @ &PhaseReads { read, last, .. } = self.phases.get(&(thread, address))?;
        let is_absent = |thread: &u32| !phases.now.iter().any(|arrival| arrival.thread() == *thread);
        let mut absent: Vec<u32> = if !phases.before.is_empty() {
            phases.before.iter().map(Stamp::thread).filter(is_absent).collect()
        } else if phases.arrived + read.missing == extent.threads {
            (0..extent.threads).filter(is_absent).collect()
        } else {
            Vec::new()
        };
        if phases.arrived as usize > phases.now.len() {
            absent.clear();
        }
        absent.sort_unstable();
        absent.dedup();
        let absent = absent.into_iter().take(MAX_ABSENT).map(|thread| extent.thread(thread).index()).collect();
        let number = phases.number(read.phase);
        (!read.is_over).then_some(PhaseWait {
            number,
            arrived: phases.arrived,
            missing: read.missing,
            absent,
            last,
            missed: if reads.next() < number { Some([reads.next(), number - 1]) } else { reads.missed },
            address,
            bytes: None,
        })
    }

    /// Returns true if `thread` has waited for a phase in which another lane of the warp of `earlier` arrived, and the
    /// thread of `earlier` did not.
    pub(super) fn lacks_warp_synchronisation(&self, thread: u32, earlier: &Stamp) -> bool {
        let phases = self.waits.get(&thread).and_then(|address| self.barriers.get(address));
        let has = |is: &dyn Fn(&Stamp) -> bool| phases.is_some_and(|phases| phases.before.iter().any(is));
        let is_of_warp = |arrival: &Stamp| arrival.thread() / LANES == earlier.thread() / LANES;
        has(&is_of_warp) && !has(&|arrival| arrival.thread() == earlier.thread())
    }
}
