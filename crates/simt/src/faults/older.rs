//! The report of an older value: an atomic access that did not see the newest write, as PTX's memory model allows.

use std::collections::VecDeque;
use std::fmt;

use crate::faults::race::{Element, RaceAccess, RaceSide};
use crate::faults::remedy::Remedy;
use crate::faults::{Fault, FaultKind};
use crate::geometry::Dim3;
use crate::region::{Space, fmt_element};

/// An atomic read that returned an older value than the newest one, or an atomic store that took effect before a store
/// or load that was executed earlier. PTX's memory model allows both, so they are no faults. If the launch has a wrong
/// outcome, they may be its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OlderValue {
    /// The memory space of the value.
    pub space: Space,
    /// The array element that both accesses touch.
    pub element: Element,
    /// The access that did not see the write `missed`: a load, an update, or a store that took effect before it.
    pub access: RaceSide,
    /// The access that was executed earlier: a write, or a load that has read the store `access` before its execution.
    pub missed: RaceSide,
    /// The change that would make `access` see `missed`.
    pub remedy: Remedy,
}

/// The accesses of a launch that did not see the newest write, in the order of execution.
#[derive(Debug, Default)]
pub(crate) struct OlderValues(VecDeque<OlderValue>);

/// The maximum number of accesses that [`OlderValues`] keeps.
const MAX_OLDER: usize = 16;

impl OlderValues {
    pub(crate) fn add(&mut self, value: OlderValue) {
        if self.0.len() == MAX_OLDER {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// Removes the accesses of a thread to `address`, because the thread has now read the newest value. A thread that
    /// waits for a value has not been misled by older ones.
    pub(crate) fn remove(&mut self, block: Dim3, thread: Dim3, address: usize) {
        let is_of = |value: &OlderValue| value.element.address == address && value.is_by(block, thread);
        self.0.retain(|value| !is_of(value));
    }

    /// Adds all of `others`.
    pub(crate) fn append(&mut self, others: Self) {
        others.0.into_iter().for_each(|value| self.add(value));
    }

    /// Returns the access that has probably led to `fault`: the last one by a thread that the fault names. If the fault
    /// is no race, this may also be the last one by any thread.
    pub(crate) fn reason_of(&self, fault: &Fault) -> Option<&OlderValue> {
        let of_thread = |block: Option<Dim3>, thread: Option<Dim3>| {
            let (block, thread) = (block?, thread?);
            self.0.iter().rfind(|value| value.is_by(block, thread) || value.is_read_early_by(block, thread))
        };
        let own = of_thread(fault.block, fault.thread);
        match &fault.kind {
            FaultKind::Race(race) => own.or_else(|| of_thread(Some(race.there.block), Some(race.there.thread))),
            FaultKind::Panic(_)
            | FaultKind::NoProgress { .. }
            | FaultKind::EndlessLoop { .. }
            | FaultKind::OutOfBounds { .. } => own.or_else(|| self.0.back()),
            _ => own,
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<OlderValue> {
        self.0.iter().cloned().collect()
    }
}

impl OlderValue {
    fn is_by(&self, block: Dim3, thread: Dim3) -> bool {
        (self.access.block, self.access.thread) == (block, thread)
    }

    fn is_read_early_by(&self, block: Dim3, thread: Dim3) -> bool {
        self.missed.access == RaceAccess::AtomicLoad && (self.missed.block, self.missed.thread) == (block, thread)
    }
}

impl fmt::Display for OlderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, element, access, missed, remedy } = self;
        write!(f, "the {} of ", access.access)?;
        fmt_element(f, *space, (element.array, element.element_type), element.index)?;
        write!(f, " by block {}, thread {} at {} ", access.block, access.thread, access.location)?;
        f.write_str(match access.access {
            RaceAccess::AtomicStore => "took effect before",
            _ => "returned an older value than",
        })?;
        write!(
            f,
            " the {} by block {}, thread {} at {}. PTX's memory model allows this, because nothing orders the two: \
            {remedy}",
            missed.access, missed.block, missed.thread, missed.location
        )
    }
}
