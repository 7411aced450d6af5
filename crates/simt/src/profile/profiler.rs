//! The watcher of a profiled launch, which records events for the other parts of the profiler.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::copies::{BarrierOfBlock, Copies};
use super::flow::Flow;
use super::products::Products;
use super::replay::replay;
use super::report::Profile;
use super::site::{AccessKind, END, Node, Sites, Step};
use super::steps::{AccessedArray, MAX_STEPS, WarpStep};
use super::tally::{Tally, remote_base};
use super::trace::{Event, Trace, Warp};
use crate::block::context::BlockContext;
use crate::bulk::Operation;
use crate::bulk::agents::AgentWatcher;
use crate::geometry::{Dim3, KernelInfo, LaunchConfig};
use crate::grid::Grid;
use crate::lanes::{LANES, bits};
use crate::memory::Scope;
use crate::region::Space;
use crate::source::Line;
use crate::synchronisations::SyncKind;
use crate::watch::{Access, Next, PhaseRead, Touch, Watcher};

/// The watcher that profiles one launch.
///
/// Lanes of a warp run one after the other, each until it waits. The profiler combines the lanes' events when all lanes
/// meet at a block barrier or at an operation of the whole warp, and when the last lane exits.
pub(crate) struct Profiler {
    kernel: &'static KernelInfo,
    config: LaunchConfig,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    sites: Sites,
    flow: Flow,
    tally: Tally,
    /// The traces of the blocks that have begun and not yet ended.
    traces: Vec<Trace>,
    /// The traces of ended blocks, which later blocks reuse.
    spare: Vec<Trace>,
    /// The number of completed block barriers at each node.
    barriers: BTreeMap<Node, u64>,
    copies: Copies,
    products: Products,
    warp_operations: u64,
    fences: u64,
    shared_bytes: usize,
    /// The index of the block, and the warp in it, whose steps are recorded.
    drawn: Option<(Dim3, usize)>,
    steps: Vec<WarpStep>,
}

impl Profiler {
    /// Makes a profiler for the launch of `grid`. It records the steps of the warp of the thread `drawn`, which is
    /// given by the index of its block and its own in the block, or else of the first warp.
    pub(crate) fn new(grid: &Grid<'_>, drawn: Option<(Dim3, Dim3)>) -> Self {
        let (block, Dim3 { x, y, z }) = drawn.unwrap_or((Dim3::new(0, 0, 0), Dim3::new(0, 0, 0)));
        let extent = grid.config.block;
        let warp = x.saturating_add(extent.x.saturating_mul(y.saturating_add(extent.y.saturating_mul(z)))) / LANES;
        let (tally, drawn) = (Tally::new(grid.regions), Some((block, warp as usize)));
        let state = State { tally, drawn, ..State::default() };
        Self { kernel: grid.kernel, config: grid.config, state: RefCell::new(state) }
    }

    pub(crate) fn into_profile(self) -> Profile {
        let Self { kernel, config, state, .. } = self;
        let State { sites, tally, barriers, copies, products, warp_operations, fences, shared_bytes, steps, .. } =
            state.into_inner();
        let (sectors_read, sectors_written) = tally.footprint();
        let site_of = |(node, count)| Some((sites.get(node)?.at.into(), count));
        let barrier_sites: Vec<_> = barriers.into_iter().filter_map(site_of).collect();
        let (accesses, branches) = tally.into_profiles(&sites);
        let (bulk_copies, bytes_in_flight) = copies.into_profiles();
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Profile {
            kernel,
            config,
            accesses,
            branches,
            barriers: barrier_sites.iter().map(|(_, count)| count).sum(),
            barrier_sites,
            bulk_copies,
            bytes_in_flight,
            products: products.into_profiles(),
            warp_operations,
            fences,
            sectors_read,
            sectors_written,
            shared_bytes,
            steps,
        }
    }

