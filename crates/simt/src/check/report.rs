//! Makes the fault that reports an access that the checker has rejected.

use super::arrivals::Later;
use super::copies::AsyncCopy;
use super::history::Past;
use super::resident::Resident;
use super::shadow::{Conflict, Finding};
use super::sites::{Site, Sites};
use super::stamp::Stamp;
use super::weak::Missed;
use super::{Checker, number};
use crate::block::context::BlockContext;
use crate::faults::older::OlderValue;
use crate::faults::race::{Element, MissedPhase, PastRow, Race, RaceSide, ShortPhase};
use crate::faults::remedy::Remedy;
use crate::faults::{CopyUnderWay, FaultKind};
use crate::geometry::Dim3;
use crate::lanes::Thread;
use crate::region::{ArrayPosition, Region, SharedPart, Space};
use crate::source::is_same_line;
use crate::watch::{Access, Next, Touch};

impl Checker {
    #[cold]
    /// Returns the fault of the access `touch` of the current thread of `block`. `owner` is the block whose shared
    /// memory it accesses, if it accesses shared memory.
    pub(super) fn fault(&self, block: &BlockContext, owner: &BlockContext, touch: &Touch, finding: Finding) -> Next {
        if let Some(weak) = &self.state.borrow().weak
            && matches!(finding, Finding::Race(_) | Finding::Early(_))
        {
            weak.note_race(touch.address, touch.bytes);
        }
        Next::Fault(Box::new(self.kind(block, owner, touch, finding)))
    }

    fn kind(&self, block: &BlockContext, owner: &BlockContext, touch: &Touch, finding: Finding) -> FaultKind {
        let (Conflict { with, address }, is_early) = match finding {
            Finding::Uninitialised { address, since } => {
                let Element { array, element_type, index, .. } = self.element(owner, touch, address);
                let copy = since.and_then(|since| self.copy_of(owner, &since, address)).map(Box::new);
                return FaultKind::Uninitialised { space: touch.space, array, element_type, index, copy };
            }
            Finding::BeforeDependencies => return FaultKind::BeforeDependencies,
            Finding::Race(conflict) | Finding::Unfenced(conflict) => (conflict, false),
            Finding::Early(conflict) => (conflict, true),
        };
        let here = block.thread();
        let other = self.state.borrow().sites.get(with.site());
        let copy = if other.access.is_of_copy() { self.last_copy(owner, address) } else { None };
        // The report names the line at which the copy began.
        let there = copy.map_or(other, |copy| self.state.borrow().sites.get(copy.begin.site()));
        let is_read_only = [touch.access, other.access].contains(&Access::ReadOnlyLoad);
        let overlap = if is_early { None } else { self.overlap(owner, touch, address, other).map(Box::new) };
        let is_unfenced = matches!(finding, Finding::Unfenced(_));
        let (other_block, other_thread) = self.author(&with);
        let is_of_cluster = touch.space == Space::Shared && [other_block, block.index()] != [owner.index(); 2];
        let is_apart = is_read_only || overlap.is_some() || is_early || is_unfenced;
        let is_copied = touch.space == Space::Shared && [touch.access, other.access].contains(&Access::AsyncWrite);
        let short = if is_copied && !is_apart { self.short_phase(owner, address).map(Box::new) } else { None };
        let is_apart = is_apart || short.is_some();
        let phase = if is_apart { None } else { self.missed_phase(block, touch, (&with, there)).map(Box::new) };
        let remedy = match &overlap {
            _ if is_read_only => Remedy::OrdinaryLoad,
            _ if is_unfenced && touch.access == Access::Arrive => Remedy::InitFence,
            _ if is_unfenced => Remedy::ProxyFence,
            Some(_) => Remedy::PartsApart,
            None if is_early => self.between(block, &with, Remedy::InitialiseBefore),
            None if short.is_some() => Remedy::ExpectAllBytes,
            None if phase.is_some() => Remedy::LaterPhase,
            None => self.remedy(block, touch, (&with, there), copy),
        };
        let element = self.element(owner, touch, address);
        let threads = [(block.index(), here.index()), (other_block, other_thread.index())];
        let past_row =
            (remedy == Remedy::OneThread).then(|| PastRow::find(element.index, threads, self.extent.dim)).flatten();
        let race = Race {
            space: touch.space,
            element,
            owner: is_of_cluster.then(|| owner.index()),
            remedy,
            overlap,
            bytes: touch.bytes,
            phase,
            short,
            past_row,
            here: RaceSide {
                block: block.index(),
                thread: here.index(),
                location: touch.at.into(),
                access: touch.access.into(),
            },
            there: RaceSide {
                block: other_block,
                thread: other_thread.index(),
                location: there.at.into(),
                access: other.access.into(),
            },
        };
        let race = Box::new(race);
        match (is_read_only, is_early) {
            _ if is_unfenced => FaultKind::WithoutProxyFence(race),
            (true, _) => FaultKind::WrittenReadOnly(race),
            (false, true) => FaultKind::EarlyRead(race),
            (false, false) => FaultKind::Race(race),
        }
    }

