//! Chooses what an access reads, where a store is inserted, and whether a thread waits.

use super::location::Location;
use super::policy::MAX_STALE;
use super::{Pick, Weak, is_tracked};
use crate::block::context::BlockContext;
use crate::check::history::Past;
use crate::region::Space;
use crate::watch::Touch;

impl Weak {
    /// Chooses what the next access or fence of the current thread reads, or lets the thread wait.
    pub(in crate::check) fn must_wait(
        &mut self,
        block: &BlockContext,
        touch: Option<(&Touch, u32)>,
        is_over: bool,
    ) -> bool {
        self.pick = None;
        if let Some((touch, _)) = touch {
            self.note_limit(block, touch);
        }
        let (tag, thread) = (block.tag.get(), block.thread().linear());
        let resident = &mut self.residents[tag as usize];
        let since = resident.waits.get(&thread).copied();
        if is_over && since.is_some() {
            // The threads that could continue this one wait, too. Other choices reach the same execution.
            resident.waits.remove(&thread);
            self.policy.note_redundant();
            if self.promises.outstanding().is_some() {
                // The newest value may not be allowed.
                self.policy.discard();
            }
            return false;
        }
        let Some((touch, site)) = touch else {
            if !self.policy.is_exhaustive() || since == Some(self.fences) {
                return since.is_some();
            }
            let waits = self.policy.choose(2) == 1;
            resident.waits.remove(&thread);
            resident.waits.extend(waits.then_some((thread, self.fences)));
            return waits;
        };
        if !is_tracked(touch.access) {
            return false;
        }
        let (locations, space) = match touch.space {
            Space::Global => (&mut self.locations, None),
            Space::Shared => (&mut resident.locations, Some(tag)),
        };
        let past =
            Past { clocks: &resident.clocks, publications: &self.publications, block: resident.clocks.block, thread };
        let location = locations.get(touch.address, touch.bytes);
        if !touch.access.reads() {
            if let Some(location) = location {
                let promise = self.promises.due((past.block, thread), (touch.space, touch.address));
                let place = promise.and_then(|serial| location.place_of_promise(serial, &past));
                self.pick = Some(match place {
                    Some(place) => Pick { source: 0, position: place, is_promise: true },
                    None => {
                        let positions = location.positions(&past);
                        let position = positions[self.policy.choose_position(positions.len())];
                        Pick { source: 0, position, is_promise: false }
                    }
                });
            }
            return false;
        }
        let executed = location.map_or(0, Location::last_executed);
        if since == Some(executed) {
            return true;
        }
        let can_wait = self.policy.is_exhaustive();
        if !can_wait && location.is_none() {
            return false;
        }
        let newest = location.map_or(0, Location::newest);
        let is_update = touch.access.writes();
        let mut sources = location.map_or_else(Vec::new, |location| location.sources(&past, is_update));
        if let (Some(location), Some(promised)) = (location, self.promises.outstanding()) {
            // An update reads executed writes, and no thread reads its own promise.
            let may_read = !is_update && promised.promise.thread != (past.block, thread);
            sources.retain(|&source| may_read || !location.entries[source].is_promised);
        }
        if let (Some(since), Some(location)) = (since, location) {
            sources.retain(|&source| location.entries[source].serial > since);
            if sources.is_empty() {
                resident.waits.insert(thread, executed);
                return true;
            }
        }
        if sources.len() < 2 && !can_wait {
            return false;
        }
        let key = (space, touch.address, u64::from(past.block) << 32 | u64::from(thread), site);
        let (of, count) = self.stale.get(&key).copied().unwrap_or_default();
        // A thread that has waited for a write may read it, even if the write is not the newest.
        let count = if of == newest && since.is_none() { count } else { 0 };
        let pick = |choice: usize| sources.get(choice).map(|&source| Pick { source, position: 0, is_promise: false });
        // The thread has seen a promise, but may not read it.
        let has_no_source = sources.is_empty() && location.is_some();
        if count >= MAX_STALE {
            resident.waits.remove(&thread);
            self.pick = pick(0);
            if has_no_source {
                self.policy.discard();
            }
            return false;
        }
        let options = sources.len().max(1);
        if can_wait && !is_update {
            let positions = location.map_or(1, |location| location.positions(&past).len());
            if let Some(source) = self.read_promise(block, touch, options + 1) {
                self.residents[tag as usize].waits.remove(&thread);
                self.pick = Some(Pick { source, position: 0, is_promise: true });
                return false;
            }
            self.note_load(block, touch, options + 1, positions);
        }
        let resident = &mut self.residents[tag as usize];
        let choice = self.policy.choose_source(options, can_wait, is_update, site);
        if choice > 0 || can_wait {
            self.stale.insert(key, (newest, count + 1));
        }
        if choice >= options {
            resident.waits.insert(thread, executed);
            return true;
        }
        resident.waits.remove(&thread);
        self.pick = pick(choice);
        if has_no_source {
            self.policy.discard();
        }
        false
    }

    /// Notes the limit by which the next access of the current thread has fewer choices, if there is one.
    fn note_limit(&mut self, block: &BlockContext, touch: &Touch) {
        if self.limit.is_some() || !is_tracked(touch.access) {
            return;
        }
        let (resident, thread) = (&self.residents[block.tag.get() as usize], block.thread().linear());
        let past =
            Past { clocks: &resident.clocks, publications: &self.publications, block: resident.clocks.block, thread };
        let locations = if touch.space == Space::Global { &self.locations } else { &resident.locations };
        if let Some(limit) = locations.limit(touch, &past)
            && !self.policy.note_limit()
        {
            self.limit = Some((limit, touch.at));
        }
    }
}
