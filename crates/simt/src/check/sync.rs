//! The rules by which atomics and fences order accesses of different threads. These are the rules of PTX's memory
//! model, which agree with the rules of C++.
//!
//! Each address that atomics have written has a clock. A relaxed atomic write publishes the clock that its thread had
//! at its last fence. A releasing write publishes its thread's current clock. An atomic update adds the published clock
//! to the address's clock, because updates continue a release sequence. A store replaces the address's clock, but keeps
//! the clock that the same thread has released at this address before.
//!
//! An acquiring load adds the address's clock to the thread's clock at once. After any other atomic read, the thread's
//! next fence adds the address's clock. A plain store publishes nothing. A fence or an atomic of block scope publishes
//! only within its own block.

use rustc_hash::FxHashMap;

use super::agents::FIRST;
use super::clock::Clocks;
use super::thread_clocks::LastRead;
use super::vector_clock::VectorClock;
use crate::memory::Scope;
use crate::watch::{Access, MemoryOrder};

/// The running blocks, and the epoch up to which each block has published its accesses.
#[derive(Default)]
pub(super) struct Publications {
    running: Vec<u32>,
    /// For each block that has published accesses, an epoch. Other threads can know the block's accesses before this
    /// epoch.
    published: FxHashMap<u32, u32>,
}

impl Publications {
    pub(super) fn begin(&mut self, block: u32) {
        self.running.push(block);
    }

    pub(super) fn end(&mut self, block: u32) {
        self.running.retain(|&other| other != block);
    }

    pub(super) fn publish(&mut self, block: u32, epoch: u32) {
        let published = self.published.entry(block).or_default();
        *published = epoch.max(*published);
    }

    /// Returns true if `block` has ended without publishing its accesses in `epoch`. No other thread can ever be
    /// ordered after these accesses. A group of agents has not ended.
    pub(super) fn is_unpublished(&self, block: u32, epoch: u32) -> bool {
        block < FIRST
            && !self.running.contains(&block)
            && self.published.get(&block).is_none_or(|&published| epoch >= published)
    }
}

/// The clock that a thread has published by a releasing store.
struct Released {
    /// The accesses that happened before the store.
    clock: VectorClock,
    scope: Scope,
}

fn key(block: u32, thread: u32) -> u64 {
    u64::from(block) << u32::BITS | u64::from(thread)
}

/// The clocks that an atomic write publishes with its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The clock that a thread acquires by reading the value.
    holds: VectorClock,
    /// The clock that threads of the writer's block acquire from their own block, if it differs from `holds`.
    holds_for_block: Option<VectorClock>,
    /// The block of the thread that made the write.
    writer: u32,
}

impl Held {
    /// Returns the clocks that an atomic store by `thread` with the scope `scope` publishes. `released` is the clock
    /// that the thread has released at the address, and `wide` is true if it has done so for other blocks. If
    /// `passes_fence` is true, the store also publishes the clock of the thread's last fence.
    fn of_store(
        released: VectorClock,
        (wide, passes_fence): (bool, bool),
        clocks: &Clocks,
        thread: u32,
        scope: Scope,
    ) -> Self {
        let vectors = clocks.vectors(thread);
        let mut holds = if wide && scope != Scope::Block { released.clone() } else { VectorClock::default() };
        if passes_fence && scope != Scope::Block {
            holds.join(&vectors.fenced);
        }
        let has_own = !wide || scope == Scope::Block || vectors.fenced_in_block.is_some();
        let holds_for_block = has_own.then(|| {
            let mut for_block = released;
            if passes_fence {
                for_block.join(vectors.fenced_in_block());
            }
            for_block
        });
        Self { holds, holds_for_block, writer: clocks.block }
    }

    /// Makes `thread` read these clocks at `address`, as a relaxed load does.
    pub(super) fn read_by(&self, clocks: &mut Clocks, thread: u32, address: usize) {
        let nothing = VectorClock::default();
        let for_block = self.holds_for(clocks.block).unwrap_or(&nothing);
        read([&self.holds, for_block], clocks, thread, address, (false, Scope::Device));
    }

    /// Returns the clock that a thread of `block` acquires, or `None` if the writer is in another block.
    fn holds_for(&self, block: u32) -> Option<&VectorClock> {
        (self.writer == block).then(|| self.holds_for_block.as_ref().unwrap_or(&self.holds))
    }
}

