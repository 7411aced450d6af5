//! Records the arrivals at the barriers in shared memory (`mbarrier`), and the barriers for whose phases threads have
//! waited. If one lane arrives for its warp without a warp synchronisation, the report of a race can then say so.

use rustc_hash::FxHashMap;

use super::stamp::Stamp;
use crate::lanes::LANES;

/// The maximum number of arrivals that are recorded per phase.
const MAX_ARRIVALS: usize = 64;

/// The arrivals of a barrier's current phase and of the one before.
#[derive(Default)]
struct Phases {
    now: Vec<Stamp>,
    before: Vec<Stamp>,
}

/// The arrivals at the barriers of a block.
#[derive(Default)]
pub(super) struct Arrivals {
    barriers: FxHashMap<usize, Phases>,
    /// The address of the barrier for which each thread has waited last.
    waits: FxHashMap<u32, usize>,
}

impl Arrivals {
    pub(super) fn begin(&mut self) {
        if !self.barriers.is_empty() {
            self.barriers.clear();
            self.waits.clear();
        }
    }

    /// Records the arrival `stamp` at the barrier at `address`.
    pub(super) fn arrive(&mut self, address: usize, stamp: Stamp) {
        let now = &mut self.barriers.entry(address).or_default().now;
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
        if let Some(Phases { now, before }) = self.barriers.get_mut(&address) {
            std::mem::swap(now, before);
            now.clear();
        }
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