    /// Records an event of the current thread. Pauses the thread if it is far ahead of the other lanes of its warp.
    #[inline]
    fn note(&self, block: &BlockContext, at: Line, step: Step, value: u64) -> Next {
        let thread = block.thread();
        let state = &mut *self.state.borrow_mut();
        let node = state.sites.node(at, step);
        let Some(index) = state.index(block) else { return Next::Continue };
        let lane = &mut state.traces[index].warps[thread.warp()].lanes[thread.lane() as usize];
        lane.events.push(Event { node, value });
        if lane.is_ahead() { Next::Pause } else { Next::Continue }
    }
}

impl AgentWatcher for Profiler {
    fn bulk_copy(&self, block: &BlockContext, operation: &Operation, barrier: Option<BarrierOfBlock>) {
        let State { copies, tally, .. } = &mut *self.state.borrow_mut();
        copies.count(operation, block.position(), barrier, tally);
    }
}

impl Watcher for Profiler {
    fn begin_block(&self, block: &BlockContext) {
        let state = &mut *self.state.borrow_mut();
        let mut trace = state.spare.pop().unwrap_or_else(Trace::new);
        trace.begin(block.position(), block.extent.threads);
        state.traces.push(trace);
    }

    fn end_block(&self, block: &BlockContext) {
        let state = &mut *self.state.borrow_mut();
        state.shared_bytes = state.shared_bytes.max(block.arena.len());
        if let Some(index) = state.index(block) {
            let trace = state.traces.swap_remove(index);
            state.spare.push(trace);
        }
        state.copies.end_block(block.position());
    }

    fn access(&self, block: &BlockContext, touch: &Touch) -> Next {
        let kind = match touch.access {
            Access::Load | Access::ReadOnlyLoad | Access::AtomicLoad(..) => AccessKind::Load,
            Access::Store | Access::Borrow | Access::Fill | Access::AtomicStore(..) => AccessKind::Store,
            Access::Update(_) | Access::Arrive => AccessKind::Atomic,
            // An asynchronous copy is counted at its end, and bulk copies and products as a whole.
            Access::Discard | Access::AsyncRead | Access::AsyncWrite | Access::ProductRead => return Next::Continue,
        };
        let step = Step::Access { space: touch.space, kind, bytes: touch.bytes as u8 };
        self.note(block, touch.at, step, touch.address as u64)
    }

    fn remote_access(&self, block: &BlockContext, owner: &BlockContext, touch: &Touch) -> Next {
        self.access(block, &Touch { address: touch.address + remote_base(owner.position()), ..*touch })
    }

    fn branch(&self, block: &BlockContext, is_taken: bool, at: Line) -> Next {
        self.note(block, at, Step::Branch, is_taken.into())
    }

    /// Marks the current thread as paused, so that the other lanes of its warp catch up with it. If every live lane of
    /// the warp is paused or waits, counts the warp's events as far as possible.
    fn pause(&self, block: &BlockContext, waiting: u32) {
        let thread = block.thread();
        let state = &mut *self.state.borrow_mut();
        let Some(index) = state.index(block) else { return };
        let warp = &mut state.traces[index].warps[thread.warp()];
        warp.paused |= thread.bit();
        if warp.live & !(warp.paused | waiting) == 0 {
            let open = warp.paused;
            state.replay(block, index, thread.warp(), open);
        }
    }

    fn resume(&self, block: &BlockContext) {
        let thread = block.thread();
        let state = &mut *self.state.borrow_mut();
        if let Some(index) = state.index(block) {
            state.traces[index].warps[thread.warp()].paused &= !thread.bit();
        }
    }

    fn barrier(&self, block: &BlockContext, at: Line) {
        self.state.borrow_mut().barrier(block, at);
    }

