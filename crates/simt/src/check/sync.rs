//! How atomics and fences order accesses of different threads: the rules of PTX's memory model, which are C++'s.
//!
//! An atomic write passes on what its thread knew at its last fence, and a releasing one all that its thread knows. An atomic
//! update adds that to what the address holds already, as a release sequence goes on through updates; a store replaces it,
//! but for what the same thread has released there before. An acquiring load learns at once what the address holds, and any other
//! atomic read at the thread's next fence. A plain store leaves nothing to learn.

use std::collections::HashMap;

use super::clock::{Clocks, LastRead};
use super::hashing::Hashing;
use super::vector_clock::VectorClock;
use crate::watch::{Access, MemoryOrder};

/// The blocks that run, and how much of each of the others has been passed on.
#[derive(Default)]
pub(super) struct Lives {
    running: Vec<u32>,
    /// For blocks that have passed something on: the latest epoch, before which it is known.
    told: HashMap<u32, u32, Hashing>,
}

impl Lives {
    pub(super) fn begin(&mut self, block: u32) {
        self.running.push(block);
    }

    pub(super) fn end(&mut self, block: u32) {
        self.running.retain(|&other| other != block);
    }

    fn tell(&mut self, block: u32, epoch: u32) {
        let told = self.told.entry(block).or_default();
        *told = epoch.max(*told);
    }

    /// Whether no thread will ever know of what a thread of `block` did in the epoch `epoch`, as the block is over and
    /// has never passed that on.
    pub(super) fn is_secret(&self, block: u32, epoch: u32) -> bool {
        !self.running.contains(&block) && self.told.get(&block).is_none_or(|&told| epoch >= told)
    }
}

/// An address that atomics have written.
#[derive(Default)]
struct Object {
    /// What whoever reads it learns.
    holds: VectorClock,
    /// What threads have released there: block, thread, and what it knew.
    released: Vec<(u32, u32, VectorClock)>,
}

impl Object {
    fn released_by(&self, block: u32, thread: u32) -> Option<&VectorClock> {
        let mine = self.released.iter().rev().find(|&&(b, t, _)| (b, t) == (block, thread));
        mine.map(|(_, _, clock)| clock)
    }
}

/// The addresses that atomics have written with something to learn.
#[derive(Default)]
pub(super) struct Objects(HashMap<usize, Object, Hashing>);

impl Objects {
    pub(super) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    /// A plain store to `address`, which atomics had written.
    pub(super) fn overwrite(&mut self, address: usize) {
        if let Some(object) = self.0.get_mut(&address) {
            object.holds = VectorClock::default();
        }
    }

    /// `thread` makes the atomic `access` at `address`.
    #[inline]
    pub(super) fn order(
        &mut self,
        clocks: &mut Clocks,
        lives: &mut Lives,
        thread: u32,
        address: usize,
        access: Access,
    ) {
        let writes = match access {
            Access::Load | Access::Store | Access::Discard | Access::AtomicLoad(_) => false,
            Access::AtomicStore(order) => {
                order == MemoryOrder::AcquireRelease || !clocks.vectors(thread).fenced.is_empty()
            }
            Access::Update => !clocks.vectors(thread).fenced.is_empty(),
        };
        if writes || !self.0.is_empty() {
            self.order_known(clocks, lives, thread, address, access, writes);
        }
    }

    #[inline(never)]
    fn order_known(
        &mut self,
        clocks: &mut Clocks,
        lives: &mut Lives,
        thread: u32,
        address: usize,
        access: Access,
        writes: bool,
    ) {
        let object = match self.0.get_mut(&address) {
            Some(object) => object,
            None if writes => self.0.entry(address).or_default(),
            None => return,
        };
        let acquires = access == Access::AtomicLoad(MemoryOrder::AcquireRelease);
        if acquires || matches!(access, Access::AtomicLoad(_) | Access::Update) {
            read(object, clocks, thread, address, acquires);
        }
        let block = clocks.block;
        let passed_on = match access {
            Access::AtomicStore(MemoryOrder::AcquireRelease) => {
                let clock = clocks.snapshot(thread);
                object.released.retain(|&(b, t, _)| (b, t) != (block, thread));
                object.released.push((block, thread, clock.clone()));
                object.holds = clock;
                &object.holds
            }
            Access::AtomicStore(MemoryOrder::Relaxed) => {
                object.holds = object.released_by(block, thread).cloned().unwrap_or_default();
                object.holds.join(&clocks.vectors(thread).fenced);
                &object.holds
            }
            Access::Update => {
                if let Some(released) = object.released_by(block, thread).cloned() {
                    object.holds.join(&released);
                }
                let fenced = &clocks.vectors(thread).fenced;
                object.holds.join(fenced);
                fenced
            }
            Access::Load | Access::Store | Access::Discard | Access::AtomicLoad(_) => return,
        };
        if let Some(clock) = passed_on.block(block) {
            lives.tell(block, clock.highest());
        }
    }
}

/// `thread` reads `object`, which is at `address`.
fn read(object: &Object, clocks: &mut Clocks, thread: u32, address: usize, acquires: bool) {
    let last = clocks.vectors(thread).last_read.as_ref().filter(|last| last.address == address);
    match last {
        None if object.holds.is_empty() => return,
        Some(last) if last.held.is_same(&object.holds) && (last.is_known || !acquires) => return,
        _ => {}
    }
    let vectors = clocks.vectors_mut(thread);
    let last = vectors.last_read.take().filter(|last| last.address == address);
    if acquires {
        // An acquiring load also acquires what relaxed loads of the same address before it have seen.
        if let Some(last) = last {
            vectors.known.join(&last.held);
        }
        vectors.known.join(&object.holds);
    } else {
        vectors.pending.join(&object.holds);
    }
    vectors.last_read = Some(LastRead { address, held: object.holds.clone(), is_known: acquires });
}

/// `thread` makes a fence.
pub(super) fn fence(clocks: &mut Clocks, thread: u32) {
    if !clocks.vectors(thread).pending.is_empty() {
        let vectors = clocks.vectors_mut(thread);
        let pending = std::mem::take(&mut vectors.pending);
        vectors.known.join(&pending);
        vectors.last_read = None;
    }
    let fenced = clocks.snapshot(thread);
    clocks.vectors_mut(thread).fenced = fenced;
}
