//! A bulk copy between its beginning and its end: the accesses that the watcher checks, and the effect on memory.

use std::sync::atomic::Ordering;

use super::agents::{Agent, Origin};
use super::tiling::{CHUNK, Outside, Piece};
use super::transactions::CopyToBarrier;
use super::{Combine, EndOfPhase};
use crate::block::Block;
use crate::lanes::Thread;
use crate::memory::Scope;
use crate::observe::follow;
use crate::ordered::{load_ordered, store_ordered};
use crate::raw::guard;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, Touch};

/// The direction of a copy.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// From global memory to the shared memory of the targets.
    Load,
    /// From the issuer's shared memory to global memory. If there is a function, it combines the elements.
    Store(Option<Combine>),
    /// From the issuer's shared memory to that of the only target.
    Send,
}

/// A block to whose shared memory a copy writes.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// The block's rank in its cluster.
    pub(crate) rank: u32,
    /// The address at which the copy begins to write.
    pub(crate) address: usize,
    /// The address of the barrier at which the bytes arrive.
    pub(crate) barrier: u32,
}

/// A bulk copy that has begun.
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) outside: Outside,
    /// The address in the issuer's shared memory from which a store or a send reads.
    pub(crate) source: usize,
    pub(crate) targets: Vec<Target>,
    /// Changes the words of the targets' barriers.
    pub(crate) ends: EndOfPhase,
    /// The rank of the issuer's block, and the issuer.
    pub(crate) issuer: (u32, Thread),
    pub(crate) at: Line,
    /// The number of the group that the issuer has put a store into.
    pub(crate) group: Option<u64>,
    /// True if the copy has taken effect.
    pub(crate) is_done: bool,
    /// The agent of the whole copy, or of a store's reads and of its writes.
    pub(crate) agents: [Agent; 2],
}

/// Calls `f` with the block of the rank `rank` in the cluster of `block`, if there is one.
pub(crate) fn with_member<R>(block: &Block, rank: u32, f: impl FnOnce(&Block) -> R) -> Option<R> {
    if rank == block.cluster_rank() {
        return Some(f(block));
    }
    Some(f(&*block.cluster().member(rank)?))
}

impl Operation {
    /// Notifies the watcher of all accesses of the copy, which the current thread of `block` begins. The accesses race
    /// with those that are not ordered before the beginning or after the end, whenever the copy takes effect.
    pub(crate) fn announce(&mut self, block: &Block) {
        let Some(watcher) = block.watcher().filter(|_| !std::thread::panicking()) else { return };
        let (at, context) = (self.at, &block.context);
        let access = |owner: &Block, agent: Agent, access: Access, space: Space, (address, bytes): (usize, usize)| {
            let touch = Touch { space, access, address, bytes, at };
            if !std::ptr::eq(owner, block) {
                owner.membership.is_accessed.set(true);
            }
            follow(block, watcher, watcher.agent_access(context, &owner.context, agent, &touch), at);
        };
        let outside_access = match self.kind {
            Kind::Load => Access::AsyncRead,
            Kind::Store(None) => Access::AsyncWrite,
            Kind::Store(Some(_)) => Access::Update(Scope::Device),
            Kind::Send => Access::AsyncWrite,
        };
        let agent = watcher.begin_agent(context, Origin::Threads(&[block.thread()]), at);
        self.agents = [agent; 2];
        if !matches!(self.kind, Kind::Load) {
            let space = Space::Shared;
            let read = |piece: Piece| {
                if piece.valid > 0 {
                    access(block, agent, Access::AsyncRead, space, (piece.shared, piece.bytes));
                }
            };
            self.outside.pieces(self.source, &mut { read });
        }
        match self.kind {
            Kind::Load => {
                let mut read = |piece: Piece| {
                    aligned(piece.outside, piece.valid, CHUNK, |part| {
                        access(block, agent, outside_access, Space::Global, part)
                    });
                };
                self.outside.pieces(0, &mut read);
            }
            Kind::Store(combine) => {
                let agent = watcher.begin_agent(context, Origin::After(agent), at);
                self.agents[1] = agent;
                let widest = combine.map_or(CHUNK, |combine| combine.element);
                let mut write = |piece: Piece| {
                    aligned(piece.outside, piece.valid, widest, |part| {
                        access(block, agent, outside_access, Space::Global, part)
                    });
                };
                self.outside.pieces(self.source, &mut write);
            }
            Kind::Send => {}
        }
        for &Target { rank, address, barrier } in &self.targets {
            with_member(block, rank, |owner| {
                let target = address..address + self.outside.extent();
                let copy = CopyToBarrier::new(target, self.outside.bytes(), self.issuer);
                owner.context.bulk.counts.begin_copy(barrier, copy);
                self.outside.pieces(address, &mut |piece: Piece| {
                    access(owner, agent, Access::AsyncWrite, Space::Shared, (piece.shared, piece.bytes));
                });
                access(owner, agent, Access::Arrive, Space::Shared, (barrier as usize, size_of::<u64>()));
            });
        }
        let own = self.targets.iter().find(|target| target.rank == self.issuer.0);
        let barrier = own.or(self.targets.first()).and_then(|target| {
            with_member(block, target.rank, |owner| (owner.context.position(), target.barrier as usize))
        });
        watcher.bulk_copy(context, self, barrier);
    }