    /// Returns a phase of a barrier of `owner` that has ended without the bytes of a bulk copy to `address`.
    fn short_phase(&self, owner: &BlockContext, address: usize) -> Option<ShortPhase> {
        let short = owner.bulk.counts.short_phase(address)?;
        Some(ShortPhase { barrier: owner.arena.locate(short.address, 8).and_then(ArrayPosition::named), ..short })
    }

    /// Returns the phase of a barrier in shared memory for which the current thread, or the thread of the earlier
    /// access `with` at the source site `other`, has not waited before its access.
    fn missed_phase(&self, block: &BlockContext, touch: &Touch, (with, other): (&Stamp, Site)) -> Option<MissedPhase> {
        let (state, thread) = (self.state.borrow(), block.thread().linear());
        let Resident { clocks, arrivals, .. } = &state.residents[block.tag.get() as usize];
        if with.block != clocks.block || with.thread() == thread || touch.access.is_atomic() || other.access.is_atomic()
        {
            return None;
        }
        let is_load = touch.access == Access::Load;
        let here = || Some((thread, arrivals.later_phase(thread, with.thread(), Some(with), is_load)?));
        let there = || Some((with.thread(), arrivals.later_phase(with.thread(), thread, None, !is_load)?));
        // The first wait of a thread that stores is often for no phase, because the memory is free.
        let found = if is_load { here().or_else(there) } else { there().or_else(here) };
        let (waiter, Later { address, waited, needed }) = found?;
        let barrier = block.arena.locate(address, 8).and_then(ArrayPosition::named);
        Some(MissedPhase { barrier, address, thread: self.extent.thread(waiter).index(), waited, needed })
    }

    /// Records that the access `touch` has not seen the newest write, or that it has.
    #[cold]
    pub(super) fn note_older(&self, block: &BlockContext, touch: &Touch) {
        let missed = self.state.borrow_mut().weak.as_mut().and_then(|weak| weak.take_missed());
        let older = &mut *self.older.borrow_mut();
        match missed {
            Some(missed) => older.add(self.older_value(block, touch, missed)),
            None if touch.access.reads() => older.remove(block.index(), block.thread().index(), touch.address),
            None => {}
        }
    }

    /// Returns the report of the access `touch`, which did not see the earlier atomic write `missed`, or which a load
    /// has seen before.
    fn older_value(&self, block: &BlockContext, touch: &Touch, missed: Missed) -> OlderValue {
        let thread = block.thread();
        let state = self.state.borrow();
        let Resident { clocks, messages, .. } = &state.residents[block.tag.get() as usize];
        // An update reads and writes, and a store of another thread that must come first needs the same order.
        let Missed { other: write, is_early } = missed;
        let remedy = if is_early {
            Remedy::LoadsBeforeStores
        } else {
            messages.remedy(thread.linear(), &write, clocks).unwrap_or(Remedy::SequentialFences)
        };
        let other = state.sites.get(write.site());
        drop(state);
        OlderValue {
            space: touch.space,
            element: self.element(block, touch, touch.address),
            access: RaceSide {
                block: block.index(),
                thread: thread.index(),
                location: touch.at.into(),
                access: touch.access.into(),
            },
            missed: RaceSide {
                block: self.author(&write).0,
                thread: self.author(&write).1.index(),
                location: other.at.into(),
                access: other.access.into(),
            },
            remedy,
        }
    }