/// The clocks of an address that atomics have written.
#[derive(Default)]
struct Object {
    /// The clocks that the last write to the address publishes.
    held: Held,
    /// The clock that each thread has released at the address. The key stands for the thread's block and the thread.
    released: FxHashMap<u64, Released>,
}

impl Object {
    fn released_by(&self, block: u32, thread: u32) -> Option<&Released> {
        if self.released.is_empty() { None } else { self.released.get(&key(block, thread)) }
    }

    /// Records an atomic store by `thread` with the scope `scope`. `clocks` are the clocks of the thread's block.
    /// Returns the clock that the store publishes to other blocks.
    fn store(&mut self, clocks: &mut Clocks, thread: u32, order: MemoryOrder, scope: Scope) -> &VectorClock {
        let block = clocks.block;
        let (released, wide) = match order {
            MemoryOrder::AcquireRelease => {
                let clock = clocks.snapshot(thread);
                self.released.insert(key(block, thread), Released { clock: clock.clone(), scope });
                (clock, scope != Scope::Block)
            }
            MemoryOrder::Relaxed | MemoryOrder::Phase => self.released_before(block, thread),
        };
        self.held = Held::of_store(released, (wide, order == MemoryOrder::Relaxed), clocks, thread, scope);
        &self.held.holds
    }

    /// Returns the clock that `thread` of `block` has released, and true if it has done so for other blocks.
    fn released_before(&self, block: u32, thread: u32) -> (VectorClock, bool) {
        let released = self.released_by(block, thread);
        let wide = released.is_none_or(|released| released.scope != Scope::Block);
        (released.map(|released| released.clock.clone()).unwrap_or_default(), wide)
    }

    /// Records an atomic update by `thread` with the scope `scope`. `clocks` are the clocks of the thread's block.
    fn update(&mut self, clocks: &Clocks, thread: u32, scope: Scope) {
        let block = clocks.block;
        let vectors = clocks.vectors(thread);
        let released = self.released_by(block, thread);
        let (clock, is_wide) = match released {
            Some(released) => (released.clock.clone(), released.scope != Scope::Block),
            None => (VectorClock::default(), true),
        };
        let held = &mut self.held;
        if held.writer != block {
            // A fence of block scope acquires nothing from other blocks.
            held.holds_for_block = (!held.holds.is_empty()).then(VectorClock::default);
        }
        if held.holds_for_block.is_some() || !is_wide || scope == Scope::Block || vectors.fenced_in_block.is_some() {
            let mut for_block = held.holds_for_block.take().unwrap_or_else(|| held.holds.clone());
            for_block.join(&clock);
            for_block.join(vectors.fenced_in_block());
            held.holds_for_block = Some(for_block);
        }
        if is_wide {
            held.holds.join(&clock);
        }
        if scope != Scope::Block {
            held.holds.join(&vectors.fenced);
        }
        held.writer = block;
    }
}

/// The addresses at which atomic writes have published clocks.
#[derive(Default)]
pub(super) struct Objects(FxHashMap<usize, Object>);

impl Objects {
    pub(super) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    /// Records a plain store to `address`, which atomics have written before.
    pub(super) fn overwrite(&mut self, address: usize) {
        if let Some(object) = self.0.get_mut(&address) {
            (object.held.holds, object.held.holds_for_block) = (VectorClock::default(), None);
        }
    }

    /// Returns the clocks that the last write to `address` publishes.
    pub(super) fn held(&self, address: usize) -> Held {
        self.0.get(&address).map_or_else(Held::default, |object| object.held.clone())
    }

    /// Returns the clocks that a relaxed store to `address` by `thread` would publish now.
    pub(super) fn relaxed(&self, clocks: &Clocks, thread: u32, address: usize) -> Held {
        let object = self.0.get(&address);
        let before = object.map(|object| object.released_before(clocks.block, thread));
        let (released, wide) = before.unwrap_or((VectorClock::default(), true));
        Held::of_store(released, (wide, true), clocks, thread, Scope::Device)
    }

