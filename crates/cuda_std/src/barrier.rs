//! Barriers in shared memory at which threads arrive first and wait later (`mbarrier`), and named barriers of some
//! warps of a block.

use crate::{Shared, backend};

/// The largest number of arrivals that a phase of a barrier can count.
pub const MAX_COUNT: u32 = (1 << 20) - 1;

/// A barrier in 8 bytes of shared memory. A phase ends when the expected number of threads has arrived, and then the
/// next phase begins. A thread that waits for the end of a phase sees the earlier writes of the threads that arrived.
///
/// From sm_80 on, each operation of a barrier is one instruction. Before sm_80 it uses atomics, and `cuda_builder`
/// prints a warning. The simulator reports an uninitialised barrier, a count out of range, and a wait for a phase that
/// ended long ago. If too few threads arrive, it reports a lack of progress.
///
/// ```
/// use cuda_std::barrier::Barrier;
/// use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};
///
/// /// Copies `x` to `y` and reverses the part of each block. A block has up to 256 threads with one element each.
/// #[kernel(max_threads = 256)]
/// pub fn reverse(x: Global<f32>, y: GlobalMut<f32>) {
///     let tile = shared_array![f32; 256];
///     let barrier = Barrier::at(shared_array![u64; 1], 0);
///     let (thread, size) = (thread::index_in_block(), thread::block_size());
///     if thread == 0 {
///         barrier.init(size);
///     }
///     thread::sync_threads();
///     tile.store(thread as usize, x.load(thread::index_1d()));
///     let arrived = barrier.arrive();
///     // Work that needs no other thread can be done here.
///     barrier.wait(arrived);
///     y.store(thread::index_1d(), tile.load((size - 1 - thread) as usize));
/// }
/// # fn main() {}
/// ```
#[doc(alias = "cuda::barrier")]
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    address: u32,
}

/// A token for the phase in which a thread has arrived. The thread passes it to [`Barrier::wait`] to wait for the end
/// of that phase.
#[derive(Clone, Copy, Debug)]
#[must_use = "pass it to `wait` or `is_over` to learn when the phase ends"]
pub struct Arrival(u64);

impl Barrier {
    /// Returns the barrier that is stored in element `index` of `words`.
    #[inline(always)]
    #[track_caller]
    pub fn at(words: Shared<u64>, index: usize) -> Self {
        Self { address: words.checked_address(index) }
    }

    /// Returns the barrier's address in shared memory.
    #[inline(always)]
    pub(crate) const fn address(self) -> u32 {
        self.address
    }

    /// Initialises the barrier. Each phase ends when `count` threads (1 to [`MAX_COUNT`]) have arrived. One thread
    /// calls this method; a block barrier must separate the call from the first use.
    #[doc(alias = "__mbarrier_init")]
    #[inline(always)]
    #[track_caller]
    pub fn init(self, count: u32) {
        backend::barrier_init(self.address, count);
    }

