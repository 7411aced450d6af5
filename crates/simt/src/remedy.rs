//! What would make a kernel right.

use std::fmt;

use crate::fault::{Fault, FaultKind};
use crate::lanes::LANES;
use crate::whereabouts::Activity;

/// What would make a kernel right: of what orders two accesses the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Remedy {
    /// A warp synchronisation of both lanes.
    WarpSynchronisation,
    /// A block barrier.
    BlockBarrier,
    /// Release and acquire, or another launch.
    BetweenBlocks,
    /// A barrier of the grid, or what [`BetweenBlocks`](Self::BetweenBlocks) has.
    GridBarrier,
    /// One atomic update in the place of a load and a store by several threads.
    AtomicUpdate,
    /// Memory that the host, or an earlier launch, initialises.
    InitialiseBefore,
    /// Atomics whose scope has both threads in it.
    WiderScope,
    /// Atomics of one width.
    OneWidth,
    /// One of the threads makes the store that they all make.
    OneThread,
    /// A release by the thread of the earlier access, before an atomic write that the later one's has read.
    Release,
    /// An acquire by the thread of the later access, after it has read the other's atomic write.
    Acquire,
    /// Both of them.
    ReleaseAndAcquire,
    /// A block barrier between the earlier access and the releasing write of another thread of its block.
    BarrierBeforeRelease,
    /// A warp synchronisation there.
    WarpBeforeRelease,
    /// A block barrier between the acquiring read of another thread of the block and the later access.
    BarrierAfterAcquire,
    /// A warp synchronisation there.
    WarpAfterAcquire,
    /// A commit of the asynchronous copy and a wait for it, by the thread that began it and that accesses where it
    /// goes.
    WaitForCopy,
    /// The same by the thread that began it, and then a barrier before the access of the other thread.
    WaitForCopyAndBarrier,
    /// The access before the copy of the same thread, or after the wait for it: where there was something before the
    /// copy.
    EitherSideOfCopy,
    /// The same for the access of another thread, with a barrier between the two.
    EitherSideOfCopyByBarrier,
    /// One of the threads makes the asynchronous copy that they all make.
    OneCopy,
    /// Another offset for one of two parts of dynamic shared memory that overlap, or a barrier.
    PartsApart,
    /// All threads of the block come to the barrier, those too that have nothing to do.
    BarrierForAll,
    /// One barrier outside of the branches or loops in which threads come to several.
    OneBarrier,
    /// A mask that has the caller in it.
    MaskWithCaller,
    /// A mask of the lanes that come to the operation, or the operation where all lanes of the mask come.
    MaskOfThoseWhoCome,
}

impl Remedy {
    /// For two threads of a block, by their numbers.
    pub(crate) fn in_block(thread: u32, other: u32) -> Self {
        if thread / LANES == other / LANES { Self::WarpSynchronisation } else { Self::BlockBarrier }
    }
}

