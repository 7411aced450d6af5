//! Transaction counts: the bytes that the current phase of a barrier in shared memory (`mbarrier`) expects.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::faults::wait::Bytes;
use crate::lanes::Thread;
use crate::source::Line;

/// The largest magnitude of a transaction count, in bytes.
pub(crate) const MAX_BYTES: i64 = (1 << 20) - 1;

/// The transaction count of a barrier.
#[derive(Default)]
struct Transactions {
    /// The expected bytes of the current phase, minus those that have arrived.
    outstanding: i64,
    /// The expected bytes of the current phase.
    expected: i64,
    /// The thread that expected bytes last.
    by: Option<(Thread, Line)>,
}

/// The transaction counts of the barriers of a block, by address. Barriers that never had one are missing.
#[derive(Default)]
pub(crate) struct TransactionCounts(RefCell<FxHashMap<u32, Transactions>>);

impl TransactionCounts {
    /// Removes all counts, before another block runs.
    pub(crate) fn begin(&self) {
        let mut all = self.0.borrow_mut();
        if !all.is_empty() {
            all.clear();
        }
    }

    /// Removes the count of the barrier at `address`, which a thread initialises.
    pub(crate) fn forget(&self, address: u32) {
        self.0.borrow_mut().remove(&address);
    }

    /// Returns the bytes that the phase of the barrier at `address` waits for. The number is negative if bytes have
    /// arrived that no thread has expected yet.
    pub(crate) fn outstanding(&self, address: u32) -> i64 {
        self.0.borrow().get(&address).map_or(0, |count| count.outstanding)
    }

    /// Adds `bytes` bytes that `thread` expects at the line `at`. Returns the new count.
    pub(crate) fn expect(&self, address: u32, bytes: u32, thread: Thread, at: Line) -> i64 {
        let mut all = self.0.borrow_mut();
        let count = all.entry(address).or_default();
        count.outstanding += i64::from(bytes);
        count.expected += i64::from(bytes);
        count.by = Some((thread, at));
        count.outstanding
    }

    /// Subtracts `bytes` bytes that have arrived. Returns the new count.
    pub(crate) fn arrive(&self, address: u32, bytes: usize) -> i64 {
        let mut all = self.0.borrow_mut();
        let count = all.entry(address).or_default();
        count.outstanding -= bytes as i64;
        count.outstanding
    }

    /// Notes that a phase of the barrier at `address` ends. Its count is 0.
    pub(crate) fn end_phase(&self, address: u32) {
        if let Some(count) = self.0.borrow_mut().get_mut(&address) {
            (count.expected, count.by) = (0, None);
        }
    }

    /// Returns the state of the current phase for a report, or `None` if the phase waits for no bytes.
    pub(crate) fn report(&self, address: u32) -> Option<Bytes> {
        let all = self.0.borrow();
        let count = all.get(&address).filter(|count| count.outstanding != 0)?;
        let by = count.by.map(|(thread, at)| (thread.index(), at.into()));
        Some(Bytes { expected: count.expected as u64, arrived: (count.expected - count.outstanding) as u64, by })
    }
}