    /// Makes the copy take effect as a whole. `block` is any block of the issuer's cluster.
    pub(crate) fn complete(&mut self, block: &Block) {
        if std::mem::replace(&mut self.is_done, true) {
            return;
        }
        match self.kind {
            Kind::Load => {
                for index in 0..self.targets.len() {
                    let Target { rank, address, .. } = self.targets[index];
                    with_member(block, rank, |owner| {
                        let base = owner.context.arena.base();
                        self.outside.pieces(address, &mut |piece: Piece| {
                            // SAFETY: the piece is in the memory of the map's buffer, which lives during the launch.
                            let bytes = unsafe { gather(&piece) };
                            // SAFETY: the issue has checked that the target is in the arena, which only this OS thread
                            // accesses.
                            guard::exempt(|| unsafe {
                                base.add(piece.shared).copy_from_nonoverlapping(bytes.as_ptr(), piece.bytes);
                            });
                        });
                    });
                }
            }
            Kind::Store(combine) => {
                with_member(block, self.issuer.0, |owner| self.store(owner, combine));
            }
            Kind::Send => self.send(block),
        }
        let bytes = self.outside.bytes();
        for &Target { rank, address, barrier } in &self.targets {
            with_member(block, rank, |owner| {
                owner.context.bulk.counts.arrive(barrier, address, bytes);
                owner.notify(|watcher, context| watcher.agent_arrival(context, self.agents[0], barrier as usize));
                super::settle(owner, barrier, self.ends);
            });
        }
        if !self.targets.is_empty() {
            self.retire(block);
        }
    }

    /// Notifies the watcher that no thread will wait for the copy any more.
    pub(crate) fn retire(&self, block: &Block) {
        let [first, second] = self.agents;
        block.notify(|watcher, _| watcher.retire_agent(first));
        if second != first {
            block.notify(|watcher, _| watcher.retire_agent(second));
        }
    }

    fn store(&self, owner: &Block, combine: Option<Combine>) {
        let base = owner.context.arena.base();
        self.outside.pieces(self.source, &mut |piece: Piece| {
            let mut bytes = [0_u8; CHUNK];
            // SAFETY: the issue has checked that the source is in the arena, which only this OS thread accesses.
            guard::exempt(|| unsafe {
                bytes.as_mut_ptr().copy_from_nonoverlapping(base.add(piece.shared), piece.bytes);
            });
            let bytes = &bytes[piece.skipped..piece.skipped + piece.valid];
            // SAFETY: the piece is in the memory of the copy's view, which lives during the launch.
            unsafe { scatter(piece.outside, bytes, combine) };
        });
    }