impl Fault {
    /// What would make the kernel right, where the fault tells. Its text is part of the message.
    pub fn remedy(&self) -> Option<Remedy> {
        match &self.kind {
            FaultKind::Race(race) | FaultKind::EarlyRead(race) => Some(race.remedy),
            FaultKind::Uninitialised { copy: Some(copy), .. } if copy.overwrites => Some(Remedy::EitherSideOfCopy),
            FaultKind::Uninitialised { copy: Some(_), .. } => Some(Remedy::WaitForCopy),
            // Who is held up there comes to the barrier when the lanes that wait here come to the operation.
            FaultKind::BarrierNotReached { missing, .. }
                if matches!(missing.activity, Activity::AtWarpOperation { .. }) =>
            {
                Some(Remedy::MaskOfThoseWhoCome)
            }
            FaultKind::BarrierNotReached { .. } => Some(Remedy::BarrierForAll),
            FaultKind::BarrierMismatch { .. } | FaultKind::BarrierApart { .. } => Some(Remedy::OneBarrier),
            FaultKind::WarpMismatch { other: None, .. } => Some(Remedy::MaskWithCaller),
            FaultKind::WarpMismatch { other: Some(_), .. } => Some(Remedy::MaskOfThoseWhoCome),
            _ => None,
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WarpSynchronisation => "put warp::sync_warp of both lanes, or a block barrier, between them",
            Self::BlockBarrier => "put thread::sync_threads between them",
            Self::WiderScope => {
                "one of them is atomic for the threads of its own block alone: make both atomic for the device"
            }
            Self::OneWidth => {
                "both are atomic, but of different widths, between which nothing is atomic: access these bytes with one width"
            }
            Self::OneThread => {
                "several threads make one store: let one thread make it, or give each its own element, or, if the \
                 result is right whichever of them comes last, make it atomic; the rounds of a loop in one block are \
                 ordered by thread::sync_threads between them"
            }
            Self::Release => {
                "this thread has read an atomic write that follows the other access, which does not release it: put a fence \
                 between that access and the atomic write, or make the write a releasing store, of a scope that has both \
                 threads in it"
            }
            Self::Acquire => {
                "the other access is released by an atomic write that this thread has read, and not acquired: put a fence \
                 between the atomic read and this access, or make the read an acquiring load, of a scope that has both threads \
                 in it"
            }
            Self::ReleaseAndAcquire => {
                "this thread has read an atomic write that follows the other access: put a fence between that access and the \
                 atomic write, and another between the atomic read and this access, or have a releasing store and an \
                 acquiring load, of a scope that has both threads in it"
            }
            Self::BarrierBeforeRelease => {
                "the other access is by another thread of its block than the atomic write by which this block has been told, and \
                 nothing orders it before that write: put thread::sync_threads between that access and the write, in the block of the \
                 other access"
            }
            Self::WarpBeforeRelease => {
                "the other access is by another lane of its warp than the atomic write by which this thread has been told, and \
                 nothing orders it before that write: put warp::sync_warp of both lanes, or a block barrier, between that access and \
                 the write, in the warp of the other access"
            }
            Self::BarrierAfterAcquire => {
                "another thread of this block has acquired the other access by an atomic read, and nothing orders this access after \
                 that read: put thread::sync_threads between that read and this access"
            }
            Self::WarpAfterAcquire => {
                "another lane of this warp has acquired the other access by an atomic read, and nothing orders this access after \
                 that read: put warp::sync_warp of both lanes, or a block barrier, between that read and this access"
            }
            Self::WaitForCopy => {
                "this thread has to commit the copy and wait for its group before it accesses where the copy goes: a \
                 wait is for the copies before the last `commit` alone"
            }
            Self::WaitForCopyAndBarrier => {
                "the thread that began the copy has to commit it and wait for its group; put thread::sync_threads \
                 between that wait and the access of the other thread"
            }
            Self::EitherSideOfCopy => {
                "if this access is to find what was there before the copy, move it before the copy; if it is to find \
                 what the copy brings, commit the copy and wait for its group before it"
            }
            Self::EitherSideOfCopyByBarrier => {
                "if the load or store is for what was there before the copy, put thread::sync_threads between it and \
                 the beginning of the copy, since a wait orders nothing before the copy; if it is for what the copy \
                 brings, have the thread that began the copy commit it and wait for its group, and put \
                 thread::sync_threads between that wait and the load or store"
            }
            Self::OneCopy => {
                "several threads copy to one place: let one thread make the copy, or give each its own place; between \
                 the rounds of a loop the thread that made the copy waits for its group, and thread::sync_threads \
                 follows"
            }
            Self::PartsApart => {
                "if the two parts are to be apart, begin the one with the higher offset behind the end of the other; \
                 if they are to share these bytes, put thread::sync_threads between the two accesses"
            }
            Self::BarrierForAll => {
                "every thread of a block must reach each barrier: have those with nothing to do leave out the work and not the \
                 barrier"
            }
            Self::OneBarrier => {
                "move the barrier out of the divergent branches; around a barrier in a loop, let all threads go on for \
                 as many iterations and leave out the work instead"
            }
            Self::MaskWithCaller => "add the caller to the mask, or have it leave out the operation",
            Self::MaskOfThoseWhoCome => {
                "every lane of the mask that has not exited must reach the same operation with the same mask: move the operation \
                 out of the divergent branches, or give it a mask that warp::ballot has taken before them"
            }
            Self::AtomicUpdate => {
                "if several threads update this element, make the load and the store one atomic update (such as `atomic_add`); if \
                 only one does, put a barrier between its store and the loads of others"
            }
            Self::InitialiseBefore => {
                "move that first write to the host or to a launch before, or order all that read there after it"
            }
            Self::GridBarrier => {
                "put grid::sync between them, or order them by a releasing store and an acquiring load, or by fences \
                 around atomics, or by a launch of their own; or, if the result is right whichever comes first, make \
                 both atomic"
            }
            Self::BetweenBlocks => {
                "order them by a releasing store and an acquiring load, or by fences around atomics, with a barrier \
                 where one thread does so for others, or by a launch of their own; or, if the result is right \
                 whichever comes first, make both atomic"
            }
        })
    }
}