    fn cluster_barrier(&self, blocks: &[(&BlockContext, Option<Line>)]) {
        let state = &mut *self.state.borrow_mut();
        blocks.iter().filter_map(|(block, at)| Some((block, (*at)?))).for_each(|(block, at)| state.barrier(block, at));
    }

    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, at: Line) {
        let state = &mut *self.state.borrow_mut();
        state.warp_operations += u64::from(kind != SyncKind::Collective);
        let node = state.sites.node(at, Step::Meeting(kind));
        if let Some(index) = state.index(block) {
            state.meet(block, index, warp, lanes, node);
        }
    }

    fn product(&self, _block: &BlockContext, name: &str, at: Line) {
        self.state.borrow_mut().products.count(name, at);
    }

    fn end_phase(&self, block: &BlockContext, address: usize) {
        self.state.borrow_mut().copies.end_phase((block.position(), address));
    }

    fn phase_read(&self, block: &BlockContext, address: usize, read: PhaseRead) {
        if read.is_over {
            self.state.borrow_mut().copies.wait((block.position(), address));
        }
    }

    fn fence(&self, _block: &BlockContext, _scope: Scope, _is_sequential: bool) {
        self.state.borrow_mut().fences += 1;
    }

    fn exit(&self, block: &BlockContext) {
        let thread = block.thread();
        let state = &mut *self.state.borrow_mut();
        let Some(index) = state.index(block) else { return };
        let warp = &mut state.traces[index].warps[thread.warp()];
        warp.live &= !thread.bit();
        warp.lanes[thread.lane() as usize].events.push(Event { node: END, value: 0 });
        if warp.live == 0 {
            state.replay(block, index, thread.warp(), 0);
        }
    }
}

impl State {
    /// Returns the index of the trace of `block`.
    #[inline]
    fn index(&self, block: &BlockContext) -> Option<usize> {
        let position = block.position();
        // The running block is usually the last one that has begun.
        self.traces.iter().rposition(|trace| trace.position == position)
    }

    /// Records that all threads of `block` have reached a barrier at `at`.
    fn barrier(&mut self, block: &BlockContext, at: Line) {
        let node = self.sites.node(at, Step::Meeting(SyncKind::Barrier));
        *self.barriers.entry(node).or_default() += 1;
        let Some(index) = self.index(block) else { return };
        for warp in 0..block.extent.threads.div_ceil(LANES) as usize {
            let lanes = self.traces[index].warps[warp].live;
            self.meet(block, index, warp, lanes, node);
        }
    }

    /// Records that the lanes in the mask `lanes` of a warp have all reached `node`, a barrier or a warp operation.
    fn meet(&mut self, block: &BlockContext, index: usize, warp: usize, lanes: u32, node: Node) {
        let Warp { lanes: traces, live, .. } = &mut self.traces[index].warps[warp];
        for lane in bits(lanes) {
            traces[lane].events.push(Event { node, value: 0 });
        }
        if lanes != *live {
            return;
        }
        // Exited lanes may have made accesses that the other lanes would only make later.
        self.replay(block, index, warp, lanes);
        if self.traces[index].warps[warp].unfinished() & lanes != 0 {
            self.replay(block, index, warp, 0);
        }
        let warp = &mut self.traces[index].warps[warp];
        if warp.unfinished() == 0 {
            bits(lanes).for_each(|lane| warp.lanes[lane].restart(node));
        }
    }

    /// Combines the events of the lanes of a warp. The lanes in the mask `open` will have further events, which are
    /// still unknown.
    fn replay(&mut self, block: &BlockContext, index: usize, warp: usize, open: u32) {
        let Self { sites, flow, tally, traces, steps, drawn, .. } = self;
        let Trace { position, warps } = &mut traces[index];
        let shared = |address| block.arena.locate(usize::try_from(address).ok()?, 1);
        let is_drawn = *drawn == Some((block.index(), warp));
        replay(&mut warps[warp].lanes, open, flow, sites, &mut |step| {
            tally.count(&step, sites, *position, shared);
            if is_drawn && steps.len() < MAX_STEPS {
                steps.extend(WarpStep::new(&step, sites, |space, address| match space {
                    Space::Global => tally.array_at(address),
                    Space::Shared => {
                        let (position, element) = block.arena.array_at(usize::try_from(address).ok()?)?;
                        Some(AccessedArray { name: position.name?, start: position.start as u64, element })
                    }
                }));
            }
        });
    }
}
