//! The policies by which reads return older values and stores are inserted before executed ones.

use rustc_hash::FxHashMap;

use crate::choices::{ChoiceLog, LoadMade, Promise, StoreMade};
use crate::order::Chooser;
use crate::schedule::Schedule;

/// The number that gives a policy other random numbers than those that choose threads and blocks.
const PART: u64 = 0x05ee_d0f4_ead5;
/// One of every `INSERTED_SHARE` stores is inserted before executed ones where possible, and as many updates read an
/// older value.
const INSERTED_SHARE: u32 = 4;

/// How often a thread may read an older value at one source site and address before another write is the newest. A loop
/// that waits for the newest value therefore ends.
pub(super) const MAX_STALE: u32 = 2;

/// Under [`Policy::Oldest`], one of every `NEWEST_SHARE` reads at a source site returns the newest value.
const NEWEST_SHARE: u32 = 4;

/// Chooses the value of each atomic read and the position of each atomic store.
pub(in crate::check) enum Policy {
    /// A read returns the oldest possible value. At each source site, one of every `NEWEST_SHARE` reads returns the
    /// newest, because a thread that reads the newest value may take another branch. The map counts the reads.
    Oldest(FxHashMap<u32, u32>),
    /// Choices are pseudo-random.
    Random(Chooser),
    /// Choices are given by the search of a thorough check.
    Given(ChoiceLog),
}

impl Policy {
    /// Returns the policy of a launch under `schedule`, or `None` if reads return the value in memory. `given` has the
    /// choices of [`Schedule::Chosen`].
    pub(in crate::check) fn new(schedule: Schedule, given: Option<&ChoiceLog>) -> Option<Self> {
        if !schedule.has_weak_memory() {
            return None;
        }
        Some(match (schedule, given) {
            (Schedule::Chosen(_), Some(given)) => Self::Given(given.clone()),
            (Schedule::OneAhead(seed), _) if seed % 2 == 0 => Self::Oldest(FxHashMap::default()),
            _ => Self::Random(Chooser::new(schedule, PART)),
        })
    }

    /// Returns true if a search tries all choices, so that threads may also wait for writes and fences.
    pub(super) fn is_exhaustive(&self) -> bool {
        matches!(self, Self::Given(_))
    }

    /// Chooses one of `options` sources of a read at `site`, the newest first. Returns `options` if the thread must
    /// wait for another write, which is possible only if `can_wait` is true.
    pub(super) fn choose_source(&mut self, options: usize, can_wait: bool, is_update: bool, site: u32) -> usize {
        match self {
            Self::Oldest(reads) => {
                let count = reads.entry(site).or_default();
                *count += 1;
                if *count % NEWEST_SHARE == 0 { 0 } else { options - 1 }
            }
            Self::Random(chooser) => random(chooser, options, if is_update { INSERTED_SHARE } else { 2 }),
            Self::Given(given) => given.choose(options + usize::from(can_wait)),
        }
    }

    /// Chooses one of `options` positions of a store, the last first.
    pub(super) fn choose_position(&mut self, options: usize) -> usize {
        match self {
            Self::Oldest(_) => 0,
            Self::Random(chooser) => random(chooser, options, INSERTED_SHARE),
            Self::Given(given) => given.choose(options),
        }
    }

    /// Chooses one of `options`, if the choices are given.
    pub(super) fn choose(&mut self, options: usize) -> usize {
        if let Self::Given(given) = self { given.choose(options) } else { 0 }
    }

    /// Returns the number of choices made so far, if the choices are given.
    pub(super) fn count(&self) -> usize {
        if let Self::Given(given) = self { given.count() } else { 0 }
    }

    /// Returns the promise that the next choice reads, and the option of that choice.
    pub(super) fn promise(&self) -> Option<(Promise, u16)> {
        if let Self::Given(given) = self { given.promise() } else { None }
    }

    /// Returns the number of another location, if the choices are given.
    pub(super) fn new_location(&self) -> u32 {
        if let Self::Given(given) = self { given.new_location() } else { 0 }
    }

    /// Records that the next choice is that of a load that may read a promise.
    pub(super) fn note_load(&self, load: impl FnOnce(u16) -> LoadMade) {
        if let Self::Given(given) = self {
            given.note_load(load);
        }
    }

    /// Records a store that other runs may promise.
    pub(super) fn note_store(&self, store: StoreMade) {
        if let Self::Given(given) = self {
            given.note_store(store);
        }
    }

    /// Marks the run as one that does not count.
    pub(super) fn discard(&self) {
        if let Self::Given(given) = self {
            given.discard();
        }
    }

    /// Notes that other choices reach the same execution.
    pub(super) fn note_redundant(&self) {
        if let Self::Given(given) = self {
            given.note_redundant();
        }
    }

    /// Notes an atomic access without choices.
    pub(super) fn note_other(&self) {
        if let Self::Given(given) = self {
            given.note_other();
        }
    }

    /// Tells the search that the launch has more locations or writes than the histories can hold. Returns false if the
    /// choices are not given by a search.
    pub(super) fn note_limit(&self) -> bool {
        if let Self::Given(given) = self {
            given.note_limit();
        }
        self.is_exhaustive()
    }
}

/// Returns 0 or, once in `share` choices, a random other option.
fn random(chooser: &mut Chooser, options: usize, share: u32) -> usize {
    if options > 1 && chooser.draw(share) == 0 { 1 + chooser.draw(options as u32 - 1) as usize } else { 0 }
}
