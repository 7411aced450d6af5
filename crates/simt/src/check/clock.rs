//! The clocks of a block's threads, and what its threads know of each other and of other blocks.
//!
//! A thread's clock is the number of the step that it is in. A block barrier brings all threads to a step that none had
//! reached, the block's *base*: whatever a thread of the block did below it happened before. Likewise a warp operation
//! of all the lanes that a warp has gives the warp a base. Only operations of some lanes need a bound for each pair of
//! lanes. What threads learn by atomics and fences is kept as [`Knowledge`], for each thread that has learnt something
//! since the last barrier, and in common for the others.

use super::knowledge::{Knowledge, Known, View};
use crate::lanes::{LANES, MAX_THREADS, MAX_WARPS};

const WIDTH: usize = LANES as usize;

/// Bounds up to which each lane of a warp (row) knows each other one (column).
type Bounds = [[u32; WIDTH]; WIDTH];

/// What a thread has learnt by atomics and fences, and what it passes on by them.
///
/// Barriers and warp operations hand all of it to all who meet. For the last two that is so because fences order each
/// other: a fence, a barrier, an atomic write by any thread of the block, its read elsewhere, a barrier and a fence by any
/// thread of that block bring the first fence before the last one, as PTX has fences of one scope in one order.
#[derive(Clone, Debug, Default)]
pub(super) struct Horizon {
    /// What happened before whatever comes next.
    pub(super) known: Knowledge,
    /// What was known at a fence: atomic writes pass it on.
    pub(super) fenced: Knowledge,
    /// What atomic reads have seen: known after the next fence.
    pub(super) pending: Knowledge,
    /// The last atomic read from which there was something to learn.
    pub(super) last_read: Option<LastRead>,
}

/// An atomic read.
#[derive(Clone, Debug)]
pub(super) struct LastRead {
    pub(super) address: usize,
    /// What the address held.
    pub(super) held: Knowledge,
    /// Whether that has been acquired.
    pub(super) is_known: bool,
}

impl Horizon {
    fn join(&mut self, other: &Self) {
        self.known.join(&other.known);
        self.fenced.join(&other.fenced);
        self.pending.join(&other.pending);
    }
}

#[derive(Default)]
struct Warp {
    /// All lanes of the warp know each other up to this bound.
    base: u32,
    /// For what only some lanes know, as long as there is something.
    bounds: Option<Box<Bounds>>,
    /// The last step at which `bounds` has said anything new.
    bounds_until: u32,
    /// The lanes that have a horizon of their own.
    own: u32,
}

/// The clocks of one block.
pub(super) struct Clocks {
    /// The block's place in the order of the grid.
    pub(super) block: u32,
    threads: u32,
    base: u32,
    /// No thread's clock is beyond this.
    highest: u32,
    /// Each thread's clock, unless its warp's or block's base is higher.
    clocks: Box<[u32; MAX_THREADS]>,
    warps: Box<[Warp; MAX_WARPS]>,
    common: Horizon,
    own: Vec<Horizon>,
    has_own: bool,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            block: 0,
            threads: 0,
            base: 1,
            highest: 1,
            clocks: Box::new([0; MAX_THREADS]),
            warps: Box::default(),
            common: Horizon::default(),
            own: Vec::new(),
            has_own: false,
        }
    }
}

impl Clocks {
    /// For the block `block` of `threads` threads, of which none has begun.
    pub(super) fn begin(&mut self, block: u32, threads: u32) {
        // Clocks go on from block to block: so nothing that the last one has left is taken for this one's. Long before
        // they end they start anew.
        if self.highest > u32::MAX / 2 {
            *self = Self::default();
        }
        (self.block, self.threads) = (block, threads);
        self.highest += 1;
        self.base = self.highest;
        self.drop_own();
        self.common = Horizon::default();
    }

    /// All threads share the common horizon again.
    fn drop_own(&mut self) {
        if std::mem::take(&mut self.has_own) {
            for (warp, own) in self.warps.iter_mut().zip(self.own.chunks_mut(WIDTH)) {
                for lane in lanes_of(std::mem::take(&mut warp.own)) {
                    own[lane as usize] = Horizon::default();
                }
            }
        }
    }

    /// Whatever the block's threads did in steps below this happened before what any of them does next.
    #[inline(always)]
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// The step that `thread` is in.
    #[inline(always)]
    pub(super) fn clock(&self, thread: u32) -> u32 {
        let (thread, warp) = (thread as usize % MAX_THREADS, (thread / LANES) as usize % MAX_WARPS);
        self.clocks[thread].max(self.warps[warp].base).max(self.base)
    }

    /// Ends the step of `thread`: gives the bound up to which all that it has done is known to who knows it now.
    pub(super) fn advance(&mut self, thread: u32) -> u32 {
        let bound = self.clock(thread) + 1;
        self.clocks[thread as usize % MAX_THREADS] = bound;
        self.highest = self.highest.max(bound);
        bound
    }

