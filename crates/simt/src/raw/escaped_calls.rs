//! The calls by which device code passes pointers to functions that are not marked as device code.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::geometry::KernelInfo;
use crate::memory_map::MemoryMap;
use crate::region::{self, Region};
use crate::source::Line;

use super::notes::{Note, NoteKind};

/// The calls by which device code passes pointers to functions, in a checked launch.
#[derive(Debug)]
pub(crate) struct Escaped {
    memory: MemoryMap,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// The unfinished calls of each thread. The key is the position of the thread's block, and the thread's index in
    /// the block.
    pub(super) begun: HashMap<(u64, u32), Vec<Call>>,
    /// The source sites of calls of functions that are marked as device code.
    pub(super) marked: HashSet<SiteAddress>,
    /// The finished calls of unmarked functions, one per source site.
    pub(super) unmarked: Vec<Call>,
    /// The source sites of the unmarked calls.
    pub(super) unmarked_sites: HashSet<SiteAddress>,
}

/// The address of a `Location`, which identifies a source site.
pub(super) type SiteAddress = usize;

/// The function that is called.
#[derive(Clone, Copy, Debug)]
pub struct Callee {
    /// The name of the function. For an operator, this is the name of its trait.
    pub function: &'static str,
    /// The type of an operator's first operand, if known.
    pub of: Option<&'static str>,
}

impl From<&'static str> for Callee {
    #[inline(always)]
    fn from(function: &'static str) -> Self {
        Self { function, of: None }
    }
}

impl Callee {
    /// Returns true if this callee may be `other`, a function that the thread has entered.
    pub(super) fn is(&self, other: &Self) -> bool {
        let is_of = |type_name: &str, other: &str| without_references(type_name) == without_references(other);
        self.function == other.function
            && self.of.zip(other.of).is_none_or(|(type_name, other)| is_of(type_name, other))
    }
}

/// Returns the type name without leading `&` and `&mut`.
fn without_references(type_name: &str) -> &str {
    let name = type_name.trim_start_matches('&');
    name.strip_prefix("mut ").map_or(name, without_references)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) callee: Callee,
    pub(super) at: Line,
    pub(super) address: usize,
    pub(super) is_written: bool,
}

impl Escaped {
    pub(crate) fn new(memory: MemoryMap) -> Self {
        Self { memory, state: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns notes for the calls of functions that are not marked, including calls that have not returned.
    pub(crate) fn notes(self, kernel: &'static KernelInfo, regions: &[Region]) -> Vec<Note> {
        let State { begun, unmarked, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut notes: Vec<Note> = Vec::new();
        for Call { callee: Callee { function, .. }, at, address, .. } in
            unmarked.into_iter().chain(begun.into_values().flatten())
        {
            let array = region::locate(regions, address).and_then(|place| place.name);
            let note = Note { kernel, location: at.into(), kind: NoteKind::NotChecked { function, array } };
            // One source site may have several `Location`s.
            if !notes.iter().any(|other| other.location == note.location) {
                notes.push(note);
            }
        }
        notes
    }

    /// Marks the whole array that contains `address` as initialised, because code that the simulator does not observe
    /// may have written it.
    pub(super) fn count_as_written(&self, regions: &[Region], address: usize) {
        if let Some(place) = region::locate(regions, address) {
            for written in self.memory.overlapping(place.start, place.bytes) {
                written.set(place.start, place.bytes);
            }
        }
    }
}

/// Returns the address that identifies the source site `at`.
pub(super) fn address_of(at: Line) -> SiteAddress {
    std::ptr::from_ref(at).addr()
}
