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
        while !self.is_over(arrival) {}
    }

    /// Waits until a phase of this parity has ended, without arriving. The first phase has parity false, the second
    /// true, and so on. The phase must be the barrier's current or previous one.
    #[doc(alias = "__mbarrier_test_wait_parity")]
    #[inline(always)]
    #[track_caller]
    pub fn wait_parity(self, parity: bool) {
        while !backend::barrier_parity_is_over(self.address, parity) {}
    }

    /// Arrives at the barrier and waits until the phase has ended.
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_wait(self) {
        self.wait(self.arrive());
    }
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

    /// Returns a barrier's word after an arrival. `drops` is true if the arriving thread leaves the barrier.
    pub const fn arrived(word: u64, drops: bool) -> u64 {
        let (mut pending, mut expected) = (word >> COUNT & MASK, word & MASK);
        let mut phase = phase(word);
        if drops {
            expected = expected.wrapping_sub(1) & MASK;
        }
        pending = pending.wrapping_sub(1) & MASK;
        if pending == 0 {
            pending = expected;
            phase = (phase + 1) & 0xFF;
        }
        MARK | phase << PHASE | pending << COUNT | expected
    }
}
