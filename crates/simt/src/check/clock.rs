//! The epochs of a block's threads, and the accesses that happened before the next access of each thread. A thread
//! *knows* those accesses.
//!
//! Each thread counts epochs. A thread's epoch ends when the thread publishes its accesses. A block barrier moves all
//! threads to a new epoch, the block's *base*. Accesses of the block's threads in epochs before the base happened
//! before the barrier. In the same way, an operation of all lanes of a warp gives the warp a base. Only operations of
//! some lanes need an epoch for each pair of lanes.
//!
//! [`VectorClocks`] hold the accesses that threads come to know by atomics and fences. After each barrier all threads
//! of a block share the same vector clocks. A thread gets its own vector clocks when it next executes an atomic or a
//! fence.

use super::block_clock::{BlockClock, ThreadEpoch};
use super::stamp::{SET, Stamp};
use super::thread_clocks::VectorClocks;
use super::vector_clock::VectorClock;
use crate::lanes::{LANES, MAX_THREADS, MAX_WARPS, bits};

const WIDTH: usize = LANES as usize;

/// An epoch for each pair of lanes of a warp: lane `a` knows the accesses of lane `b` before the epoch `pairs[a][b]`.
type Pairs = [[u32; WIDTH]; WIDTH];

#[derive(Default)]
struct Warp {
    /// The warp's base: all lanes of the warp know each other's accesses before this epoch.
    base: u32,
    /// The epochs for pairs of lanes, if some operations did not include all lanes of the warp.
    pairs: Option<Box<Pairs>>,
    /// The last epoch in which `pairs` was changed.
    pairs_until: u32,
    /// The mask of lanes that have their own vector clocks.
    own: u32,
}

/// The clocks of a block's threads.
pub(super) struct Clocks {
    /// The block's position in the order in which the grid's blocks run.
    pub(super) block: u32,
    threads: u32,
    base: u32,
    /// The base at the block's beginning.
    begun: u32,
    /// The latest epoch of any thread of the block.
    highest: u32,
    /// The epoch of each thread, unless the base of the thread's warp or block is later. That base is then the thread's
    /// epoch.
    epochs: Box<[u32; MAX_THREADS]>,
    warps: Box<[Warp; MAX_WARPS]>,
    common: VectorClocks,
    own: Vec<VectorClocks>,
    has_own: bool,
    /// True if a fence before a barrier or warp operation counts as a fence of all threads that meet there. Otherwise
    /// it does so for readers in its own block only.
    passes_fences: bool,
    /// True if a barrier has passed a fence on.
    has_passed_fence: bool,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            block: 0,
            threads: 0,
            base: 1,
            begun: 1,
            highest: 1,
            epochs: Box::new([0; MAX_THREADS]),
            warps: Box::default(),
            common: VectorClocks::default(),
            own: Vec::new(),
            has_own: false,
            passes_fences: true,
            has_passed_fence: false,
        }
    }
}

impl Clocks {
    /// Resets the clocks for the block with number `block` and `threads` threads.
    pub(super) fn begin(&mut self, block: u32, threads: u32, passes_fences: bool) {
        // The numbers of epochs continue from block to block, so that old entries of an earlier block are never valid
        // for this block. The numbers start again long before they overflow.
        if self.highest > u32::MAX / 2 {
            *self = Self::default();
        }
        (self.block, self.threads, self.passes_fences, self.has_passed_fence) = (block, threads, passes_fences, false);
        // No thread makes an access in the first epoch. A clock that includes this epoch knows that the block has
        // begun.
        self.highest += 2;
        self.base = self.highest;
        self.begun = self.base;
        self.drop_own();
        self.common = VectorClocks::default();
    }

    /// Makes all threads share the common vector clocks again.
    fn drop_own(&mut self) {
        if std::mem::take(&mut self.has_own) {
            for (warp, own) in self.warps.iter_mut().zip(self.own.chunks_mut(WIDTH)) {
                for lane in bits(std::mem::take(&mut warp.own)) {
                    own[lane] = VectorClocks::default();
                }
            }
        }
    }

    /// Returns true if atomic writes may publish accesses because of another thread's fence before a barrier.
    #[inline]
    pub(super) fn has_passed_fence(&self) -> bool {
        self.has_passed_fence
    }

