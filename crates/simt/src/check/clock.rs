//! The epochs of a block's threads, and what its threads know of each other and of other blocks.
//!
//! Each thread counts epochs: its next one begins where it passes on what it has done. A block barrier brings all
//! threads to an epoch that none had reached, the block's *base*: whatever a thread of the block did in earlier epochs
//! happened before. Likewise an operation of all lanes of a warp gives the warp a base. Only operations of some lanes
//! need an epoch for each pair of lanes. What threads learn by atomics and fences is kept as [`VectorClocks`]: for each
//! thread that has learnt something since the last barrier, and in common for the others.

use super::block_clock::{BlockClock, ThreadEpoch};
use super::stamp::{SET, Stamp};
use super::vector_clock::VectorClock;
use crate::lanes::{LANES, MAX_THREADS, MAX_WARPS};

const WIDTH: usize = LANES as usize;

/// The epoch before which each lane of a warp (row) knows each other one (column).
type Pairs = [[u32; WIDTH]; WIDTH];

/// The vector clocks of a thread: what it has learnt by atomics and fences, and what it passes on by them.
///
/// Barriers and warp operations hand all of it to all who meet. For `fenced` and `pending` that is so because PTX has
/// all fences of one scope in one order. Say that after a fence and a barrier any thread of the block makes an atomic
/// write, that a thread elsewhere reads it, and that after another barrier any thread of that one's block makes a
/// fence: then the first fence comes before the second.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClocks {
    /// What happened before whatever comes next.
    pub(super) known: VectorClock,
    /// What was known at a fence for the device: atomic writes pass it on.
    pub(super) fenced: VectorClock,
    /// What was known at a later fence for the block: atomic writes pass it on within the block.
    pub(super) fenced_in_block: Option<VectorClock>,
    /// What atomic reads have seen: known after the next fence for the device.
    pub(super) pending: VectorClock,
    /// What they have seen of atomic writes of their own block: known after the next fence of any scope.
    pub(super) pending_in_block: VectorClock,
    /// The last atomic read from which there was something to learn.
    pub(super) last_read: Option<LastRead>,
}

/// An atomic read.
#[derive(Clone, Debug)]
pub(super) struct LastRead {
    pub(super) address: usize,
    /// What the address held for the device's threads, and for the block's.
    pub(super) held: [VectorClock; 2],
    /// Whether that has been acquired.
    pub(super) is_known: bool,
}

impl VectorClocks {
    /// What was known at a fence of any scope.
    pub(super) fn fenced_in_block(&self) -> &VectorClock {
        self.fenced_in_block.as_ref().unwrap_or(&self.fenced)
    }

    fn join(&mut self, other: &Self) {
        // Whoever has made a fence last has passed on all that it knows, which is joined once then.
        let is_known = |fenced: [&VectorClock; 2]| fenced[0].is_same(&self.known) && fenced[1].is_same(&other.known);
        let all_fenced = is_known([&self.fenced, &other.fenced]);
        let all_in_block = is_known([self.fenced_in_block(), other.fenced_in_block()]);
        self.known.join(&other.known);
        if self.fenced_in_block.is_some() || other.fenced_in_block.is_some() {
            self.fenced_in_block = Some(if all_in_block {
                self.known.clone()
            } else {
                let mut fenced = self.fenced_in_block().clone();
                fenced.join(other.fenced_in_block());
                fenced
            });
        }
        if all_fenced {
            self.fenced = self.known.clone();
        } else {
            self.fenced.join(&other.fenced);
        }
        self.pending.join(&other.pending);
        self.pending_in_block.join(&other.pending_in_block);
    }
}

#[derive(Default)]
struct Warp {
    /// All lanes of the warp know what each other did in epochs before this one.
    base: u32,
    /// For what only some lanes know, as long as there is something.
    pairs: Option<Box<Pairs>>,
    /// The last epoch at which `pairs` has said anything new.
    pairs_until: u32,
    /// The lanes that have vector clocks of their own.
    own: u32,
}

/// The clocks of one block.
pub(super) struct Clocks {
    /// The block's place in the order of the grid.
    pub(super) block: u32,
    threads: u32,
    base: u32,
    /// No thread's epoch is later.
    highest: u32,
    /// Each thread's epoch, unless its warp's or block's base is later.
    epochs: Box<[u32; MAX_THREADS]>,
    warps: Box<[Warp; MAX_WARPS]>,
    common: VectorClocks,
    own: Vec<VectorClocks>,
    has_own: bool,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            block: 0,
            threads: 0,
            base: 1,
            highest: 1,
            epochs: Box::new([0; MAX_THREADS]),
            warps: Box::default(),
            common: VectorClocks::default(),
            own: Vec::new(),
            has_own: false,
        }
    }
}

impl Clocks {
    /// For the block `block` of `threads` threads, of which none has begun.
    pub(super) fn begin(&mut self, block: u32, threads: u32) {
        // Epochs go on from block to block: so nothing that the last one has left is taken for this one's. Long before
        // their numbers end they start anew.
        if self.highest > u32::MAX / 2 {
            *self = Self::default();
        }
        (self.block, self.threads) = (block, threads);
        self.highest += 1;
        self.base = self.highest;
        self.drop_own();
        self.common = VectorClocks::default();
    }

    /// All threads share the common vector clocks again.
    fn drop_own(&mut self) {
        if std::mem::take(&mut self.has_own) {
            for (warp, own) in self.warps.iter_mut().zip(self.own.chunks_mut(WIDTH)) {
                for lane in lanes_of(std::mem::take(&mut warp.own)) {
                    own[lane as usize] = VectorClocks::default();
                }
            }
        }
    }

