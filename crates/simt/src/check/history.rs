//! The earlier accesses to a few bytes that a later access could race with.
//!
//! A later access *subsumes* an earlier one under two conditions: the earlier one happened before it, and every access
//! that races with the earlier one also races with the later one. The history drops an access once a later one subsumes
//! it. Every access is checked when it is made, so the last plain write subsumes all accesses before it. The history
//! keeps the plain reads, atomic reads and atomic writes since that write in separate sets.

mod write;

use self::write::Write;
use super::clock::Clocks;
use super::stamp::{SET, Stamp};
use super::sync::Publications;

/// The past of a thread: the accesses that happened before its next access.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) clocks: &'a Clocks,
    pub(super) publications: &'a Publications,
    pub(super) block: u32,
    pub(super) thread: u32,
}

impl Past<'_> {
    /// Returns true if the accesses of thread `thread` of `block` in `epoch` are in this past.
    #[inline]
    pub(super) fn has(&self, block: u32, thread: u32, epoch: u32) -> bool {
        if block == self.block {
            self.clocks.has_seen(self.thread, thread, epoch)
        } else {
            self.clocks.has_learnt(self.thread, block, thread, epoch)
        }
    }

    #[inline]
    pub(super) fn has_stamp(&self, stamp: &Stamp) -> bool {
        self.has(stamp.block, stamp.thread(), stamp.epoch)
    }

    /// Returns the mask of the threads of `group` whose access is in this past.
    fn inside(&self, group: &Group) -> u64 {
        let Group { stamp, threads } = *group;
        if threads.is_power_of_two() {
            return if self.has_stamp(&stamp.at_place(threads.trailing_zeros())) { threads } else { 0 };
        }
        let first = stamp.thread() / SET * SET;
        threads
            & if stamp.block == self.block {
                self.clocks.seen_of_set(self.thread, first, stamp.epoch)
            } else {
                self.clocks.learnt_of_set(self.thread, stamp.block, first, stamp.epoch)
            }
    }

    /// Returns true if `stamp` is an access of another block that no thread of this block can ever have in its past.
    pub(super) fn is_unpublished(&self, stamp: &Stamp) -> bool {
        stamp.block != self.block && self.publications.is_unpublished(stamp.block, stamp.epoch)
    }
}

/// The threads of one set (see `stamp`) that made the same access in the same epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The access of any one of the threads.
    pub(super) stamp: Stamp,
    /// The mask of the threads that made the access.
    pub(super) threads: u64,
}

impl Group {
    pub(super) fn new(stamp: Stamp) -> Self {
        Self { stamp, threads: stamp.bit() }
    }

    fn stamps(self) -> impl Iterator<Item = Stamp> {
        let Self { stamp, mut threads } = self;
        std::iter::from_fn(move || {
            let place = threads.trailing_zeros();
            threads &= threads.wrapping_sub(1);
            (place < SET).then(|| stamp.at_place(place))
        })
    }

    /// Returns the first access of the group that is not in `past`.
    #[inline]
    pub(super) fn first_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        if self.stamp.block == past.block && self.stamp.epoch < past.clocks.base() {
            return None;
        }
        self.find_outside(past)
    }

    fn find_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        let outside = self.threads & !past.inside(self);
        (outside != 0).then(|| self.stamp.at_place(outside.trailing_zeros()))
    }
}

/// A set of accesses of one kind to the same bytes. No access of the set subsumes another.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    groups: Vec<Group>,
    /// The number of groups of accesses at which `add` removes redundant groups.
    limit: u32,
    /// True if the set has one access, which no thread can have in its past. This access subsumes all others.
    is_unpublished: bool,
}

/// The minimum number of groups in a set at which `add` searches for redundant groups.
const MIN_TO_SEARCH: usize = 32;

impl Accesses {
    pub(super) fn push(&mut self, group: Group) {
        self.groups.reserve_exact(2);
        self.groups.push(group);
    }

    fn clear(&mut self) {
        self.groups.clear();
        (self.limit, self.is_unpublished) = (0, false);
    }

    /// Returns the access that no thread can ever have in its past, if the set has one. It subsumes all other accesses.
    pub(super) fn unpublished(&self) -> Option<Stamp> {
        self.groups.first().filter(|_| self.is_unpublished).map(|group| group.stamp)
    }

    /// Returns true if the last group contains an access that the thread of `stamp` made in the epoch of `stamp`.
    #[inline]
    pub(super) fn is_last(&self, stamp: &Stamp) -> bool {
        self.groups.last().is_some_and(|last| last.stamp.is_of_set(stamp) && last.threads & stamp.bit() != 0)
    }

    /// Returns an access of the set that the thread of `stamp` made in the epoch of `stamp`.
    pub(super) fn of_same(&self, stamp: &Stamp) -> Option<Stamp> {
        let is_of = |group: &&Group| group.stamp.is_of_set(stamp) && group.threads & stamp.bit() != 0;
        self.groups.iter().find(is_of).map(|group| group.stamp)
    }