    /// Returns the remedy that would order the access `touch` after the earlier access `with`. `other` is the source
    /// site of the earlier access.
    fn remedy(
        &self,
        block: &BlockContext,
        touch: &Touch,
        (with, other): (&Stamp, Site),
        copy: Option<AsyncCopy>,
    ) -> Remedy {
        let (accesses, thread) = ([touch.access, other.access], block.thread().linear());
        if accesses.iter().any(|access| access.is_asynchronous()) {
            return of_agents(touch.access, other.access);
        }
        if accesses.iter().all(|access| access.is_atomic()) {
            return if touch.bytes == other.bytes { Remedy::WiderScope } else { Remedy::OneWidth };
        }
        let state = self.state.borrow();
        let Resident { clocks, messages, arrivals, .. } = &state.residents[block.tag.get() as usize];
        let past = Past { clocks, publications: &state.publications, block: clocks.block, thread };
        if let Some(copy) = copy.filter(|copy| copy.is_under_way) {
            return after_copy(touch, (with, other), copy, &past);
        }
        let here =
            Site { at: touch.at, access: touch.access, bytes: if touch.access.is_atomic() { touch.bytes } else { 0 } };
        if let Some(remedy) = beside_atomic(&state.sites, here, other) {
            return remedy;
        }
        let running = state.residents.iter().find(|resident| resident.clocks.block == with.block);
        let writes = running.map(|resident| &resident.writes).filter(|writes| writes.is_used());
        let writes = writes.or_else(|| state.ended_writes.get(&with.block));
        let is_early = |from: &Stamp| writes.is_some_and(|writes| writes.is_before(from, with));
        let is_update = match accesses {
            [Access::Store, Access::Load] => state.sites.is_update(here, other),
            [Access::Load, Access::Store] => state.sites.is_update(other, here),
            _ => false,
        };
        if !(is_update && messages.only_count()) {
            if messages.last(thread).is_some_and(|from| is_early(&from)) {
                return Remedy::FlagAfterAccess;
            }
            if let Some(remedy) = messages.remedy(thread, with, clocks) {
                return remedy;
            }
        }
        if with.block == clocks.block && arrivals.lacks_warp_synchronisation(thread, with) {
            return Remedy::WarpBeforeArrival;
        }
        if let Some(copy) = copy {
            return after_copy(touch, (with, other), copy, &past);
        }
        if touch.access.is_of_copy() {
            return Remedy::EitherSideOfCopyByBarrier;
        }
        if accesses.contains(&Access::Borrow) {
            return Remedy::NoBorrow;
        }
        if accesses == [Access::Store; 2] && is_same_line(touch.at, other.at) {
            return Remedy::OneThread;
        }
        if is_update {
            let store = if touch.access == Access::Store { [here, other] } else { [other, here] };
            return if with.block == clocks.block && follows(store) {
                Remedy::BarrierAfterLoads
            } else {
                Remedy::AtomicUpdate
            };
        }
        let is_update_of_own = match accesses {
            [Access::Store, Access::Load] => state.sites.updates(here),
            [Access::Load, Access::Store] => state.sites.updates(other),
            _ => false,
        };
        if is_update_of_own && touch.space == Space::Global && self.grid.count() > 1 {
            return Remedy::AnotherArray;
        }
        let between_blocks = match self.is_cooperative {
            _ if self.cluster_of(with.block) == self.cluster_of(number(block)) => Remedy::ClusterBarrier,
            true => Remedy::GridBarrier,
            false => Remedy::BetweenBlocks,
        };
        self.between(block, with, between_blocks)
    }

    /// Returns the remedy that orders the current thread after the thread that made the access `with`. Returns
    /// `between_blocks` if that thread is in another block.
    fn between(&self, block: &BlockContext, with: &Stamp, between_blocks: Remedy) -> Remedy {
        if with.block == number(block) {
            Remedy::in_block(block.thread().linear(), with.thread())
        } else {
            between_blocks
        }
    }

    /// Returns the block and the thread that made the access `stamp` or issued the operation that made it.
    pub(super) fn author(&self, stamp: &Stamp) -> (Dim3, Thread) {
        let (block, thread) = match self.state.borrow().agents.issuer(stamp) {
            Some(issuer) => issuer,
            None => (stamp.block, self.extent.thread(stamp.thread())),
        };
        (self.order.index_at(block.into(), self.grid).1, thread)
    }

    /// Returns the last asynchronous copy to the byte at `address` of the block's shared memory.
    fn last_copy(&self, block: &BlockContext, address: usize) -> Option<AsyncCopy> {
        self.state.borrow().residents[block.tag.get() as usize].memory.shadow.copies.at(address)
    }

