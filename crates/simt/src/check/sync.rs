//! How atomics and fences order accesses of different threads: the rules of PTX's memory model, which are C++'s.
//!
//! An atomic write passes on what its thread knew at its last fence, and a releasing one all that its thread knows. An atomic
//! update adds that to what the address holds already, as a release sequence goes on through updates; a store replaces it,
//! but for what the same thread has released there before. With an acquiring load, a thread learns at once what the address
//! holds; with any other atomic read, at its next fence. From a plain store nothing is learnt.
//!
//! A fence or an atomic of block scope passes knowledge on only within its own block.

use std::collections::HashMap;

use super::clock::{Clocks, LastRead};
use super::vector_clock::VectorClock;
use crate::hashing::Hashing;
use crate::memory::Scope;
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

    pub(super) fn tell(&mut self, block: u32, epoch: u32) {
        let told = self.told.entry(block).or_default();
        *told = epoch.max(*told);
    }

    /// Whether no thread will ever know of what a thread of `block` did in the epoch `epoch`, as the block is over and
    /// has never passed that on.
    pub(super) fn is_secret(&self, block: u32, epoch: u32) -> bool {
        !self.running.contains(&block) && self.told.get(&block).is_none_or(|&told| epoch >= told)
    }
}

/// What a thread has released by a store.
struct Released {
    /// What it knew.
    clock: VectorClock,
    scope: Scope,
}

fn key(block: u32, thread: u32) -> u64 {
    u64::from(block) << u32::BITS | u64::from(thread)
}

/// An address that atomics have written.
#[derive(Default)]
struct Object {
    /// What whoever reads it learns.
    holds: VectorClock,
    /// What the threads of the block that has written it last learn, where that is more.
    holds_for_block: Option<VectorClock>,
    /// That block.
    writer: u32,
    /// Of a barrier: what those had released who arrived before the last phase was over.
    phase: VectorClock,
    /// By blocks and threads.
    released: HashMap<u64, Released, Hashing>,
}

impl Object {
    fn released_by(&self, block: u32, thread: u32) -> Option<&Released> {
        if self.released.is_empty() { None } else { self.released.get(&key(block, thread)) }
    }

    /// What a thread of `block` learns of the writes of its own block.
    fn holds_for(&self, block: u32) -> Option<&VectorClock> {
        (self.writer == block).then(|| self.holds_for_block.as_ref().unwrap_or(&self.holds))
    }

    /// A thread of `clocks` stores with `scope`. Gives what it passes on to other blocks.
    fn store(&mut self, clocks: &mut Clocks, thread: u32, order: MemoryOrder, scope: Scope) -> &VectorClock {
        let block = clocks.block;
        let (released, wide) = match order {
            MemoryOrder::AcquireRelease => {
                let clock = clocks.snapshot(thread);
                self.released.insert(key(block, thread), Released { clock: clock.clone(), scope });
                (clock, scope != Scope::Block)
            }
            MemoryOrder::Relaxed | MemoryOrder::Phase => {
                let released = self.released_by(block, thread);
                let wide = released.is_none_or(|released| released.scope != Scope::Block);
                (released.map(|released| released.clock.clone()).unwrap_or_default(), wide)
            }
        };
        let passes_fence = order == MemoryOrder::Relaxed;
        self.holds = if wide && scope != Scope::Block { released.clone() } else { VectorClock::default() };
        let vectors = clocks.vectors(thread);
        if passes_fence && scope != Scope::Block {
            self.holds.join(&vectors.fenced);
        }
        self.holds_for_block = None;
        self.writer = block;
        if !wide || scope == Scope::Block || vectors.fenced_in_block.is_some() {
            let mut for_block = released;
            if passes_fence {
                for_block.join(vectors.fenced_in_block());
            }
            self.holds_for_block = Some(for_block);
        }
        &self.holds
    }

