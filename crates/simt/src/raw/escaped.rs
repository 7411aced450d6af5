//! Records pointers and slices that device code passes to functions that are not marked as device code. The simulator
//! does not observe the accesses of such functions.

use std::mem::MaybeUninit;
use std::panic::Location;

use crate::block::Block;
use crate::current::current;
use crate::region;
use crate::source::is_same_line;
use crate::watch::is_watching;

use super::escaped_calls::{Call, Callee, Escaped, address_of};
use super::guard;
use super::known;
use super::retained::frozen;

/// Returns the block of the current thread and the launch's record of calls of unmarked functions, or `None` if the
/// launch is not checked.
fn checked<'a>() -> Option<(&'a Block, &'a Escaped)> {
    let block = if is_watching() { current()? } else { return None };
    Some((block, block.grid().escaped.as_ref()?))
}

fn thread(block: &Block) -> (u64, u32) {
    (block.position(), block.thread().linear())
}

/// Notes that the current thread calls `function` at `at` with a pointer or a slice at `address`. `is_written` is true
/// if the function may write through this pointer or slice.
#[cold]
pub fn escaped(address: usize, function: &'static str, is_written: bool, at: &'static Location<'static>) {
    if let Some((block, escaped)) = checked() {
        begin((block, escaped), Call { callee: function.into(), at, address, is_written });
    }
}

fn begin((block, escaped): (&Block, &Escaped), call: Call) {
    block.note_seen(call.at);
    guard::reach(block, call.at);
    let state = &mut *escaped.state();
    if !state.marked.contains(&address_of(call.at)) {
        block.retained.has_begun.set(true);
        state.begun.entry(thread(block)).or_default().push(call);
    }
}

/// Notes that the current thread calls `callee` at `at` with a value that consists of `words`.
///
/// `is_written` is `None` if the type of the value does not show that the value contains pointers. Then only words that
/// were reported as [`retained`] count. Otherwise every word that is an address of the launch's memory counts, and
/// `is_written` is true if the function may write through the pointers.
#[cold]
pub fn escaped_value(
    words: &[MaybeUninit<usize>],
    is_written: Option<bool>,
    callee: Callee,
    at: &'static Location<'static>,
) {
    let Some((block, escaped)) = checked() else { return };
    if is_written.is_none() && block.retained.is_empty() {
        return;
    }
    for address in words.iter().map(|&word| frozen(word)) {
        let is_written = match is_written {
            Some(is_written) => is_memory(block, address).then_some(is_written),
            None => block.retained.is_written(address),
        };
        if let Some(is_written) = is_written {
            begin((block, escaped), Call { callee, at, address, is_written });
        }
    }
}

/// Returns true if `address` is in memory that the launch may access: in global memory or in the block's shared memory.
fn is_memory(block: &Block, address: usize) -> bool {
    let arena = &block.context.arena;
    region::locate(block.grid().regions, address).is_some()
        || address.wrapping_sub(arena.base().addr()) < arena.len()
        || known::look_up(address).is_some()
}

/// Notes that the function that was called at `at` has returned.
#[inline(never)]
pub fn returned(at: &'static Location<'static>) {
    if let Some((block, escaped)) = checked()
        && block.retained.has_begun.get()
    {
        let state = &mut *escaped.state();
        let Some(begun) = state.begun.get_mut(&thread(block)) else { return };
        // The call has one entry per argument. Later entries are calls that have never returned.
        let Some(first) = begun.iter().position(|call| is_same_line(call.at, at)) else { return };
        for call in begun.drain(first..) {
            if call.is_written {
                escaped.count_as_written(block.grid().regions, call.address);
            }
            if state.unmarked_sites.insert(address_of(call.at)) {
                state.unmarked.push(call);
            }
        }
    }
}

/// Notes that the current thread has entered the function `name`, which is marked as device code. The thread's last
/// call of a function of this name therefore needs no note.
#[inline]
pub fn entered(name: &'static str) {
    if is_watching() {
        settle(name.into());
    }
}

/// Notes, like [`entered`], that the thread has entered the method `name`. The parameter `of` is the type of the
/// method. The source may call this method by the operator of the trait `operator`.
#[inline]
pub fn entered_operator(name: &'static str, operator: &'static str, of: &'static str) {
    if is_watching() {
        settle(name.into());
        settle(Callee { function: operator, of: Some(of) });
    }
}

#[cold]
fn settle(callee: Callee) {
    if let Some((block, escaped)) = checked() {
        let state = &mut *escaped.state();
        if let Some(begun) = state.begun.get_mut(&thread(block))
            && let Some(last) = begun.iter().rposition(|call| call.callee.is(&callee))
        {
            // The call has one entry per argument.
            let at = begun[last].at;
            let marked = &mut state.marked;
            begun.retain(|call| {
                let is_it = is_same_line(call.at, at);
                if is_it {
                    marked.insert(address_of(call.at));
                }
                !is_it
            });
        }
    }
}

/// Notes that the current thread stores a pointer to `address` in a value. `is_written` is true if the pointer permits
/// writes. Passing the value to a function then counts as passing the pointer.
#[cold]
pub fn retained(address: usize, is_written: bool) {
    if let Some((block, _)) = checked() {
        block.retained.note(address, is_written);
    }
}