    fn send(&self, block: &Block) {
        let (Some(&Target { rank, address, .. }), bytes) = (self.targets.first(), self.outside.bytes()) else { return };
        let from = with_member(block, self.issuer.0, |owner| owner.context.arena.base());
        let to = with_member(block, rank, |owner| owner.context.arena.base());
        if let (Some(from), Some(to)) = (from, to) {
            // SAFETY: the issue has checked both ranges. The two arenas differ or are the same memory, which only this
            // OS thread accesses.
            guard::exempt(|| unsafe { to.add(address).copy_from(from.add(self.source), bytes) });
        }
    }
}

/// Calls `f` with the aligned parts of at most `widest` bytes of the `bytes` bytes at `start`.
fn aligned(start: usize, bytes: usize, widest: usize, mut f: impl FnMut((usize, usize))) {
    let (mut address, end) = (start, start + bytes);
    while address < end {
        let aligned = widest.min(1 << address.trailing_zeros().min(4));
        let bytes = if aligned <= end - address { aligned } else { 1 << (end - address).ilog2() };
        f((address, bytes));
        address += bytes;
    }
}

macro_rules! with_width {
    ($bytes:expr, $Word:ident => $body:expr) => {
        match $bytes {
            1 => {
                type $Word = u8;
                $body
            }
            2 => {
                type $Word = u16;
                $body
            }
            4 => {
                type $Word = u32;
                $body
            }
            8 => {
                type $Word = u64;
                $body
            }
            _ => {
                type $Word = u128;
                $body
            }
        }
    };
}

/// Returns the bytes of `piece` in global memory. Those out of bounds are 0.
///
/// # Safety
/// The bytes must be in memory that is only accessed atomically during the launch.
unsafe fn gather(piece: &Piece) -> [u8; CHUNK] {
    let mut all = [0_u8; CHUNK];
    let mut place = piece.skipped;
    guard::exempt(|| {
        aligned(piece.outside, piece.valid, CHUNK, |(address, bytes)| {
            with_width!(bytes, Word => {
                // SAFETY: the caller guarantees the memory, and the part is aligned.
                let word: Word = unsafe { load_ordered(address as *const Word, Ordering::Relaxed) };
                all[place..place + bytes].copy_from_slice(&word.to_ne_bytes());
            });
            place += bytes;
        });
    });
    all
}

/// Writes `bytes` to the global memory at `start`, or combines them with the elements there.
///
/// # Safety
/// The memory must be writable and only be accessed atomically during the launch.
unsafe fn scatter(start: usize, bytes: &[u8], combine: Option<Combine>) {
    if let Some(Combine { element, f }) = combine {
        for (index, operand) in bytes.chunks_exact(element).enumerate() {
            let mut word = [0; 8];
            word[..element].copy_from_slice(operand);
            let (address, operand) = (start + index * element, u64::from_le_bytes(word));
            // SAFETY: the caller guarantees the memory. Elements are aligned.
            unsafe {
                match element {
                    2 => super::update(address as *mut u16, |old| f(u64::from(old), operand) as u16),
                    4 => super::update(address as *mut u32, |old| f(u64::from(old), operand) as u32),
                    _ => super::update(address as *mut u64, |old| f(old, operand)),
                }
            }
        }
        return;
    }
    let mut place = 0;
    guard::exempt(|| {
        aligned(start, bytes.len(), CHUNK, |(address, len)| {
            with_width!(len, Word => {
                let mut word = [0; size_of::<Word>()];
                word.copy_from_slice(&bytes[place..place + len]);
                // SAFETY: the caller guarantees the memory, and the part is aligned.
                unsafe { store_ordered(address as *mut Word, Word::from_ne_bytes(word), Ordering::Relaxed) };
            });
            place += len;
        });
    });
}