    /// Whatever the block's threads did in earlier epochs happened before what any of them does next.
    #[inline(always)]
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// The epoch that `thread` is in.
    #[inline(always)]
    pub(super) fn epoch(&self, thread: u32) -> u32 {
        let (thread, warp) = (thread as usize % MAX_THREADS, (thread / LANES) as usize % MAX_WARPS);
        self.epochs[thread].max(self.warps[warp].base).max(self.base)
    }

    /// Ends the epoch of `thread`, and gives the next one: whoever knows the thread now knows what it did before that.
    pub(super) fn advance(&mut self, thread: u32) -> u32 {
        let next = self.epoch(thread) + 1;
        self.epochs[thread as usize % MAX_THREADS] = next;
        self.highest = self.highest.max(next);
        next
    }

    /// All threads of the block have met at a barrier.
    pub(super) fn barrier(&mut self) {
        self.highest += 1;
        self.base = self.highest;
        if self.has_own {
            // Those first who may know the same, and who know more than all.
            let mut all = VectorClocks::default();
            for thread in 0..self.threads {
                if self.has_own_vectors(thread) {
                    all.join(&self.own[thread as usize]);
                }
            }
            self.drop_own();
            self.common.join(&all);
        }
    }

    /// Adds to `all` what the threads of this block know, which have just met at a barrier.
    pub(super) fn tell_all(&self, all: &mut VectorClock) {
        all.join(&self.common.known);
        all.join(&self.common.pending);
        all.join(&self.common.pending_in_block);
        all.add(BlockClock::new(self.block, self.base, &[]));
    }

    /// The block's threads, which have just met at a barrier, learn `all` that the grid's threads know, as by a fence.
    pub(super) fn learn_all(&mut self, all: &VectorClock) {
        self.common = VectorClocks { known: all.clone(), fenced: all.clone(), ..VectorClocks::default() };
    }

    /// The lanes `lanes` of `warp` have met.
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
            for lane in lanes_of(lanes) {
                vectors.join(self.vectors(first + lane));
            }
            for lane in lanes_of(lanes) {
                *self.vectors_mut(first + lane) = vectors.clone();
            }
        }
    }

    fn join_lanes(&mut self, warp: usize, lanes: u32) {
        let first = warp as u32 * LANES;
        let mut joined = [0; WIDTH];
        for lane in lanes_of(lanes) {
            let epoch = self.advance(first + lane);
            joined[lane as usize] = joined[lane as usize].max(epoch);
            self.warps[warp].pairs_until = self.warps[warp].pairs_until.max(epoch);
            if let Some(pairs) = &self.warps[warp].pairs {
                for (joined, &epoch) in joined.iter_mut().zip(&pairs[lane as usize]) {
                    *joined = (*joined).max(epoch);
                }
            }
        }
        let pairs = self.warps[warp].pairs.get_or_insert_with(|| Box::new([[0; WIDTH]; WIDTH]));
        for lane in lanes_of(lanes) {
            pairs[lane as usize] = joined;
        }
    }

    /// Whether what `other` of the same block did in the epoch `epoch` happened before what `thread` does next.
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

    /// Whether `thread` knows by atomics and fences of what the thread `other` of `block` did in the epoch `epoch`.
    pub(super) fn has_learnt(&self, thread: u32, block: u32, other: u32, epoch: u32) -> bool {
        epoch < self.vectors(thread).known.epoch(block, other)
    }

    /// The bits of those of the set of threads from `first` on whose accesses of the epoch `epoch` `thread` [has
    /// seen](Self::has_seen).
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

    /// The bits of those of the set of threads of `block` from `first` on whose accesses of the epoch `epoch` `thread`
    /// [has learnt](Self::has_learnt) of.
    pub(super) fn learnt_of_set(&self, thread: u32, block: u32, first: u32, epoch: u32) -> u64 {
        self.vectors(thread).known.known_of_set(block, first, epoch)
    }

    /// Whether `thread` has read atomically of what `earlier` did, and has not acquired it.
    pub(super) fn is_pending(&self, thread: u32, earlier: &Stamp) -> bool {
        let VectorClocks { pending, pending_in_block, .. } = self.vectors(thread);
        let has = |clock: &VectorClock| earlier.epoch < clock.epoch(earlier.block, earlier.thread());
        has(pending) || has(pending_in_block)
    }

    /// The latest epoch before which `thread` knows, or has read atomically, what the thread `other` of `block` did.
    pub(super) fn heard_of(&self, thread: u32, block: u32, other: u32) -> u32 {
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

    /// Ends the epoch of `thread`: gives all that it knows, its own past among it.
    pub(super) fn snapshot(&mut self, thread: u32) -> VectorClock {
        let epoch = self.advance(thread);
        let mut extras = Vec::new();
        let (first, warp) = (thread / LANES * LANES, &self.warps[(thread / LANES) as usize % MAX_WARPS]);
        let pairs = warp.pairs.as_ref().filter(|_| warp.pairs_until > self.base.max(warp.base));
        if warp.base > self.base || pairs.is_some() {
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
            // It has what the thread knows anyway of its block beside, and tells whose it is.
            self.own[thread as usize].known = snapshot.clone();
        }
        snapshot
    }
}

/// The numbers of the bits of `lanes`.
pub(super) fn lanes_of(mut lanes: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros();
        lanes &= lanes.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