    /// Returns the asynchronous copy to `address` that the access `stamp` begins, or `None` if `stamp` is another kind
    /// of access.
    fn copy_of(&self, block: &BlockContext, stamp: &Stamp, address: usize) -> Option<CopyUnderWay> {
        let Site { at, access, .. } = self.state.borrow().sites.get(stamp.site());
        let thread = self.extent.thread(stamp.thread()).index();
        let overwrites = self.last_copy(block, address).is_some_and(|copy| copy.overwrites);
        (access == Access::Discard).then(|| CopyUnderWay { thread, location: at.into(), overwrites })
    }

    /// Returns two overlapping parts of dynamic shared memory that contain `address`. If `touch` and the access at
    /// `other` have the same source site, neither part may contain the other.
    fn overlap(&self, block: &BlockContext, touch: &Touch, address: usize, other: Site) -> Option<[SharedPart; 2]> {
        if touch.space == Space::Shared {
            block.arena.overlap(address, !is_same_line(touch.at, other.at))
        } else {
            None
        }
    }

    /// Returns the array element that contains the byte at `address`: in the shared memory of `owner`, or in global
    /// memory.
    fn element(&self, owner: &BlockContext, touch: &Touch, address: usize) -> Element {
        let found = match touch.space {
            Space::Shared => return Element::in_shared(&owner.arena, address, touch.bytes),
            Space::Global => {
                let holds = |region: &&Region| address.wrapping_sub(region.start) < region.bytes;
                let fits = |region: &&Region| region.is_writable || !touch.access.writes();
                let mut regions = self.regions.iter().filter(holds);
                let given = regions.clone().find(fits).or_else(|| regions.next()).copied();
                let region = given.or_else(|| self.statics.as_ref()?.at(address));
                region.map(|region| (region.name, None, (address - region.start) / region.element.max(1)))
            }
        };
        match found {
            Some((array, element_type, index)) => Element { array: Some(array), element_type, index, address },
            None => Element { array: None, element_type: None, index: address, address },
        }
    }
}

/// Returns the remedy for a race in which an asynchronous operation takes part: it made one of the two accesses, of
/// which `here` is the later one.
fn of_agents(here: Access, other: Access) -> Remedy {
    match (here.is_asynchronous(), other) {
        (_, Access::ProductRead) => Remedy::WaitForFactors,
        (true, other) if other.is_asynchronous() => Remedy::BetweenOperations,
        (true, _) => Remedy::BeforeOperation,
        (false, Access::AsyncRead) => Remedy::WaitForReads,
        (false, _) => Remedy::WaitForOperation,
    }
}

/// Returns the remedy for a race of an atomic access and a plain one, if a barrier between the two is not the remedy.
fn beside_atomic(sites: &Sites, here: Site, other: Site) -> Option<Remedy> {
    let [atomic, plain] = match (here.access.is_atomic(), other.access.is_atomic()) {
        (true, false) => [here, other],
        (false, true) => [other, here],
        _ => return None,
    };
    match plain.access {
        Access::Load if sites.is_update(atomic, plain) => Some(Remedy::AtomicLoad),
        Access::Store if sites.is_update(plain, atomic) => Some(Remedy::AtomicStore),
        _ => None,
    }
}

/// Returns true if the first of two sites of a block's loop follows the second only in the next iteration, because it
/// precedes the second in the source.
fn follows([store, load]: [Site; 2]) -> bool {
    let place = |site: Site| (site.at.line(), site.at.column());
    store.at.file() == load.at.file() && place(store) < place(load) && store.at.line() < load.at.line()
}

/// Returns the remedy that orders the access `touch` after the asynchronous `copy`. `with` is the access that begins or
/// ends the copy, and `other` is its source site.
fn after_copy(touch: &Touch, (with, other): (&Stamp, Site), copy: AsyncCopy, past: &Past<'_>) -> Remedy {
    let (is_own, is_after) = (with.thread() == past.thread, past.has_stamp(&copy.begin));
    if is_own {
        Remedy::WaitForCopy
    } else if touch.access.is_of_copy() && !is_after && is_same_line(touch.at, other.at) {
        Remedy::OneCopy
    } else if is_after || !touch.access.writes() && !copy.overwrites {
        // The access cannot need the old value, because the access follows the copy's beginning or the old value is
        // uninitialised.
        Remedy::WaitForCopyAndBarrier
    } else {
        Remedy::EitherSideOfCopyByBarrier
    }
}