    /// Returns any one of the accesses in the set.
    pub(super) fn first(&self) -> Option<Stamp> {
        self.groups.first()?.stamps().next()
    }

    /// If `stamp` differs only in its thread from the access added last, adds `stamp` and returns true.
    #[inline]
    pub(super) fn add_like_last(&mut self, stamp: &Stamp) -> bool {
        match self.groups.last_mut() {
            Some(last) if !self.is_unpublished && last.stamp.is_like(stamp) => {
                last.threads |= stamp.bit();
                true
            }
            _ => false,
        }
    }

    /// Returns an access of the set that is not in `past`, if there is one.
    pub(super) fn first_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        self.groups.iter().find_map(|group| group.first_outside(past))
    }

    /// Returns true if any access of the set is in `past`.
    pub(super) fn has_inside(&self, past: &Past<'_>) -> bool {
        self.groups.iter().any(|group| past.inside(group) != 0)
    }

    /// Adds the access `stamp`. May remove accesses in `past`, which is the past of `stamp`: `stamp` subsumes them.
    #[inline]
    pub(super) fn add(&mut self, stamp: &Stamp, past: &Past<'_>) {
        match self.groups.last_mut() {
            _ if self.is_unpublished => {}
            Some(last) if last.stamp.is_like(stamp) => last.threads |= stamp.bit(),
            None => self.groups.push(Group::new(*stamp)),
            Some(_) => self.add_unlike(stamp, past),
        }
    }

    fn add_unlike(&mut self, stamp: &Stamp, past: &Past<'_>) {
        let is_unpublished = |group: &&Group| past.is_unpublished(&group.stamp);
        let is_time = self.groups.len() >= MIN_TO_SEARCH.max(self.limit as usize);
        let ends = [self.groups.first(), self.groups.last()];
        let mut unpublished = ends.into_iter().flatten().find(is_unpublished);
        if unpublished.is_none() && is_time {
            unpublished = self.groups.iter().find(is_unpublished);
        }
        if let Some(&unpublished) = unpublished {
            let stamp = unpublished.stamps().next().unwrap_or(unpublished.stamp);
            self.groups.clear();
            self.groups.push(Group::new(stamp));
            self.is_unpublished = true;
            return;
        }
        let base = past.clocks.base();
        let is_over = |group: &Group| group.stamp.block == past.block && group.stamp.epoch < base;
        if is_time {
            self.groups.retain(|group| group.first_outside(past).is_some());
            self.limit = 2 * self.groups.len() as u32;
        } else if self.groups.last().is_some_and(is_over) {
            self.groups.retain(|group| !is_over(group));
        }
        self.merge(stamp);
    }

    /// Adds the access `stamp`, and removes earlier accesses of the same thread.
    fn merge(&mut self, stamp: &Stamp) {
        let mut is_in = false;
        self.groups.retain_mut(|group| {
            if group.stamp.is_like(stamp) {
                group.threads |= stamp.bit();
                is_in = true;
            } else if group.stamp.block == stamp.block
                && group.stamp.thread() / SET == stamp.thread() / SET
                && group.stamp.epoch <= stamp.epoch
            {
                group.threads &= !stamp.bit();
            }
            group.threads != 0
        });
        if !is_in {
            self.groups.push(Group::new(*stamp));
        }
    }

    /// Adds `stamp`, unless the set has an earlier access of the same thread. A past with `stamp` also has that access.
    pub(super) fn add_first(&mut self, stamp: &Stamp, past: &Past<'_>) {
        if let Some(last) = self.groups.last()
            && past.is_unpublished(&last.stamp)
        {
            self.groups.retain(|group| !past.is_unpublished(&group.stamp));
        }
        let is_of = |group: &Group| {
            let is_of_set = group.stamp.block == stamp.block && group.stamp.thread() / SET == stamp.thread() / SET;
            is_of_set && group.threads & stamp.bit() != 0
        };
        if self.groups.iter().any(is_of) {
            return;
        }
        match self.groups.last_mut() {
            Some(last) if last.stamp.is_like(stamp) => last.threads |= stamp.bit(),
            _ => self.groups.push(Group::new(*stamp)),
        }
    }
}

/// The number of an atomic write in a launch that explores weak memory. 0 stands for the value before the first
/// atomic write, and for writes of other launches, which have no numbers.
pub(super) type Serial = u32;

/// The numbers of the atomic writes that an atomic access reads and makes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Version {
    /// The write whose value the access reads.
    pub(super) reads: Serial,
    /// The write that the access makes.
    pub(super) writes: Serial,
    /// The lowest number of a write that a later access to the address may read.
    pub(super) oldest: Serial,
}

/// The accesses to a cell's bytes since the last plain write.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) reads: Accesses,
    atomics: Option<Box<Atomics>>,
}

