//! Transaction counts: the bytes that the current phase of a barrier in shared memory (`mbarrier`) expects.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::faults::race::ShortPhase;
use crate::faults::wait::Bytes;
use crate::lanes::Thread;
use crate::source::Line;

/// The largest magnitude of a transaction count, in bytes.
pub(crate) const MAX_BYTES: i64 = (1 << 20) - 1;

/// A bulk copy whose bytes arrive at a barrier.
pub(crate) struct CopyToBarrier {
    /// The bytes of shared memory that the copy writes.
    target: Range<usize>,
    /// The number of bytes that arrive.
    pub(crate) bytes: usize,
    /// The rank of the issuer's block, and the issuer.
    pub(crate) issuer: (u32, Thread),
    has_arrived: bool,
}

impl CopyToBarrier {
    pub(crate) fn new(target: Range<usize>, bytes: usize, issuer: (u32, Thread)) -> Self {
        Self { target, bytes, issuer, has_arrived: false }
    }
}

/// The bytes of a phase.
#[derive(Default)]
struct Phase {
    /// The expected bytes.
    expected: i64,
    /// The thread that expected bytes last.
    by: Option<(Thread, Line)>,
    /// The copies that began in the phase. Recorded in watched launches only.
    copies: Vec<CopyToBarrier>,
    /// True if a copy began before a thread expected bytes.
    copies_first: bool,
}

impl Phase {
    fn copied(&self) -> usize {
        self.copies.iter().map(|copy| copy.bytes).sum()
    }

    fn writes(&self, address: usize) -> Option<&CopyToBarrier> {
        self.copies.iter().find(|copy| copy.target.contains(&address))
    }
}

/// The transaction count of a barrier.
#[derive(Default)]
struct Transactions {
    /// The expected bytes of the current phase, minus those that have arrived.
    outstanding: i64,
    now: Phase,
    /// The last phase that has ended.
    before: Option<Phase>,
    /// True if a thread has ever expected bytes.
    has_expected: bool,
}

impl Transactions {
    /// Returns the last phase that has ended if it did not count the bytes of a copy to `address`. `barrier` is the
    /// address of this barrier.
    fn short_phase(&self, barrier: u32, address: usize) -> Option<ShortPhase> {
        let before = self.before.as_ref()?;
        let found = |copied: usize| {
            Some(ShortPhase {
                barrier: None,
                address: barrier as usize,
                expected: before.expected as u64,
                copied: copied as u64,
                by: before.by.map(|(thread, at)| (thread.index(), at.into())),
            })
        };
        if before.writes(address).is_some_and(|copy| !copy.has_arrived) {
            return found(before.copied());
        }
        // If a copy takes effect at once, its bytes may end the phase before the next copy begins. A kernel may also
        // begin copies before it expects their bytes, and then does so in each phase.
        let (_, issuer) = self.now.writes(address)?.issuer;
        let is_expected_by_issuer = match before.by {
            Some((thread, _)) => thread == issuer && !before.copies_first,
            None => !self.has_expected,
        };
        if self.now.expected == 0 && is_expected_by_issuer { found(before.copied() + self.now.copied()) } else { None }
    }
}

/// The transaction counts of the barriers of a block, by address.
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
        count.has_expected = true;
        count.now.copies_first |= count.now.by.is_none() && !count.now.copies.is_empty();
        count.now.expected += i64::from(bytes);
        count.now.by = Some((thread, at));
        count.outstanding
    }

    /// Notes that `copy`, whose bytes will arrive at the barrier at `address`, begins.
    pub(crate) fn begin_copy(&self, address: u32, copy: CopyToBarrier) {
        self.0.borrow_mut().entry(address).or_default().now.copies.push(copy);
    }

    /// Subtracts `bytes` bytes that have arrived by a copy to the address `target`.
    pub(crate) fn arrive(&self, address: u32, target: usize, bytes: usize) {
        let mut all = self.0.borrow_mut();
        let count = all.entry(address).or_default();
        count.outstanding -= bytes as i64;
        let is_it = |copy: &&mut CopyToBarrier| copy.target.start == target && !copy.has_arrived;
        if let Some(copy) = count.now.copies.iter_mut().find(is_it) {
            copy.has_arrived = true;
        }
    }

    /// Notes that a phase of the barrier at `address` ends. Its count is 0.
    pub(crate) fn end_phase(&self, address: u32) {
        let mut all = self.0.borrow_mut();
        let count = all.entry(address).or_default();
        count.before = Some(std::mem::take(&mut count.now));
    }

    /// Returns the line at which `thread` was the last one to expect bytes in the current phase of the barrier at
    /// `address`, if it was.
    pub(crate) fn expected_by(&self, address: u32, thread: Thread) -> Option<Line> {
        let (by, at) = self.0.borrow().get(&address)?.now.by?;
        (by == thread).then_some(at)
    }

    /// Returns a phase that has ended without the bytes of a copy that writes to `address`, and its barrier.
    pub(crate) fn short_phase(&self, address: usize) -> Option<ShortPhase> {
        let all = self.0.borrow();
        let short = all.iter().filter_map(|(barrier, count)| count.short_phase(*barrier, address));
        short.min_by_key(|short| short.address)
    }

    /// Returns the state of the current phase for a report, or `None` if the phase waits for no bytes.
    pub(crate) fn report(&self, address: u32) -> Option<Bytes> {
        let all = self.0.borrow();
        let count = all.get(&address).filter(|count| count.outstanding != 0)?;
        let by = count.now.by.map(|(thread, at)| (thread.index(), at.into()));
        let expected = count.now.expected;
        Some(Bytes { expected: expected as u64, arrived: (expected - count.outstanding) as u64, by })
    }
}