    /// Sets the clocks that a read of `address` acquires. Returns the earlier ones.
    pub(super) fn replace_held(&mut self, address: usize, held: Held) -> Held {
        match self.0.get_mut(&address) {
            Some(object) => std::mem::replace(&mut object.held, held),
            None => {
                if !held.holds.is_empty() || held.holds_for_block.is_some() {
                    self.0.entry(address).or_default().held = held;
                }
                Held::default()
            }
        }
    }

    /// Updates the clocks of `thread` and of `address`, because `thread` makes the atomic access `access` to `address`.
    #[inline]
    pub(super) fn order(
        &mut self,
        clocks: &mut Clocks,
        publications: &mut Publications,
        thread: u32,
        address: usize,
        access: Access,
    ) {
        let writes = match access {
            Access::Load
            | Access::ReadOnlyLoad
            | Access::Store
            | Access::Borrow
            | Access::Discard
            | Access::Fill
            | Access::Arrive
            | Access::AsyncRead
            | Access::AsyncWrite
            | Access::ProductRead
            | Access::AtomicLoad(..) => false,
            Access::AtomicStore(order, _) => {
                order == MemoryOrder::AcquireRelease || !clocks.vectors(thread).fenced_in_block().is_empty()
            }
            Access::Update(_) => !clocks.vectors(thread).fenced_in_block().is_empty(),
        };
        if writes || !self.0.is_empty() {
            self.order_known(clocks, publications, thread, address, access, writes);
        }
    }

    #[inline(never)]
    fn order_known(
        &mut self,
        clocks: &mut Clocks,
        publications: &mut Publications,
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
            let wide = if scope == Scope::Block { &nothing } else { &object.held.holds };
            let (held, acquires) = match access {
                Access::AtomicLoad(MemoryOrder::AcquireRelease, _) => {
                    ([wide, object.held.holds_for(block).unwrap_or(&nothing)], true)
                }
                _ => ([wide, object.held.holds_for(block).unwrap_or(&nothing)], false),
            };
            read(held, clocks, thread, address, (acquires, scope));
        }
        let passed_on = match access {
            Access::AtomicStore(order, scope) => object.store(clocks, thread, order, scope),
            Access::Update(scope) => {
                object.update(clocks, thread, scope);
                &clocks.vectors(thread).fenced
            }
            Access::Load
            | Access::ReadOnlyLoad
            | Access::Store
            | Access::Borrow
            | Access::Discard
            | Access::Fill
            | Access::Arrive
            | Access::AsyncRead
            | Access::AsyncWrite
            | Access::ProductRead
            | Access::AtomicLoad(..) => return,
        };
        if let Some(highest) = passed_on.highest(block) {
            publications.publish(block, highest);
        }
    }
}

/// Makes `thread` read the two clocks at `address`: first the clock for the device, then the clock for its block. The
/// load has the scope `scope`. It is acquiring if `acquires` is true, otherwise relaxed.
fn read(held: [&VectorClock; 2], clocks: &mut Clocks, thread: u32, address: usize, (acquires, scope): (bool, Scope)) {
    let is_same = |last: &LastRead| last.held.iter().zip(held).all(|(last, now)| last.is_same(now));
    let last = clocks.vectors(thread).last_read.as_ref().filter(|last| last.address == address);
    match last {
        None if (!acquires || clocks.vectors(thread).earlier_reads.is_empty())
            && held.iter().all(|held| held.is_empty()) =>
        {
            return;
        }
        Some(last) if is_same(last) && (last.is_known || !acquires) => return,
        _ => {}
    }
    let vectors = clocks.vectors_mut(thread);
    if let Some(last) = vectors.last_read.take() {
        vectors.keep_read(last);
    }
    if acquires {
        // An acquiring load also acquires what earlier relaxed loads of the same address have read.
        vectors.acquire_reads(address, scope != Scope::Block);
        held.iter().for_each(|held| vectors.known.join(held));
    } else {
        vectors.pending.join(held[0]);
        vectors.pending_in_block.join(held[1]);
    }
    vectors.last_read = Some(LastRead { address, held: held.map(Clone::clone), is_known: acquires });
}

/// Records that `thread` executes a fence of `scope`.
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
        if is_wide {
            vectors.forget_reads();
        } else if let Some(last) = vectors.last_read.take() {
            vectors.keep_read(last);
        }
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
