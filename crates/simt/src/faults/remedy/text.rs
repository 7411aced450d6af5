//! The texts of remedies.

use std::fmt;

use super::Remedy;

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WarpSynchronisation => {
                "put thread::sync_threads between the accesses (warp::sync_warp of both lanes is enough if no other \
                 warp accesses these elements); if each thread should have its own element, mend an index"
            }
            Self::BlockBarrier => "put thread::sync_threads between the accesses",
            Self::WiderScope => {
                "one of the accesses is atomic only for the threads of its own block: make both atomic for the device"
            }
            Self::OneWidth => {
                "both accesses are atomic, but their widths differ, so that they are not atomic with each other: \
                access these bytes with one width"
            }
            Self::OneThread => {
                "several threads make one store: give each thread its own element, or let one thread make the store, \
                 or, if the result is right in any order, make it atomic; the rounds of a loop in one block are \
                 ordered by thread::sync_threads between them"
            }
            Self::NoBorrow => {
                "a mutable borrow counts as a store, because no other access may happen while it exists: for an atomic \
                operation, take a raw pointer (`&raw mut x[0]`) or call the view's atomic methods; otherwise let one \
                thread borrow the element, and put a barrier between the accesses"
            }
            Self::Release => {
                "this thread has read an atomic write that follows the other access and does not release it: put a \
                fence between that access and the atomic write, or make the write a releasing store, of a scope that \
                includes both threads"
            }
            Self::Acquire => {
                "the other access is released by an atomic write that this thread has read without acquiring it: put a \
                fence between the atomic read and this access, or make the read an acquiring load, of a scope that \
                includes both threads"
            }
            Self::ReleaseAndAcquire => {
                "this thread has read an atomic write that follows the other access: put a fence between that access \
                and the atomic write, and another between the atomic read and this access, or use a releasing store \
                and an acquiring load, of a scope that includes both threads"
            }
            Self::SequentialFences => {
                "if each thread writes one word and then reads the other's, put `fence()` (`fence.sc`) between the \
                write and the read in both threads, because a releasing store and an acquiring load do not order \
                them; if the read has to follow a message, use a releasing store and an acquiring load for the message"
            }
            Self::LoadsBeforeStores => {
                "if each thread reads one word and then writes the word that another one reads, put a fence between \
                the read and the write in every thread, or use acquiring loads and releasing stores, of a scope that \
                includes the threads"
            }
            Self::BarrierBeforeRelease => {
                "the other access and the atomic write that this block has read are by two threads of one block, and \
                nothing orders them: put thread::sync_threads between that access and the write, in the block of the \
                other access"
            }
            Self::WarpBeforeRelease => {
                "the other access and the atomic write that this thread has read are by two lanes of one warp, and \
                nothing orders them: put thread::sync_threads, or warp::sync_warp of both lanes if no other warp takes \
                part, between that access and the write"
            }
            Self::BarrierAfterAcquire => {
                "another thread of this block has acquired the other access by an atomic read, and nothing orders this \
                access after that read: put thread::sync_threads between that read and this access"
            }
            Self::WarpAfterAcquire => {
                "another lane of this warp has acquired the other access by an atomic read, and nothing orders this \
                access after that read: put thread::sync_threads, or warp::sync_warp of both lanes if no other warp \
                takes part, between that read and this access"
            }
            Self::WaitForCopy => {
                "this thread has to commit the copy and wait for its group before it accesses the copy's target: a \
                wait covers only the copies before the last `commit`; if the access needs the value before the copy, \
                copy to another buffer"
            }
            Self::WaitForCopyAndBarrier => {
                "the thread that began the copy has to commit it and wait for its group; put thread::sync_threads \
                 between that wait and the access of the other thread; if the access needs the value before the copy, \
                 copy to another buffer"
            }
            Self::EitherSideOfCopy => {
                "if this access needs the value before the copy, move it before the copy; if it needs the copied \
                value, commit the copy and wait for its group before the access"
            }
            Self::EitherSideOfCopyByBarrier => {
                "if the load or store needs the value before the copy, put thread::sync_threads between it and the \
                beginning of the copy, because a wait orders nothing before the copy; if it needs the copied value, \
                make the thread that began the copy commit it and wait for its group, and put thread::sync_threads \
                between that wait and the load or store"
            }
            Self::OneCopy => {
                "several threads copy to one address: let one thread make the copy, or use a separate target for each; \
                between the iterations of a loop, the thread that made the copy has to wait for its group, followed by \
                thread::sync_threads"
            }
            Self::PartsApart => {
                "if the two parts must not overlap, begin the one with the higher offset past the end of the other; \
                if they are meant to share these bytes, put thread::sync_threads between the two accesses"
            }
            Self::AtomicLoad => {
                "other threads update this element atomically, so load it atomically, too: use `load_relaxed`, or \
                `load_acquire` if the thread then reads what they have written"
            }
            Self::AtomicStore => {
                "other threads access this element atomically, so store to it atomically, too: use `store_release`, or \
                `store_relaxed` if the store publishes no other accesses"
            }
            Self::AnotherArray => {
                "each thread updates its own elements and loads those of others: store to another array, or make the \
                stores in a later launch; or, if the result is right whichever value a load returns, make both \
                accesses relaxed (`load_relaxed`, `store_relaxed`)"
            }
            Self::FlagAfterAccess => {
                "this thread has read an atomic write that precedes the other access: move that write after the \
                access and make it a releasing store, and make the read of this thread an acquiring load (or relaxed \
                accesses, with a `fence()` before the write and one after the read)"
            }
            Self::BarrierAfterLoads => {
                "the store belongs to the next iteration of a loop: put thread::sync_threads at the loop's end, after \
                the loads"
            }
            Self::WarpBeforeArrival => {
                "one lane arrives at the barrier for its warp, and nothing orders the accesses of the other lanes \
                before that arrival: put warp::sync_warp of the whole warp before it"
            }
            Self::LaterPhase => {
                "wait for that phase before the access: `wait_parity` returns at once for the parity of the phase \
                before the current one, the first phase has parity false, and each later phase the other parity than \
                the one before"
            }
            Self::ProxyFence => {
                "call `barrier::fence_proxy_async()` in the writing thread after the write, and let the thread that \
                 begins the operation synchronise with it afterwards"
            }
            Self::InitFence => {
                "call `barrier::fence_init()` in the thread that initialises the barrier, before the barrier of the \
                 block or cluster that follows"
            }
            Self::BeforeOperation => {
                "order that access before the beginning of the operation: let its thread arrive at a barrier, and let \
                 the thread that begins the operation wait there (`Barrier::arrive` or, in another block of the \
                 cluster, `Barrier::arrive_at`, and `Barrier::wait_parity`; or thread::sync_threads)"
            }
            Self::WaitForReads => {
                "the operation may still read: let the thread that began it wait for its end (for a store \
                 `bulk::commit` and `bulk::wait_read`) before this access, and synchronise with other threads \
                 afterwards (thread::sync_threads)"
            }
            Self::WaitForOperation => {
                "wait for the end of the operation before this access: for a load, for the phase of its barrier \
                 (`Barrier::wait_parity` in this thread); for a store, `bulk::commit` and `bulk::wait` in the thread \
                 that began it, followed by thread::sync_threads for other threads"
            }
            Self::BetweenOperations => {
                "nothing orders the two operations: before the second one begins, wait for the end of the first (for a \
                 load the phase of its barrier, for a store `bulk::wait` or, if it only reads, `bulk::wait_read`), and \
                 let the waiting threads synchronise with the thread that begins the second (in a pipeline, the \
                 loading thread waits for the barrier at which the readers of the stage arrive)"
            }
            Self::ExpectAllBytes => {
                "expect the bytes of all copies that arrive in the phase: pass their sum to `arrive_and_expect` or \
                 `expect`"
            }
            Self::WaitForFactors => {
                "the product may still read its factors: let a thread of the warpgroup wait for the product (`finish`, \
                 or `wait` with fewer groups in progress) before this access, and synchronise with other threads \
                 afterwards (an arrival at a barrier, or thread::sync_threads)"
            }
            Self::WaitForProduct => {
                "wait for the product's group before its sums are used and before the kernel returns (`finish`, or \
                 `wgmma.wait_group` with fewer groups in progress)"
            }
            Self::CommitProduct => {
                "put the product into a group (`wgmma.commit_group`) before the wait, which covers only the products \
                 before the last commit"
            }
            Self::ProductFence => {
                "execute `wgmma.fence` in all warps of the warpgroup after the writes to the registers of the sums and \
                 of A, and before the first product"
            }
            Self::WholeWarpgroup => {
                "all 128 threads of a warpgroup must execute this instruction, with the same operands in shared memory: \
                 move it out of branches on which its warps differ"
            }
            Self::WholeWarpgroups => "launch blocks of a multiple of 128 threads",
            Self::OrdinaryLoad => {
                "load the element by `load`, and order that load and the write by a barrier or another synchronisation"
            }
            Self::BarrierForAll => {
                "every thread of a block must reach each barrier: make threads without work skip the work and not the \
                barrier"
            }
            Self::ClusterBarrier => {
                "put cluster::sync between the accesses, or order them by a releasing store and an acquiring load; or, \
                 if the result is right in either order, make both atomic"
            }
            Self::ClusterBarrierBefore => {
                "call cluster::sync in all threads of the cluster before the first access to another block's shared \
                 memory"
            }
            Self::ClusterBarrierAfter => {
                "call cluster::sync in all threads of the cluster after the last access to another block's shared \
                 memory, so that no block ends before"
            }
            Self::ClusterBarrierForAll => {
                "every thread of a cluster must reach each barrier of the cluster: make threads and blocks without work \
                 skip the work and not the barrier"
            }
            Self::OneBarrier => {
                "move the barrier out of the divergent branches; if it is in a loop, run the same number of iterations \
                in all threads and skip the work instead"
            }
            Self::MaskWithSource => {
                "let the source lane reach the shuffle and name it in the mask, or use the value only in lanes whose \
                source takes part"
            }
            Self::WholeWarp => {
                "all 32 lanes of a warp must execute this instruction together, with the same types and shape: move it \
                out of the divergent branches, and let lanes without work pass zeros"
            }
            Self::WholeWarps => "launch blocks of a multiple of 32 threads",
            Self::MaskWithCaller => "add the caller to the mask, or let it skip the operation",
            Self::MaskOfReachingLanes => {
                "every lane of the mask that has not exited must reach the same operation with the same mask: move the \
                operation out of the divergent branches, or use a mask from a warp::ballot before them"
            }
            Self::AtomicUpdate => {
                "if several threads update this element, make the load and the store one atomic update (such as \
                `atomic_add`); if only one does, put a barrier between its store and the loads of other threads; if \
                each thread updates its own elements and loads those of others, store to another array, or make the \
                stores in a later launch"
            }
            Self::InitialiseBefore => {
                "move that first write to the host or to an earlier launch, or order all reads after it"
            }
            Self::GridBarrier => {
                "put grid::sync between the accesses, or order them by a releasing store and an acquiring load, or by \
                 fences around atomics, or make one of them in a later launch; or, if the result is right in either \
                 order, make both atomic"
            }
            Self::BetweenBlocks => {
                "order the accesses by a releasing store and an acquiring load, or by fences around atomics (with \
                 a barrier if one thread does so for others), or make one of them in a later launch, or, if all \
                 threads get there, put grid::sync between them in a cooperative launch; or, if the result is right in \
                 either order, make both atomic"
            }
        })
    }
}
