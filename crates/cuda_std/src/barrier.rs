//! Barriers in shared memory at which threads arrive first and wait later (`mbarrier`).

use crate::{Shared, backend};

/// The most arrivals that a barrier can count.
pub const MAX_COUNT: u32 = (1 << 20) - 1;

/// A barrier in 8 bytes of shared memory: a phase is over when as many threads have arrived as were asked for, and the
/// next one begins. Who waits for the end of a phase then sees what those who arrived had written before.
///
/// One instruction each from sm_80 on, before by atomics, of which `cuda_builder` tells. The simulator reports one that
/// nobody has initialised, a count out of bounds, a wait for a phase that is long over, and, as no progress, one at
/// which too few arrive.
///
/// ```
/// use cuda_std::barrier::Barrier;
/// use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};
///
/// /// `y` = `x` with each block's part turned round: blocks of up to 256 threads, one element each.
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
///     // Here is time for what needs no other thread.
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

/// A phase that a thread has arrived in.
#[derive(Clone, Copy, Debug)]
#[must_use = "a thread that has arrived waits for the phase by this"]
pub struct Arrival(u64);

impl Barrier {
    /// The barrier in element `index` of `words`.
    #[inline(always)]
    #[track_caller]
    pub fn at(words: Shared<u64>, index: usize) -> Self {
        Self { address: words.checked_address(index) }
    }

    /// Has each phase end when `count` threads have arrived, from 1 to [`MAX_COUNT`]. One thread does this, and a block
    /// barrier must stand between this and the first that uses it.
    #[doc(alias = "__mbarrier_init")]
    #[inline(always)]
    #[track_caller]
    pub fn init(self, count: u32) {
        backend::barrier_init(self.address, count);
    }

    /// Arrives, and does not wait.
    #[doc(alias = "__mbarrier_arrive")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive(self) -> Arrival {
        Arrival(backend::barrier_arrive(self.address))
    }

    /// Arrives for the last time: from the next phase on, one less is waited for.
    #[doc(alias = "__mbarrier_arrive_and_drop")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_drop(self) -> Arrival {
        Arrival(backend::barrier_arrive_and_drop(self.address))
    }

    /// Whether the phase of `arrival` is over. It must be the barrier's current or last one.
    #[doc(alias = "__mbarrier_test_wait")]
    #[inline(always)]
    #[track_caller]
    pub fn is_over(self, arrival: Arrival) -> bool {
        backend::barrier_is_over(self.address, arrival.0)
    }

    /// Waits until the phase of `arrival` is over.
    #[doc(alias = "__mbarrier_try_wait")]
    #[inline(always)]
    #[track_caller]
    pub fn wait(self, arrival: Arrival) {
        while !self.is_over(arrival) {}
    }

    /// Waits until a phase of that parity is over, for threads that do not arrive: of the first phase it is false, of
    /// the second true, and so on. The phase must be the barrier's current or last one.
    #[doc(alias = "__mbarrier_test_wait_parity")]
    #[inline(always)]
    #[track_caller]
    pub fn wait_parity(self, parity: bool) {
        while !backend::barrier_parity_is_over(self.address, parity) {}
    }

    /// Arrives, and waits for all others.
    #[inline(always)]
    #[track_caller]
    pub fn arrive_and_wait(self) {
        self.wait(self.arrive());
    }
}

/// A barrier's word where it is no hardware's: in the simulator, and before sm_80.
#[allow(dead_code, reason = "a GPU from sm_80 on has instructions")]
pub(crate) mod word {
    const COUNT: u32 = 20;
    const PHASE: u32 = 40;
    const MASK: u64 = (1 << COUNT) - 1;
    /// What tells an initialised word.
    const MARK: u64 = 0xBA21 << 48;

    pub const fn new(count: u32) -> u64 {
        MARK | (count as u64) << COUNT | count as u64
    }

    pub const fn is_initialised(word: u64) -> bool {
        word >> 48 == MARK >> 48
    }

    /// The number of the phase, modulo 256.
    pub const fn phase(word: u64) -> u64 {
        word >> PHASE & 0xFF
    }

    /// After an arrival, the last of its thread or not.
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