    /// Returns the block's base. All accesses of the block's threads before this epoch happened before the next access
    /// of any thread.
    #[inline(always)]
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// Returns the current epoch of `thread`.
    #[inline(always)]
    pub(super) fn epoch(&self, thread: u32) -> u32 {
        let (thread, warp) = (thread as usize % MAX_THREADS, (thread / LANES) as usize % MAX_WARPS);
        self.epochs[thread].max(self.warps[warp].base).max(self.base)
    }

    /// Ends the epoch of `thread` and returns the next one. A thread that learns of the new epoch knows all accesses of
    /// `thread` before that epoch.
    pub(super) fn advance(&mut self, thread: u32) -> u32 {
        let next = self.epoch(thread) + 1;
        self.epochs[thread as usize % MAX_THREADS] = next;
        self.highest = self.highest.max(next);
        next
    }

    /// Joins the clocks of all threads of the block, because all of them have reached a barrier.
    pub(super) fn barrier(&mut self) {
        self.highest += 1;
        self.base = self.highest;
        if self.has_own {
            // Threads with their own clocks are joined first. They know more than the others, and may have equal
            // clocks.
            let mut all = VectorClocks::default();
            let mut fences = Vec::new();
            for thread in 0..self.threads {
                if self.has_own_vectors(thread) {
                    let own = &self.own[thread as usize];
                    all.join(own);
                    if !self.passes_fences && !own.fenced.is_same(&self.common.fenced) {
                        fences.push((thread, own.fenced.clone()));
                    }
                }
            }
            self.drop_own();
            let fenced = self.common.fenced.clone();
            self.common.join(&all);
            if self.passes_fences {
                self.has_passed_fence |= !self.common.fenced.is_empty();
            } else {
                self.common.keep_fence(&fenced);
                for (thread, fenced) in fences {
                    self.vectors_mut(thread).fenced = fenced;
                }
            }
        }
    }

    /// Returns a clock without accesses, which only includes that the block has begun.
    pub(super) fn beginning(&self) -> VectorClock {
        let mut clock = VectorClock::default();
        clock.add(BlockClock::new(self.block, self.begun, &[]));
        clock
    }

    /// Returns true if the beginning of the block of `owner` happened before the next access of `thread`.
    pub(super) fn knows_beginning(&self, thread: u32, owner: &Self) -> bool {
        self.has_learnt(thread, owner.block, 0, owner.begun - 1)
    }

    /// Returns true if an access of the thread `other` of `block` in `epoch` happened before the end of any thread of
    /// this block, if all threads have ended.
    pub(super) fn precedes_end(&self, block: u32, other: u32, epoch: u32) -> bool {
        let has = |vectors: &VectorClocks| epoch < vectors.known.epoch(block, other);
        has(&self.common) || (0..self.threads).any(|thread| self.has_own_vectors(thread) && has(self.vectors(thread)))
    }

    /// Adds to `all` the accesses that happened before the barrier of a cluster. Call this function directly after
    /// [`Self::barrier`].
    pub(super) fn publish_known(&self, all: &mut VectorClock) {
        (0..self.threads)
            .filter(|&thread| self.has_own_vectors(thread))
            .for_each(|thread| all.join(&self.own[thread as usize].known));
        all.join(&self.common.known);
        all.add(BlockClock::new(self.block, self.base, &[]));
    }

    /// Makes the block's threads know `all`, the accesses before the barrier of a cluster.
    pub(super) fn learn(&mut self, all: &VectorClock) {
        self.common.known.join(all);
        for thread in 0..self.threads {
            if self.has_own_vectors(thread) {
                self.own[thread as usize].known.join(all);
            }
        }
    }

    /// Adds to `all` the accesses that the threads of this block know. Call this function directly after
    /// [`Self::barrier`].
    pub(super) fn publish_all(&self, all: &mut VectorClock) {
        all.join(&self.common.known);
        all.join(&self.common.pending);
        all.join(&self.common.pending_in_block);
        all.add(BlockClock::new(self.block, self.base, &[]));
    }