/// The atomic accesses to a cell's bytes since the last plain write.
#[derive(Clone, Debug, Default)]
struct Atomics {
    reads: Accesses,
    /// The last atomic write. This write subsumes the writes that its thread knew or has read.
    last_write: Option<Write>,
    /// The atomic writes that `last_write` does not subsume.
    writes: Vec<Write>,
    /// The number of `writes` at which `add_write` searches for a write that subsumes all others.
    limit: usize,
}

impl History {
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.atomics = None;
    }

    /// Returns true if the history has only plain reads.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.atomics.is_none()
    }

    pub(super) fn has_atomic_writes(&self) -> bool {
        self.atomics.as_ref().is_some_and(|atomics| atomics.last_write.is_some())
    }

    /// Returns an atomic write that would race with a plain access, because the write is not in `past`.
    #[inline]
    pub(super) fn atomic_write_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        self.atomics.as_ref().and_then(|atomics| atomics.write_outside(past))
    }

    /// Returns an atomic read that would race with a plain write, because the read is not in `past`.
    pub(super) fn atomic_read_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        self.atomics.as_ref().and_then(|atomics| atomics.reads.first_outside(past))
    }

    /// Returns the last atomic write to the bytes of the history.
    pub(super) fn last_atomic_write(&self) -> Option<Stamp> {
        self.atomics.as_ref()?.last_write.as_ref().map(|write| write.group.stamp)
    }

    /// Returns the recorded atomic writes and, if `with_reads` is true, the recorded atomic reads.
    pub(super) fn atomics(&self, with_reads: bool) -> impl Iterator<Item = Stamp> {
        self.atomics.iter().flat_map(move |atomics| {
            let writes = atomics.last_write.iter().chain(&atomics.writes).flat_map(|write| write.group.stamps());
            let reads = atomics.reads.groups.iter().filter(move |_| with_reads).flat_map(|group| group.stamps());
            writes.chain(reads)
        })
    }

    /// Adds an atomic read. `version` is the write whose value it reads, or `None` for the last write.
    pub(super) fn add_atomic_read(&mut self, stamp: &Stamp, past: &Past<'_>, version: Option<Version>) {
        let atomics = self.atomics.get_or_insert_default();
        atomics.reads.add(stamp, past);
        let is_read = |write: &&mut Write| version.is_none_or(|version| write.is(version.reads));
        // A thread that knows its own write needs no record of reading it.
        if let Some(write) = atomics.last_write.iter_mut().chain(&mut atomics.writes).find(is_read)
            && (write.group.stamp.block, write.group.stamp.thread()) != (stamp.block, stamp.thread())
        {
            write.observers.add_first(stamp, past);
        }
    }

    /// Starts the history with an atomic write.
    pub(super) fn begin_with_write(&mut self, stamp: &Stamp) {
        self.atomics.get_or_insert_default().last_write = Some(Write::new(*stamp, 0));
    }

    /// Adds an atomic write. `reads` is true if the access also reads, as an atomic update does: it then reads the
    /// write of `version`, or the last write if `version` is `None`.
    pub(super) fn add_atomic_write(&mut self, stamp: &Stamp, past: &Past<'_>, reads: bool, version: Option<Version>) {
        self.atomics.get_or_insert_default().add_write(stamp, past, reads, version);
    }
}

impl Atomics {
    fn write_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        self.last_write.iter().chain(&self.writes).find_map(|write| write.first_outside(past))
    }

    fn add_write(&mut self, stamp: &Stamp, past: &Past<'_>, reads: bool, version: Option<Version>) {
        let Version { reads: source, writes: serial, oldest } = version.unwrap_or_default();
        let reads_last = |last: &Write| reads && (version.is_none() || last.is(source));
        let last = self.last_write.replace(Write::new(*stamp, serial));
        let last = last.filter(|last| !reads_last(last) && !last.is_before(past));
        // This must happen now: a thread that later reads this write does not know all of this past. A thread that
        // knows an update also knows the write that the update has read.
        self.writes.retain_mut(|write| !(reads && write.is(source)) && write.keep_outside(past));
        if self.writes.len() >= MIN_TO_SEARCH.max(self.limit) {
            if let Some(unpublished) = self.writes.iter().position(|write| write.is_unpublished(past)) {
                self.writes.drain(unpublished + 1..);
                self.writes.drain(..unpublished);
            }
            self.writes.dedup_by(|write, before| before.add(write, oldest));
            self.limit = 2 * self.writes.len();
        }
        // A write that no thread can ever have in its past subsumes all others.
        let is_unpublished = |write: &Write| write.is_unpublished(past);
        if let Some(last) = last
            && !self.writes.first().is_some_and(is_unpublished)
        {
            if last.is_unpublished(past) {
                self.writes.clear();
            }
            if !self.writes.last_mut().is_some_and(|before| before.add(&last, oldest)) {
                self.writes.push(last);
            }
        }
    }
}