    /// All threads of the block have met at a barrier.
    pub(super) fn barrier(&mut self) {
        self.highest += 1;
        self.base = self.highest;
        if self.has_own {
            let mut common = std::mem::take(&mut self.common);
            for thread in 0..self.threads {
                if self.has_own_horizon(thread) {
                    common.join(&self.own[thread as usize]);
                }
            }
            self.drop_own();
            self.common = common;
        }
    }

    /// The lanes `lanes` of `warp` have met.
    pub(super) fn warp_operation(&mut self, warp: usize, lanes: u32) {
        let first = warp as u32 * LANES;
        let all = u32::MAX >> (LANES - (self.threads - first).min(LANES));
        if lanes == all {
            let highest = (first..first + all.count_ones()).map(|thread| self.clock(thread)).fold(0, u32::max);
            self.warps[warp].base = highest + 1;
            self.highest = self.highest.max(highest + 1);
        } else {
            self.join_bounds(warp, lanes);
        }
        if self.warps[warp].own & lanes != 0 {
            let mut horizon = Horizon::default();
            for lane in lanes_of(lanes) {
                horizon.join(self.horizon(first + lane));
            }
            for lane in lanes_of(lanes) {
                *self.horizon_mut(first + lane) = horizon.clone();
            }
        }
    }

    fn join_bounds(&mut self, warp: usize, lanes: u32) {
        let first = warp as u32 * LANES;
        let mut joined = [0; WIDTH];
        for lane in lanes_of(lanes) {
            let bound = self.advance(first + lane);
            joined[lane as usize] = joined[lane as usize].max(bound);
            self.warps[warp].bounds_until = self.warps[warp].bounds_until.max(bound);
            if let Some(bounds) = &self.warps[warp].bounds {
                for (joined, &bound) in joined.iter_mut().zip(&bounds[lane as usize]) {
                    *joined = (*joined).max(bound);
                }
            }
        }
        let bounds = self.warps[warp].bounds.get_or_insert_with(|| Box::new([[0; WIDTH]; WIDTH]));
        for lane in lanes_of(lanes) {
            bounds[lane as usize] = joined;
        }
    }

    /// Whether what `other` of the same block did in its step `clock` happened before what `thread` does next.
    #[inline]
    pub(super) fn has_seen(&self, thread: u32, other: u32, clock: u32) -> bool {
        if thread == other || clock < self.base {
            return true;
        }
        if thread / LANES == other / LANES {
            let warp = &self.warps[(thread / LANES) as usize % MAX_WARPS];
            let bounds =
                || warp.bounds.as_ref().is_some_and(|b| clock < b[(thread % LANES) as usize][(other % LANES) as usize]);
            if clock < warp.base || bounds() {
                return true;
            }
        }
        self.has_learnt(thread, self.block, other, clock)
    }

    /// Whether `thread` knows by atomics and fences of what the thread `other` of `block` did in its step `clock`.
    pub(super) fn has_learnt(&self, thread: u32, block: u32, other: u32, clock: u32) -> bool {
        let known = &self.horizon(thread).known;
        !known.is_empty() && known.view(block).is_some_and(|view| clock < view.bound(other))
    }

    #[inline]
    fn has_own_horizon(&self, thread: u32) -> bool {
        self.warps[(thread / LANES) as usize % MAX_WARPS].own & (1 << (thread % LANES)) != 0
    }

    #[inline]
    pub(super) fn horizon(&self, thread: u32) -> &Horizon {
        if self.has_own_horizon(thread) { &self.own[thread as usize] } else { &self.common }
    }

    pub(super) fn horizon_mut(&mut self, thread: u32) -> &mut Horizon {
        if self.own.is_empty() {
            self.own.resize(MAX_THREADS, Horizon::default());
        }
        if !self.has_own_horizon(thread) {
            self.has_own = true;
            self.warps[(thread / LANES) as usize % MAX_WARPS].own |= 1 << (thread % LANES);
            self.own[thread as usize] = self.common.clone();
        }
        &mut self.own[thread as usize]
    }

    /// Ends the step of `thread`: gives all that it knows, its own past among it.
    pub(super) fn snapshot(&mut self, thread: u32) -> Knowledge {
        let bound = self.advance(thread);
        let mut extras = vec![Known { thread, bound }];
        let (first, warp) = (thread / LANES * LANES, &self.warps[(thread / LANES) as usize % MAX_WARPS]);
        let bounds = warp.bounds.as_ref().filter(|_| warp.bounds_until > self.base.max(warp.base));
        if warp.base > self.base || bounds.is_some() {
            let lanes = (self.threads - first).min(LANES);
            let known = (0..lanes).map(|lane| {
                let row = bounds.map_or(0, |bounds| bounds[(thread % LANES) as usize][lane as usize]);
                let own = if first + lane == thread { bound } else { 0 };
                Known { thread: first + lane, bound: warp.base.max(row).max(own) }
            });
            extras = known.filter(|known| known.bound > self.base).collect();
        }
        let mut snapshot = self.horizon(thread).known.clone();
        snapshot.add(View::new(self.block, self.base, &extras));
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