    /// A thread of `clocks` makes an update with `scope`.
    fn update(&mut self, clocks: &Clocks, thread: u32, scope: Scope) {
        let block = clocks.block;
        let vectors = clocks.vectors(thread);
        let released = self.released_by(block, thread);
        let (clock, is_wide) = match released {
            Some(released) => (released.clock.clone(), released.scope != Scope::Block),
            None => (VectorClock::default(), true),
        };
        if self.writer != block {
            self.holds_for_block = None;
        }
        if self.holds_for_block.is_some() || !is_wide || scope == Scope::Block || vectors.fenced_in_block.is_some() {
            let mut for_block = self.holds_for_block.take().unwrap_or_else(|| self.holds.clone());
            for_block.join(&clock);
            for_block.join(vectors.fenced_in_block());
            self.holds_for_block = Some(for_block);
        }
        if is_wide {
            self.holds.join(&clock);
        }
        if scope != Scope::Block {
            self.holds.join(&vectors.fenced);
        }
        self.writer = block;
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
            object.holds_for_block = None;
            object.phase = VectorClock::default();
        }
    }

    /// A phase is over of the barrier at `address`, at which threads of `block` arrive.
    pub(super) fn end_phase(&mut self, address: usize, block: u32) {
        if let Some(object) = self.0.get_mut(&address) {
            object.phase = object.holds_for(block).cloned().unwrap_or_default();
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
            Access::Load | Access::Store | Access::Discard | Access::Fill | Access::AtomicLoad(..) => false,
            Access::AtomicStore(order, _) => {
                order == MemoryOrder::AcquireRelease || !clocks.vectors(thread).fenced_in_block().is_empty()
            }
            Access::Update(_) | Access::Arrive => !clocks.vectors(thread).fenced_in_block().is_empty(),
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
        let block = clocks.block;
        let nothing = VectorClock::default();
        if let Access::AtomicLoad(_, scope) | Access::Update(scope) = access {
            let wide = if scope == Scope::Block { &nothing } else { &object.holds };
            let (held, acquires) = match access {
                Access::AtomicLoad(MemoryOrder::Phase, _) => ([&nothing, &object.phase], true),
                Access::AtomicLoad(MemoryOrder::AcquireRelease, _) => {
                    ([wide, object.holds_for(block).unwrap_or(&nothing)], true)
                }
                _ => ([wide, object.holds_for(block).unwrap_or(&nothing)], false),
            };
            read(held, clocks, thread, address, (acquires, scope));
        }
        let passed_on = match access {
            Access::AtomicStore(order, scope) => object.store(clocks, thread, order, scope),
            Access::Update(_) | Access::Arrive => {
                let scope = if let Access::Update(scope) = access { scope } else { Scope::Device };
                object.update(clocks, thread, scope);
                &clocks.vectors(thread).fenced
            }
            Access::Load | Access::Store | Access::Discard | Access::Fill | Access::AtomicLoad(..) => return,
        };
        if let Some(highest) = passed_on.highest(block) {
            lives.tell(block, highest);
        }
    }
}

/// `thread` reads what `address` holds for it, of the device and of its block, by a load of a scope that acquires, or does
/// not.
fn read(held: [&VectorClock; 2], clocks: &mut Clocks, thread: u32, address: usize, (acquires, scope): (bool, Scope)) {
    let is_same = |last: &LastRead| last.held.iter().zip(held).all(|(last, now)| last.is_same(now));
    let last = clocks.vectors(thread).last_read.as_ref().filter(|last| last.address == address);
    match last {
        None if held.iter().all(|held| held.is_empty()) => return,
        Some(last) if is_same(last) && (last.is_known || !acquires) => return,
        _ => {}
    }
    let vectors = clocks.vectors_mut(thread);
    let last = vectors.last_read.take().filter(|last| last.address == address);
    if acquires {
        // An acquiring load also acquires what relaxed loads of the same address before it have seen.
        if let Some(last) = last {
            last.held[usize::from(scope == Scope::Block)..].iter().for_each(|held| vectors.known.join(held));
        }
        held.iter().for_each(|held| vectors.known.join(held));
    } else {
        vectors.pending.join(held[0]);
        vectors.pending_in_block.join(held[1]);
    }
    vectors.last_read = Some(LastRead { address, held: held.map(Clone::clone), is_known: acquires });
}

/// `thread` makes a fence for the threads of `scope`.
pub(super) fn fence(clocks: &mut Clocks, thread: u32, scope: Scope) {
    let is_wide = scope != Scope::Block;
    let vectors = clocks.vectors(thread);
    if !vectors.pending_in_block.is_empty() || (is_wide && !vectors.pending.is_empty()) {
        let vectors = clocks.vectors_mut(thread);
        let pending = std::mem::take(&mut vectors.pending_in_block);
        vectors.known.join(&pending);
        if is_wide {
            let pending = std::mem::take(&mut vectors.pending);
            vectors.known.join(&pending);
        }
        vectors.last_read = None;
    }
    let fenced = clocks.snapshot(thread);
    let vectors = clocks.vectors_mut(thread);
    if is_wide {
        vectors.fenced = fenced;
        vectors.fenced_in_block = None;
    } else {
        vectors.fenced_in_block = Some(fenced);
    }
}
