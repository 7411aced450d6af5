//! What is reported of an access that goes wrong.

use super::shadow::{Conflict, Finding};
use super::sites::Site;
use super::stamp::Stamp;
use super::{Checker, Resident, number};
use crate::block::context::BlockContext;
use crate::fault::{CopyUnderWay, FaultKind};
use crate::race::{Element, Race, RaceAccess, RaceSide};
use crate::region::{Region, Space};
use crate::remedy::Remedy;
use crate::source::is_same_line;
use crate::watch::{Access, Next, Touch};

impl Checker {
    #[cold]
    pub(super) fn fault(&self, block: &BlockContext, touch: &Touch, finding: Finding) -> Next {
        Next::Fault(Box::new(self.kind(block, touch, finding)))
    }

    fn kind(&self, block: &BlockContext, touch: &Touch, finding: Finding) -> FaultKind {
        let (Conflict { with, address }, is_early) = match finding {
            Finding::Uninitialised { address, since } => {
                let Element { array, element_type, index, .. } = self.element(block, touch, address);
                let copy = since.and_then(|since| self.copy_of(&since)).map(Box::new);
                return FaultKind::Uninitialised { space: touch.space, array, element_type, index, copy };
            }
            Finding::BeforeDependencies => return FaultKind::BeforeDependencies,
            Finding::Race(conflict) => (conflict, false),
            Finding::Early(conflict) => (conflict, true),
        };
        let here = block.thread();
        let other = self.state.borrow().sites.get(with.site());
        let (_, other_block) = self.order.place_at(with.block.into(), self.grid);
        let race = Race {
            space: touch.space,
            element: self.element(block, touch, address),
            here: RaceSide {
                block: block.index(),
                thread: here.index(),
                location: touch.at.into(),
                access: kind_of(touch.access),
            },
            there: RaceSide {
                block: other_block,
                thread: self.extent.thread(with.thread()).index(),
                location: other.at.into(),
                access: kind_of(other.access),
            },
            remedy: if is_early {
                self.between(block, &with, Remedy::InitialiseBefore)
            } else {
                self.remedy(block, touch, (&with, other))
            },
        };
        let race = Box::new(race);
        if is_early { FaultKind::EarlyRead(race) } else { FaultKind::Race(race) }
    }

    /// What would order an access and an earlier one, `with` at `other`.
    fn remedy(&self, block: &BlockContext, touch: &Touch, (with, other): (&Stamp, Site)) -> Remedy {
        let (accesses, thread) = ([touch.access, other.access], block.thread().linear());
        if accesses.iter().all(|access| access.is_atomic()) {
            return if touch.bytes == other.bytes { Remedy::WiderScope } else { Remedy::OneWidth };
        }
        let state = self.state.borrow();
        let Resident { clocks, messages, .. } = &state.residents[block.tag.get() as usize];
        if let Some(remedy) = messages.remedy(thread, with, clocks) {
            return remedy;
        }
        if !touch.access.writes() && other.access == Access::Discard {
            return Remedy::WaitForCopyAndBarrier;
        }
        if accesses == [Access::Store; 2] && is_same_line(touch.at, other.at) {
            return Remedy::OneThread;
        }
        let here = Site { at: touch.at, access: touch.access, bytes: 0 };
        let is_update = match accesses {
            [Access::Store, Access::Load] => state.sites.is_update(here, other),
            [Access::Load, Access::Store] => state.sites.is_update(other, here),
            _ => false,
        };
        if is_update {
            return Remedy::AtomicUpdate;
        }
        let between_blocks = if self.is_cooperative { Remedy::GridBarrier } else { Remedy::BetweenBlocks };
        self.between(block, with, between_blocks)
    }

    /// What orders the current thread after that of `with`: of another block `between_blocks`.
    fn between(&self, block: &BlockContext, with: &Stamp, between_blocks: Remedy) -> Remedy {
        if with.block == number(block) {
            Remedy::in_block(block.thread().linear(), with.thread())
        } else {
            between_blocks
        }
    }

    /// The asynchronous copy that an access was the beginning of, if it was.
    fn copy_of(&self, stamp: &Stamp) -> Option<CopyUnderWay> {
        let Site { at, access, .. } = self.state.borrow().sites.get(stamp.site());
        let thread = self.extent.thread(stamp.thread()).index();
        (access == Access::Discard).then(|| CopyUnderWay { thread, location: at.into() })
    }

    /// What the byte at `address` belongs to.
    fn element(&self, block: &BlockContext, touch: &Touch, address: usize) -> Element {
        let found = match touch.space {
            Space::Shared => {
                let place = block.arena.locate(address, touch.bytes);
                place.and_then(|place| Some((place.name?, place.of, place.index)))
            }
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

fn kind_of(access: Access) -> RaceAccess {
    match access {
        Access::Load => RaceAccess::Load,
        Access::Store | Access::Discard => RaceAccess::Store,
        Access::AtomicLoad(..) => RaceAccess::AtomicLoad,
        Access::AtomicStore(..) => RaceAccess::AtomicStore,
        Access::Update(_) | Access::Arrive => RaceAccess::AtomicUpdate,
    }
}