    /// Arrives at the barrier without waiting and returns the token of the phase.
    #[doc(alias = "__mbarrier_arrive")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive(self) -> Arrival {
        Arrival(backend::barrier_arrive(self.address))
    }

    /// Arrives at the barrier like [`arrive`](Self::arrive), after adding `bytes` to the bytes that the current phase
    /// expects. The phase ends when all threads have arrived and [bulk copies](crate::bulk) of so many bytes have
    /// ended. A phase can expect 2²⁰ − 1 bytes.
    #[doc(alias = "mbarrier.arrive.expect_tx")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_expect(self, bytes: u32) -> Arrival {
        Arrival(backend::barrier_arrive_and_expect(self.address, bytes))
    }

    /// Adds `bytes` to the bytes that the current phase expects, without arriving. A thread that has not arrived yet
    /// must call this method, because the phase may otherwise have ended.
    #[doc(alias = "mbarrier.expect_tx")]
    #[inline(always)]
    #[track_caller]
    pub fn expect(self, bytes: u32) {
        backend::barrier_expect(self.address, bytes);
    }

    /// Arrives at the barrier that corresponds to this one in the block of the cluster with the rank `rank`.
    ///
    /// The arrival follows this thread's earlier *reads* of shared memory, so that the other block may overwrite what
    /// they have read. For the other block to see this thread's earlier *writes*, call
    /// [`fence_cluster`](crate::fence_cluster) before: an arrival that publishes writes would wait for all of them, to
    /// global memory, too. The other block must have initialised its barrier before a barrier of the cluster.
    #[doc(alias = "mbarrier.arrive.shared::cluster")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive_at(self, rank: u32) {
        backend::check_cluster_rank(rank);
        backend::barrier_arrive_at(self.address, rank);
    }

    /// Returns true if the phase of `arrival` has ended, like [`is_over`](Self::is_over), but the hardware may suspend
    /// the thread for a while until it has.
    #[doc(alias = "mbarrier.try_wait")]
    #[inline(always)]
    #[track_caller]
    pub fn try_wait(self, arrival: Arrival) -> bool {
        backend::barrier_try_wait(self.address, arrival.0)
    }

    /// Returns true if a phase of this parity has ended, as [`wait_parity`](Self::wait_parity) waits for it, but the
    /// hardware may suspend the thread for a while until it has.
    #[doc(alias = "mbarrier.try_wait.parity")]
    #[inline(always)]
    #[track_caller]
    pub fn try_wait_parity(self, parity: bool) -> bool {
        backend::barrier_try_wait_parity(self.address, parity)
    }

    /// Waits like [`wait_parity`](Self::wait_parity), but the hardware suspends the thread from sm_90 on. This leaves
    /// more of the multiprocessor's time to the other warps.
    #[inline(always)]
    #[track_caller]
    pub fn await_parity(self, parity: bool) {
        let _wait = backend::begin_barrier_wait();
        while !self.try_wait_parity(parity) {}
    }

    /// Arrives and leaves the barrier: the following phases expect one arrival less.
    #[doc(alias = "__mbarrier_arrive_and_drop")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_drop(self) -> Arrival {
        Arrival(backend::barrier_arrive_and_drop(self.address))
    }

    /// Returns true if the phase of `arrival` has ended. That phase must be the barrier's current or previous one.
    #[doc(alias = "__mbarrier_test_wait")]
    #[inline(always)]
    #[track_caller]
    pub fn is_over(self, arrival: Arrival) -> bool {
        backend::barrier_is_over(self.address, arrival.0)
    }

    /// Waits until the phase of `arrival` has ended.
    #[doc(alias = "__mbarrier_try_wait")]
    #[inline(always)]
    #[track_caller]
    pub fn wait(self, arrival: Arrival) {
        let _wait = backend::begin_barrier_wait();
        while !self.is_over(arrival) {}
    }

    /// Waits until a phase of this parity has ended, without arriving. The first phase has parity false, the second
    /// true, and so on. The phase must be the barrier's current or previous one.
    #[doc(alias = "__mbarrier_test_wait_parity")]
    #[inline(always)]
    #[track_caller]
    pub fn wait_parity(self, parity: bool) {
        let _wait = backend::begin_barrier_wait();
        while !backend::barrier_parity_is_over(self.address, parity) {}
    }

    /// Arrives at the barrier and waits until the phase has ended.
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_wait(self) {
        self.wait(self.arrive());
    }
}

/// Makes the barriers that this thread has [initialised](Barrier::init) known to bulk copies and, after a barrier of
/// the cluster, to the other blocks. It must precede the barrier of the block or cluster that follows the
/// initialisation.
#[doc(alias = "fence.mbarrier_init")]
#[inline(always)]
#[track_caller]
pub fn fence_init() {
    backend::fence_barrier_init();
}