    /// Makes the block's threads know and publish `all`, the accesses of the whole grid. Call this function directly
    /// after [`Self::barrier`].
    pub(super) fn learn_all(&mut self, all: &VectorClock) {
        self.common = VectorClocks { known: all.clone(), fenced: all.clone(), ..VectorClocks::default() };
    }

    /// Joins the clocks of the lanes in the mask `lanes` of `warp`, because all of them have reached a warp operation.
    pub(super) fn warp_operation(&mut self, warp: usize, lanes: u32) {
        let first = warp as u32 * LANES;
        let all = u32::MAX >> (LANES - (self.threads - first).min(LANES));
        if lanes == all {
            let highest = (first..first + all.count_ones()).map(|thread| self.epoch(thread)).fold(0, u32::max);
            self.warps[warp].base = highest + 1;
            self.highest = self.highest.max(highest + 1);
        } else {
            self.join_lanes(warp, lanes);
        }
        if self.warps[warp].own & lanes != 0 {
            let mut vectors = VectorClocks::default();
            for lane in bits(lanes) {
                vectors.join(self.vectors(first + lane as u32));
            }
            for lane in bits(lanes) {
                let (thread, mut vectors) = (first + lane as u32, vectors.clone());
                if !self.passes_fences {
                    vectors.keep_fence(&self.vectors(thread).fenced);
                }
                *self.vectors_mut(thread) = vectors;
            }
            self.has_passed_fence |= !vectors.fenced.is_empty();
        }
    }

    fn join_lanes(&mut self, warp: usize, lanes: u32) {
        let first = warp as u32 * LANES;
        let mut joined = [0; WIDTH];
        for lane in bits(lanes) {
            let epoch = self.advance(first + lane as u32);
            joined[lane] = joined[lane].max(epoch);
            self.warps[warp].pairs_until = self.warps[warp].pairs_until.max(epoch);
            if let Some(pairs) = &self.warps[warp].pairs {
                for (joined, &epoch) in joined.iter_mut().zip(&pairs[lane]) {
                    *joined = (*joined).max(epoch);
                }
            }
        }
        let pairs = self.warps[warp].pairs.get_or_insert_with(|| Box::new([[0; WIDTH]; WIDTH]));
        for lane in bits(lanes) {
            pairs[lane] = joined;
        }
    }

    /// Returns true if the accesses of the thread `other` of this block in `epoch` happened before the next access of
    /// `thread`.
    #[inline]
    pub(super) fn has_seen(&self, thread: u32, other: u32, epoch: u32) -> bool {
        if thread == other || epoch < self.base {
            return true;
        }
        if thread / LANES == other / LANES {
            let warp = &self.warps[(thread / LANES) as usize % MAX_WARPS];
            let knows_lane = || {
                warp.pairs
                    .as_ref()
                    .is_some_and(|pairs| epoch < pairs[(thread % LANES) as usize][(other % LANES) as usize])
            };
            if epoch < warp.base || knows_lane() {
                return true;
            }
        }
        self.has_learnt(thread, self.block, other, epoch)
    }

    /// Returns true if, because of atomics and fences, the accesses of the thread `other` of `block` in `epoch`
    /// happened before the next access of `thread`.
    pub(super) fn has_learnt(&self, thread: u32, block: u32, other: u32, epoch: u32) -> bool {
        epoch < self.vectors(thread).known.epoch(block, other)
    }

    /// Returns a mask of the 64 threads from thread `first` on. The bit of a thread `other` is 1 if `thread` [has
    /// seen](Self::has_seen) the accesses of `other` in `epoch`.
    pub(super) fn seen_of_set(&self, thread: u32, first: u32, epoch: u32) -> u64 {
        if epoch < self.base {
            return u64::MAX;
        }
        let learnt = self.learnt_of_set(thread, self.block, first, epoch);
        if thread / SET * SET != first {
            return learnt;
        }
        let warp = &self.warps[(thread / LANES) as usize % MAX_WARPS];
        let lanes = match &warp.pairs {
            _ if epoch < warp.base => u32::MAX,
            Some(pairs) => {
                let known = pairs[(thread % LANES) as usize].iter().enumerate().filter(|(_, known)| epoch < **known);
                known.fold(0, |lanes, (lane, _)| lanes | 1 << lane)
            }
            None => 0,
        };
        learnt | u64::from(lanes) << (thread / LANES * LANES - first) | 1 << (thread - first)
    }

