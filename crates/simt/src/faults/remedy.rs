//! Remedies: changes that would make a kernel correct.

mod text;

use crate::lanes::LANES;

/// A change that would make a kernel correct. For a race it is the weakest synchronisation that orders the two
/// accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Remedy {
    /// A warp synchronisation of both lanes between the two accesses.
    WarpSynchronisation,
    /// A block barrier between the two accesses.
    BlockBarrier,
    /// A release and an acquire between two blocks, or a later launch for one of the accesses.
    BetweenBlocks,
    /// A barrier of the grid, or one of the changes of [`BetweenBlocks`](Self::BetweenBlocks).
    GridBarrier,
    /// An atomic update instead of a load and a store by several threads.
    AtomicUpdate,
    /// Initialisation of the memory by the host or by an earlier launch.
    InitialiseBefore,
    /// Atomics whose scope includes both threads.
    WiderScope,
    /// Atomics of one width for all accesses to these bytes.
    OneWidth,
    /// A store by a single thread. Now several threads make the store.
    OneThread,
    /// A raw pointer or an atomic method of the view instead of a mutable borrow, or a borrow by a single thread.
    NoBorrow,
    /// A release by the thread of the earlier access, before an atomic write that the later access's thread has read.
    Release,
    /// An acquire by the thread of the later access, after it has read the other thread's atomic write.
    Acquire,
    /// Both a release by the thread of the earlier access and an acquire by the thread of the later one.
    ReleaseAndAcquire,
    /// A sequentially consistent fence in each of two threads, between the thread's atomic write and its atomic read of
    /// what the other thread writes. If the later thread has already read an atomic write that follows the earlier
    /// access, a release and an acquire are enough.
    SequentialFences,
    /// A fence in each thread between its atomic load and its atomic store. Or all these loads acquire, and the stores
    /// release.
    LoadsBeforeStores,
    /// A block barrier between the earlier access and the releasing write by another thread of the same block.
    BarrierBeforeRelease,
    /// A warp synchronisation between the earlier access and the releasing write by another lane of the same warp.
    WarpBeforeRelease,
    /// A block barrier between the acquiring read by another thread of the block and the later access.
    BarrierAfterAcquire,
    /// A warp synchronisation between the acquiring read by another lane of the warp and the later access.
    WarpAfterAcquire,
    /// A commit of the asynchronous copy and a wait for the copy. One thread begins the copy and later accesses its
    /// target; this thread must do both.
    WaitForCopy,
    /// A commit of the asynchronous copy and a wait for the copy, both by the thread that began it. A block barrier
    /// must then precede the access of the other thread.
    WaitForCopyAndBarrier,
    /// A move of the access to a place before the same thread's asynchronous copy, or after the wait for the copy. This
    /// is the remedy if the copy overwrites initialised memory.
    EitherSideOfCopy,
    /// A move of the access to a place before another thread's asynchronous copy, or after the wait for the copy. A
    /// block barrier must separate the access from the copy or the wait.
    EitherSideOfCopyByBarrier,
    /// An asynchronous copy by a single thread. Now several threads make the copy.
    OneCopy,
    /// Another offset for one of two overlapping parts of dynamic shared memory, or a block barrier between the two
    /// accesses.
    PartsApart,
    /// An atomic load instead of a plain one. Other threads update the element atomically, as the loading thread does.
    AtomicLoad,
    /// An atomic store instead of a plain one, for an element that the storing thread and others access atomically.
    AtomicStore,
    /// Another array, or another launch, for the stores of threads that update their own elements and load those of
    /// others.
    AnotherArray,
    /// A move of the atomic write after the access that it announces, and a release and an acquire of that access.
    FlagAfterAccess,
    /// A block barrier after the loads, at the end of a loop whose next iteration stores to the same elements.
    BarrierAfterLoads,
    /// A warp synchronisation before the arrival at a barrier in shared memory, by one lane for its warp.
    WarpBeforeArrival,
    /// A wait for the phase of a barrier in shared memory in which the other thread arrives, instead of an earlier
    /// phase.
    LaterPhase,
    /// An ordinary load instead of a read-only load, and synchronisation that orders it and the write.
    OrdinaryLoad,
    /// A fence between the generic proxy and the asynchronous one, between a thread's write and an operation that reads
    /// or overwrites it.
    ProxyFence,
    /// A fence of the initialisation of a barrier, before the first operation that arrives there.
    InitFence,
    /// An order of a thread's access before the beginning of an asynchronous operation.
    BeforeOperation,
    /// A wait until an asynchronous operation has read its source, before a thread overwrites the source.
    WaitForReads,
    /// A wait for the end of an asynchronous operation, before a thread accesses what it writes.
    WaitForOperation,
    /// A wait for the end of an asynchronous operation, before another one begins.
    BetweenOperations,
    /// The expectation of the bytes of all copies of a phase, instead of some of them.
    ExpectAllBytes,
    /// A wait for the end of a product of a warpgroup, before a thread overwrites its factors in shared memory.
    WaitForFactors,
    /// A wait for the end of a product of a warpgroup, before a thread reads the sums or ends.
    WaitForProduct,
    /// A group for a product of a warpgroup, before the wait for its end.
    CommitProduct,
    /// A fence of registers between the writes to the sums and the first product.
    ProductFence,
    /// A place of the instruction that all four warps of the warpgroup reach, with the same operands.
    WholeWarpgroup,
    /// Blocks of a multiple of 128 threads.
    WholeWarpgroups,
    /// A barrier that all threads of the block reach, including those without work.
    BarrierForAll,
    /// A barrier of the cluster between two accesses to shared memory by different blocks.
    ClusterBarrier,
    /// A barrier of the cluster before the first access to another block's shared memory.
    ClusterBarrierBefore,
    /// A barrier of the cluster after the last access to another block's shared memory.
    ClusterBarrierAfter,
    /// A barrier of the cluster that all threads of its blocks reach, including those without work.
    ClusterBarrierForAll,
    /// A single barrier outside of the branches or loops. Now threads reach different barriers inside of the branches
    /// or loops.
    OneBarrier,
    /// A mask of the warp operation that includes the calling lane.
    MaskWithCaller,
    /// A mask of the shuffle that includes the source lane, which must reach the shuffle.
    MaskWithSource,
    /// A place of the instruction that all 32 lanes of the warp reach.
    WholeWarp,
    /// Blocks of a multiple of 32 threads.
    WholeWarps,
    /// A mask of only those lanes that reach the warp operation, or a place in the source that all lanes of the mask
    /// reach.
    #[cfg_attr(feature = "serde", serde(rename = "mask_of_those_who_come"))]
    MaskOfReachingLanes,
}

impl Remedy {
    /// Returns the remedy that orders two threads of a block. `thread` and `other` are their linear indices.
    pub(crate) fn in_block(thread: u32, other: u32) -> Self {
        if thread / LANES == other / LANES { Self::WarpSynchronisation } else { Self::BlockBarrier }
    }

    /// Returns true if the remedy may be a releasing store and an acquiring load of the element itself.
    pub(crate) fn may_release_element(self) -> bool {
        matches!(self, Self::AtomicLoad | Self::AtomicStore | Self::BetweenBlocks | Self::GridBarrier)
    }
}
