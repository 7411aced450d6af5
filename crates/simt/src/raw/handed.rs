//! Pointers and slices that device code hands to functions which are not device code: what these access is not seen.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::Block;
use crate::current::current;
use crate::geometry::KernelInfo;
use crate::memory_map::MemoryMap;
use crate::region::{self, Region};
use crate::source::{Line, SourceLocation, is_same_line};
use crate::watch::is_watching;

use super::kept::frozen;
use super::known;

/// What a checked launch could not check: a function that was handed a pointer or a slice and is not marked as device code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// Where the function is called.
    pub location: SourceLocation,
    /// The function.
    pub function: &'static str,
    /// What it is handed, where that has a name.
    pub array: Option<&'static str>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, location, function, array } = self;
        write!(f, "kernel `{}`, at {location}: not checked: what `{function}` accesses", kernel.name)?;
        if let Some(array) = array {
            write!(f, " of `{array}`")?;
        }
        f.write_str("; mark it with `#[cuda_std::device]`")
    }
}

/// Where a simulator that checks launches notes what it could not check: once per launch and place in the source. Without
/// one it prints each note to the standard error.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all notes so far.
    pub fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, note: Note) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
}

/// What has been handed over in a checked launch.
#[derive(Debug)]
pub(crate) struct Handed {
    memory: MemoryMap,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The calls that each thread, by its block's place and its number, is in.
    begun: HashMap<(u64, u32), Vec<Call>>,
    /// Places whose functions are marked.
    marked: HashSet<Place>,
    /// Calls of functions that are not.
    unmarked: Vec<Call>,
    /// Their places.
    told: HashSet<Place>,
}

/// A place in the source, as a number.
type Place = usize;

#[derive(Clone, Copy, Debug)]
struct Call {
    function: &'static str,
    at: Line,
    address: usize,
    is_written: bool,
}

impl Handed {
    pub(crate) fn new(memory: MemoryMap) -> Self {
        Self { memory, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls of functions that are not marked, those among them that the launch has ended in.
    pub(crate) fn notes(self, kernel: &'static KernelInfo, regions: &[Region]) -> Vec<Note> {
        let State { begun, unmarked, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut notes: Vec<Note> = Vec::new();
        for Call { function, at, address, .. } in unmarked.into_iter().chain(begun.into_values().flatten()) {
            let array = region::locate(regions, address).and_then(|place| place.name);
            let note = Note { kernel, location: at.into(), function, array };
            // One place may have several `Location`s.
            if !notes.iter().any(|other| other.location == note.location) {
                notes.push(note);
            }
        }
        notes
    }

    /// Whoever has not been seen may have written what is at `address`.
    fn count_as_written(&self, block: &Block, address: usize) {
        if let Some(place) = region::locate(block.grid().regions, address) {
            for written in self.memory.overlapping(place.start, place.bytes) {
                written.set(place.start, place.bytes);
            }
        }
    }
}

/// The current thread's block, in a launch that is checked.
fn checked<'a>() -> Option<(&'a Block, &'a Handed)> {
    let block = if is_watching() { current()? } else { return None };
    Some((block, block.grid().handed.as_ref()?))
}

fn thread(block: &Block) -> (u64, u32) {
    (block.position(), block.thread().linear())
}

fn place(at: Line) -> Place {
    std::ptr::from_ref(at).addr()
}

/// The current thread calls `function` at `at`, with a pointer or a slice at `address`. Where `is_written` the function may
/// write there.
#[cold]
pub fn handed(address: usize, function: &'static str, is_written: bool, at: &'static Location<'static>) {
    if let Some((block, handed)) = checked() {
        begin((block, handed), Call { function, at, address, is_written });
    }
}

fn begin((block, handed): (&Block, &Handed), call: Call) {
    block.note_seen(call.at);
    let state = &mut *handed.state();
    if !state.marked.contains(&place(call.at)) {
        block.kept.has_begun.set(true);
        state.begun.entry(thread(block)).or_default().push(call);
    }
}

/// The current thread calls `function` at `at`, with a value of these words. Where the value's type shows that pointers are in
/// it, `is_written` says whether the function may write through them, and every word counts that is an address of the launch's
/// memory; else the words do that have been told of as [`kept`].
#[cold]
pub fn handed_value(
    words: &[MaybeUninit<usize>],
    is_written: Option<bool>,
    function: &'static str,
    at: &'static Location<'static>,
) {
    let Some((block, handed)) = checked() else { return };
    if is_written.is_none() && block.kept.is_empty() {
        return;
    }
    for address in words.iter().map(|&word| frozen(word)) {
        let is_written = match is_written {
            Some(is_written) => is_memory(block, address).then_some(is_written),
            None => block.kept.is_written(address),
        };
        if let Some(is_written) = is_written {
            begin((block, handed), Call { function, at, address, is_written });
        }
    }
}

/// Whether the launch accesses memory at `address`: global memory, or the block's shared memory.
fn is_memory(block: &Block, address: usize) -> bool {
    let arena = &block.context.arena;
    region::locate(block.grid().regions, address).is_some()
        || address.wrapping_sub(arena.base().addr()) < arena.len()
        || known::look_up(address).is_some()
}

/// The function that was called at `at` has returned.
#[inline(never)]
pub fn returned(at: &'static Location<'static>) {
    if let Some((block, handed)) = checked()
        && block.kept.has_begun.get()
    {
        let state = &mut *handed.state();
        let Some(begun) = state.begun.get_mut(&thread(block)) else { return };
        // One for each argument; others that are begun have never returned.
        let Some(first) = begun.iter().position(|call| is_same_line(call.at, at)) else { return };
        for call in begun.drain(first..) {
            if call.is_written {
                handed.count_as_written(block, call.address);
            }
            if state.told.insert(place(call.at)) {
                state.unmarked.push(call);
            }
        }
    }
}

/// The current thread has entered the marked function `name`: it was called where the thread last called one of that name.
#[inline]
pub fn entered(name: &'static str) {
    if is_watching() {
        settle(name);
    }
}

#[cold]
fn settle(name: &'static str) {
    if let Some((block, handed)) = checked() {
        let state = &mut *handed.state();
        if let Some(begun) = state.begun.get_mut(&thread(block))
            && let Some(last) = begun.iter().rposition(|call| call.function == name)
        {
            // Each argument of the call has been noted.
            let at = begun[last].at;
            let marked = &mut state.marked;
            begun.retain(|call| {
                let is_it = is_same_line(call.at, at);
                if is_it {
                    marked.insert(place(call.at));
                }
                !is_it
            });
        }
    }
}

/// The current thread puts a pointer to `address` into a value. Who takes it out is not known to be seen, and where
/// `is_written` may write there.
#[cold]
pub fn kept(address: usize, is_written: bool) {
    if let Some((block, handed)) = checked() {
        block.kept.note(address, is_written);
        if is_written {
            handed.count_as_written(block, address);
        }
    }
}