    /// Returns a mask of the 64 threads of `block` from thread `first` on. The bit of a thread `other` is 1 if `thread`
    /// [has learnt](Self::has_learnt) of the accesses of `other` in `epoch`.
    pub(super) fn learnt_of_set(&self, thread: u32, block: u32, first: u32, epoch: u32) -> u64 {
        self.vectors(thread).known.known_of_set(block, first, epoch)
    }

    /// Returns true if `thread` has atomically read a value that publishes the access `earlier`, but has not acquired
    /// that access.
    pub(super) fn is_pending(&self, thread: u32, earlier: &Stamp) -> bool {
        let VectorClocks { pending, pending_in_block, .. } = self.vectors(thread);
        let has = |clock: &VectorClock| earlier.epoch < clock.epoch(earlier.block, earlier.thread());
        has(pending) || has(pending_in_block)
    }

    /// Returns the epoch of thread `other` of `block` in the clocks of `thread`, including clocks that `thread` has
    /// read atomically and not yet acquired.
    pub(super) fn latest_known(&self, thread: u32, block: u32, other: u32) -> u32 {
        let VectorClocks { known, pending, pending_in_block, .. } = self.vectors(thread);
        [known, pending, pending_in_block].map(|clock| clock.epoch(block, other)).into_iter().fold(0, u32::max)
    }

    #[inline]
    fn has_own_vectors(&self, thread: u32) -> bool {
        self.warps[(thread / LANES) as usize % MAX_WARPS].own & (1 << (thread % LANES)) != 0
    }

    #[inline]
    pub(super) fn vectors(&self, thread: u32) -> &VectorClocks {
        if self.has_own_vectors(thread) { &self.own[thread as usize] } else { &self.common }
    }

    pub(super) fn vectors_mut(&mut self, thread: u32) -> &mut VectorClocks {
        if self.own.len() < self.threads as usize {
            self.own.resize(self.threads as usize, VectorClocks::default());
        }
        if !self.has_own_vectors(thread) {
            self.has_own = true;
            self.warps[(thread / LANES) as usize % MAX_WARPS].own |= 1 << (thread % LANES);
            self.own[thread as usize] = self.common.clone();
        }
        &mut self.own[thread as usize]
    }

    /// Returns true if `thread` knows accesses of other lanes of its warp that the block's base does not include.
    pub(super) fn has_joined_lanes(&self, thread: u32) -> bool {
        let warp = &self.warps[(thread / LANES) as usize % MAX_WARPS];
        warp.base > self.base || (warp.pairs.is_some() && warp.pairs_until > self.base)
    }

    /// Ends the epoch of `thread`. Returns the clock of all accesses that the thread knows, including its own.
    pub(super) fn snapshot(&mut self, thread: u32) -> VectorClock {
        let epoch = self.advance(thread);
        let mut extras = Vec::new();
        let (first, warp) = (thread / LANES * LANES, &self.warps[(thread / LANES) as usize % MAX_WARPS]);
        let pairs = warp.pairs.as_ref().filter(|_| warp.pairs_until > self.base.max(warp.base));
        if self.has_joined_lanes(thread) {
            let lanes = (self.threads - first).min(LANES);
            let known = (0..lanes).map(|lane| {
                let row = pairs.map_or(0, |pairs| pairs[(thread % LANES) as usize][lane as usize]);
                let own = if first + lane == thread { epoch } else { 0 };
                ThreadEpoch { thread: first + lane, epoch: warp.base.max(row).max(own) }
            });
            extras = known.filter(|known| known.epoch > self.base).collect();
        }
        let alone = [ThreadEpoch { thread, epoch }];
        let extras = if extras.is_empty() { &alone[..] } else { &extras };
        let mut snapshot = self.vectors(thread).known.clone();
        snapshot.add(BlockClock::new(self.block, self.base, extras));
        snapshot.is_of(self.block, ThreadEpoch { thread, epoch });
        if self.has_own_vectors(thread) {
            // The thread keeps the snapshot as its clock, because the snapshot stores its owner. It may include the
            // thread's own block.
            self.own[thread as usize].known = snapshot.clone();
        }
        snapshot
    }
}