/// Orders this thread's earlier reads and writes of memory before the accesses of asynchronous operations that begin
/// later, such as bulk copies and products of tensor cores. If another thread begins the operation, it must synchronise
/// with this thread after the fence.
#[doc(alias = "fence.proxy.async")]
#[inline(always)]
#[track_caller]
pub fn fence_proxy_async() {
    backend::fence_proxy_async();
}

/// Orders this thread's earlier accesses like [`fence_proxy_async`], but only those to the shared memory of its block.
/// It does not wait for stores to global memory, and therefore costs less.
#[doc(alias = "fence.proxy.async.shared::cta")]
#[inline(always)]
#[track_caller]
pub fn fence_proxy_async_shared() {
    backend::fence_proxy_async_shared();
}

/// Waits at the named barrier `id` (1 to 15) until `threads` threads of the block have reached it or
/// [arrived](arrive_named). The accesses of those threads before the barrier then happen before this thread's later
/// accesses (`barrier.sync`).
///
/// `threads` is a multiple of 32, because a GPU counts warps: all lanes of a warp must call the function. All threads
/// of a phase give the same number. Barrier 0 is [`sync_threads`](crate::thread::sync_threads). The simulator reports a
/// number out of range, and a lack of progress if too few threads arrive.
#[doc(alias = "__barrier_sync_count")]
#[inline(always)]
#[track_caller]
pub fn sync_named(id: u32, threads: u32) {
    backend::sync_named(id, threads);
}

/// Arrives at the named barrier `id` like [`sync_named`], but does not wait (`barrier.arrive`). A producer arrives at a
/// barrier at which consumers wait.
#[doc(alias = "bar.arrive")]
#[inline(always)]
#[track_caller]
pub fn arrive_named(id: u32, threads: u32) {
    backend::arrive_named(id, threads);
}

/// Barriers without hardware support, for the simulator and for GPUs before sm_80. The state is one 64-bit word.
#[allow(dead_code, reason = "a GPU from sm_80 on has instructions")]
pub(crate) mod word {
    const COUNT: u32 = 20;
    const PHASE: u32 = 40;
    const MASK: u64 = (1 << COUNT) - 1;
    /// The upper bits of an initialised barrier's word.
    const MARK: u64 = 0xBA21 << 48;

    pub const fn new(count: u32) -> u64 {
        MARK | (count as u64) << COUNT | count as u64
    }

    pub const fn is_initialised(word: u64) -> bool {
        word >> 48 == MARK >> 48
    }

    /// Returns the number of a barrier's current phase, modulo 256.
    pub const fn phase(word: u64) -> u64 {
        word >> PHASE & 0xFF
    }

    /// Returns the number of arrivals that a barrier's current phase still expects.
    pub const fn missing(word: u64) -> u32 {
        (word >> COUNT & MASK) as u32
    }

    /// Returns a barrier's word after an arrival. `drops` is true if the arriving thread leaves the barrier. `waits` is
    /// true if the phase waits for bytes, so that it does not end by its last arrival.
    pub const fn arrived(word: u64, drops: bool, waits: bool) -> u64 {
        let (mut pending, mut expected) = (word >> COUNT & MASK, word & MASK);
        let mut phase = phase(word);
        if drops {
            expected = expected.wrapping_sub(1) & MASK;
        }
        pending = pending.wrapping_sub(1) & MASK;
        if pending == 0 && !waits {
            pending = expected;
            phase = (phase + 1) & 0xFF;
        }
        MARK | phase << PHASE | pending << COUNT | expected
    }

    /// Returns a barrier's word after the end of a phase all of whose bytes have arrived. Returns `None` if the phase
    /// does not end, because arrivals are missing.
    pub const fn completed(word: u64) -> Option<u64> {
        let (phase, expected) = (phase(word), word & MASK);
        if missing(word) == 0 && is_initialised(word) {
            Some(MARK | ((phase + 1) & 0xFF) << PHASE | expected << COUNT | expected)
        } else {
            None
        }
    }
}
