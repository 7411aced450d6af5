//! Checks and records an access.

use super::State;
use super::history::Past;
use super::phases::BarrierId;
use super::resident::{Resident, SharedState};
use super::shadow::{Conflict, Finding, PLAIN, Toucher, uses};
use super::stamp::Stamp;
use crate::block::context::BlockContext;
use crate::region::Space;
use crate::watch::{Access, MemoryOrder, Touch};

impl State {
    /// Returns the state of the running `block`.
    pub(super) fn resident(&mut self, block: &BlockContext) -> &mut Resident {
        &mut self.residents[block.tag.get() as usize]
    }

    /// Checks the access `touch` of the current thread of `block`, and records it.
    #[inline(always)]
    pub(super) fn touch(&mut self, block: &BlockContext, touch: &Touch) -> Result<(), Finding> {
        let bytes = if touch.access.is_atomic() { touch.bytes } else { 0 };
        let site = self.sites.number(touch.at, touch.access, bytes);
        let is_unused = block.unused.is_noted(block.thread());
        let thread = block.thread().linear();
        let Resident { clocks, memory, messages, writes, arrivals, dependencies, .. } =
            &mut self.residents[block.tag.get() as usize];
        let SharedState { shadow, histories, objects, initial, .. } = memory;
        let stamp = Stamp::new(clocks.block, thread, clocks.epoch(thread), site, PLAIN);
        let past = Past { clocks, publications: &self.publications, block: clocks.block, thread };
        let version = match &mut self.weak {
            Some(weak) if touch.access.is_atomic() => weak.begin(block, touch),
            _ => None,
        };
        let (objects, initial, found, overwrites_atomic, is_first) = match touch.space {
            Space::Global => {
                if !dependencies.allow(block.thread(), site) {
                    return Err(Finding::BeforeDependencies);
                }
                let histories = &mut self.histories;
                self.has_narrow |= touch.access.is_narrow();
                self.has_system |= touch.access.is_for_system();
                let mut toucher = Toucher::new((past, stamp), histories, &self.sites, is_unused);
                toucher.has_narrow = self.has_narrow;
                toucher.version = version.map(|(version, _)| version);
                self.read_only.check(touch)?;
                if self.global.touch(touch, &mut toucher)? && touch.access == Access::ReadOnlyLoad {
                    self.read_only.note(touch, stamp);
                }
                let Toucher { found, overwrites_atomic, initialises, .. } = toucher;
                (&mut self.objects, &mut self.initial, found, overwrites_atomic, initialises)
            }
            Space::Shared => {
                let mut toucher = Toucher::new((past, stamp), histories, &self.sites, is_unused);
                toucher.version = version.map(|(version, _)| version);
                shadow.touch(touch, &mut toucher)?;
                let Toucher { found, overwrites_atomic, initialises, .. } = toucher;
                (objects, initial, found, overwrites_atomic, initialises)
            }
        };
        if touch.access.is_atomic() {
            if is_first || !initial.is_empty() {
                // A new `Past`, so that the compiler keeps the earlier `past` in registers.
                let past = Past { clocks, publications: &self.publications, block: clocks.block, thread };
                let access = (touch.address, is_first, uses(touch.access, is_unused));
                let early = |with| Finding::Early(Conflict { with, address: touch.address });
                initial.follow(access, stamp, past).map_err(early)?;
            }
            // Arriving at a barrier or waiting for its phase reads no message.
            match touch.access {
                Access::Arrive => {
                    arrivals.arrive(touch.address, stamp);
                    self.arrival(block, BarrierId::Shared(touch.address));
                    return Ok(());
                }
                Access::AtomicLoad(MemoryOrder::Phase, _) => {
                    arrivals.wait(touch.address, thread);
                    self.wait(block, BarrierId::Shared(touch.address));
                    return Ok(());
                }
                access => {
                    let found = version.map_or(found, |(_, found)| found);
                    messages.note(thread, &stamp, found, access);
                    if access.writes() {
                        writes.note(&stamp, true);
                    }
                }
            }
            self.uses_other_fence |= touch.space == Space::Global && clocks.has_passed_fence() && touch.access.writes();
            match &mut self.weak {
                Some(weak) => {
                    weak.order((objects, clocks, &mut self.publications), block, touch, (stamp, is_first));
                }
                None => objects.order(clocks, &mut self.publications, thread, touch.address, touch.access),
            }
        } else if touch.access.writes() {
            writes.note(&stamp, false);
        }
        if overwrites_atomic && !touch.access.is_atomic() {
            for address in touch.address..touch.address + touch.bytes {
                objects.overwrite(address);
                initial.overwrite(address);
            }
            if touch.space == Space::Shared {
                self.resident(block).memory.phases.overwrite(touch.address);
            }
            if let Some(weak) = &mut self.weak {
                weak.overwrite(block, touch);
            }
        }
        Ok(())
    }
}
