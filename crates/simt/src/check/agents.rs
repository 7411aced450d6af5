//! Agents: asynchronous operations, which access memory beside the threads.
//!
//! An agent has one epoch in the clocks, like a thread between two synchronisations. [`State::begin_agent`] gives it
//! the clock of the threads that issue the operation. [`State::touch_by_agent`] checks and records an access, which
//! then races with the accesses of threads and of other agents. The agent's clock at its end includes its accesses. A
//! thread that waits for the end joins this clock ([`State::join_agents`]), and so do the threads that wait for the
//! phase of a barrier at which the agent arrives ([`State::agent_arrival`]).
//!
//! # Design
//!
//! In clocks and stamps, a group of [`LANES`] agents has the place of a block, whose number is not below [`FIRST`], and
//! an agent has the place of a thread. An agent takes the place of an earlier one only if its issuer knows that one's
//! end, and no thread will join the earlier one any more ([`AgentWatcher::retire_agent`]). Launches without agents have
//! no such clocks.
//!
//! An asynchronous operation accesses memory through a proxy of its own. It sees a thread's write only if a proxy fence
//! follows the write, and the operation follows the fence. For each thread, the checker keeps the epochs of its proxy
//! fences and the accesses that it knew there.

use rustc_hash::FxHashMap;

use super::clock::Clocks;
use super::history::Past;
use super::phases::BarrierId;
use super::resident::{Resident, SharedState};
use super::shadow::{Finding, PLAIN, Toucher};
use super::stamp::Stamp;
use super::vector_clock::VectorClock;
use super::{Checker, State, number};
use crate::block::context::BlockContext;
use crate::bulk::agents::{Agent, AgentWatcher, Origin};
use crate::faults::FaultKind;
use crate::faults::race::Element;
use crate::faults::remote::{Lifetime, RemoteAccess};
use crate::lanes::Thread;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, Next, Touch};

/// The lowest number of a group of agents. No launch of the simulator has so many blocks.
pub(super) const FIRST: u32 = 1 << 31;
/// The number of agents that a group has at a time.
const LANES: u32 = 64;

/// A group of agents of one block.
struct Group {
    /// The clocks of the agents, of which each has the place of a thread.
    clocks: Clocks,
    lanes: Vec<Lane>,
}

/// The last agent in a place of a group.
struct Lane {
    epoch: u32,
    /// The accesses that happened before the agent's end, including its own.
    end: VectorClock,
    thread: Thread,
    at: Line,
    /// True if the agent has accessed the shared memory of its own block.
    is_local: bool,
    /// True if no thread will join the agent any more.
    is_retired: bool,
}

/// A proxy fence of a thread.
struct Fence {
    /// The epoch that the fence begins.
    epoch: u32,
    /// The accesses that happened before the fence.
    known: VectorClock,
    /// True if the fence orders accesses to shared memory alone.
    is_shared: bool,
}

/// The agents and the proxy fences of a launch.
#[derive(Default)]
pub(super) struct Agents {
    groups: Vec<Group>,
    /// The groups of each block that has agents, by the block's number.
    of_block: FxHashMap<u32, Vec<u32>>,
    /// The block and the thread that have issued each agent.
    issuers: FxHashMap<Agent, (u32, Thread)>,
    /// The proxy fences of each thread, in order, by the thread's block and number.
    fences: FxHashMap<(u32, u32), Vec<Fence>>,
    /// For each thread of a block, the end of the agent that stands for its fenced initialisations of barriers.
    initialised: FxHashMap<(u32, u32), VectorClock>,
}

impl Agents {
    fn group(&self, block: u32) -> &Group {
        &self.groups[(block - FIRST) as usize]
    }

    /// Returns the number of the block and the thread that have issued the agent whose access is `stamp`. Returns
    /// `None` if a thread has made the access.
    pub(super) fn issuer(&self, stamp: &Stamp) -> Option<(u32, Thread)> {
        let agent = Agent { block: stamp.block, lane: stamp.thread(), epoch: stamp.epoch };
        if stamp.block < FIRST { None } else { self.issuers.get(&agent).copied() }
    }

    /// Makes an agent of the block with the number `block` that begins after the accesses in `known`.
    fn begin(&mut self, block: u32, known: VectorClock, (thread, at): (Thread, Line)) -> Agent {
        let groups = self.of_block.entry(block).or_default();
        let free = groups.iter().find_map(|&group| {
            let lanes = &self.groups[(group - FIRST) as usize].lanes;
            let is_known = |&lane: &u32| {
                let last = lanes.get(lane as usize);
                last.is_none_or(|last| last.is_retired && known.epoch(group, lane) > last.epoch)
            };
            Some((group, (0..LANES.min(lanes.len() as u32 + 1)).find(is_known)?))
        });
        let (group, lane) = free.unwrap_or_else(|| {
            let number = FIRST + self.groups.len() as u32;
            let mut clocks = Clocks::default();
            clocks.begin(number, LANES, false);
            self.groups.push(Group { clocks, lanes: Vec::new() });
            groups.push(number);
            (number, 0)
        });
        let Group { clocks, lanes } = &mut self.groups[(group - FIRST) as usize];
        clocks.vectors_mut(lane).known = known.clone();
        let epoch = clocks.epoch(lane);
        let end = clocks.snapshot(lane);
        clocks.vectors_mut(lane).known = known;
        let last = Lane { epoch, end, thread, at, is_local: false, is_retired: false };
        match lanes.get_mut(lane as usize) {
            Some(place) => *place = last,
            None => lanes.push(last),
        }
        let agent = Agent { block: group, lane, epoch };
        self.issuers.insert(agent, (block, thread));
        agent
    }

    fn lane(&self, agent: Agent) -> &Lane {
        &self.group(agent.block).lanes[agent.lane as usize]
    }

    fn lane_mut(&mut self, agent: Agent) -> &mut Lane {
        &mut self.groups[(agent.block - FIRST) as usize].lanes[agent.lane as usize]
    }

    /// Returns true if a proxy fence of `space` after the access `write` of a thread happened before the begin of
    /// `agent`.
    fn is_fenced(&self, agent: Agent, write: &Stamp, space: Space) -> bool {
        let known = &self.group(agent.block).clocks.vectors(agent.lane).known;
        let has = |fence: &Fence| fence.known.epoch(write.block, write.thread()) > write.epoch;
        let counts = |fence: &&Fence| space == Space::Shared || !fence.is_shared;
        let own = self.fences.get(&(write.block, write.thread()));
        let after = own.and_then(|fences| {
            fences[fences.partition_point(|fence| fence.epoch <= write.epoch)..].iter().find(counts)
        });
        if after.is_some_and(|fence| fence.epoch <= known.epoch(write.block, write.thread())) {
            return true;
        }
        self.fences.iter().any(|(&(block, thread), fences)| {
            let epoch = known.epoch(block, thread);
            let before = fences.partition_point(|fence| fence.epoch <= epoch);
            fences[..before].iter().rev().find(counts).is_some_and(has)
        })
    }
}

impl State {
    /// Makes an agent that begins at the line `at`. See [`AgentWatcher::begin_agent`].
    fn begin_agent(&mut self, block: &BlockContext, origin: Origin<'_>, at: Line) -> Agent {
        let block_number = number(block);
        let known = match origin {
            Origin::After(agent) => self.agents.lane(agent).end.clone(),
            Origin::Threads(threads) => {
                let clocks = &mut self.resident(block).clocks;
                let mut known = VectorClock::default();
                threads.iter().for_each(|thread| known.join(&clocks.snapshot(thread.linear())));
                known
            }
        };
        // The accesses of the issuers may become known to other blocks.
        if let Some(highest) = known.highest(block_number) {
            self.publications.publish(block_number, highest);
        }
        self.agents.begin(block_number, known, (block.thread(), at))
    }

    /// Checks the access `touch` by `agent` to global memory or to the shared memory of `owner`, and records it.
    fn touch_by_agent(&mut self, owner: &BlockContext, agent: Agent, touch: &Touch) -> Result<(), Finding> {
        let bytes = if touch.access.is_atomic() { touch.bytes } else { 0 };
        let site = self.sites.number(touch.at, touch.access, bytes);
        let Self { agents, residents, publications, global, histories, sites, .. } = self;
        let clocks = &agents.group(agent.block).clocks;
        let stamp = Stamp::new(agent.block, agent.lane, agent.epoch, site, PLAIN);
        let past = Past { clocks, publications, block: agent.block, thread: agent.lane };
        let Resident { memory: SharedState { shadow, histories: own, .. }, .. } =
            &mut residents[owner.tag.get() as usize];
        let unfenced = |write: &Stamp| {
            write.block < FIRST && past.has_stamp(write) && !agents.is_fenced(agent, write, touch.space)
        };
        let found = match touch.space {
            Space::Global => global.find_write(touch, unfenced),
            Space::Shared => shadow.find_write(touch, unfenced),
        };
        let is_unused = matches!(touch.access, Access::Update(_));
        let result = match touch.space {
            Space::Global => {
                let mut toucher = Toucher::new((past, stamp), histories, sites, is_unused);
                global.touch(touch, &mut toucher).map(|_| ())
            }
            Space::Shared => shadow.touch(touch, &mut Toucher::new((past, stamp), own, sites, is_unused)),
        };
        match (result, found) {
            (Ok(()), Some(conflict)) => Err(Finding::Unfenced(conflict)),
            (result, _) => result,
        }
    }

    /// Orders the accesses of `joined` before the later ones of `threads` of `block`.
    fn join_agents(&mut self, block: &BlockContext, threads: &[Thread], joined: &[Agent]) {
        let Self { agents, residents, .. } = self;
        let clocks = &mut residents[block.tag.get() as usize].clocks;
        let mut known = VectorClock::default();
        joined.iter().for_each(|&agent| known.join(&agents.lane(agent).end));
        threads.iter().for_each(|thread| clocks.vectors_mut(thread.linear()).known.join(&known));
    }
}

impl AgentWatcher for Checker {
    fn begin_agent(&self, block: &BlockContext, origin: Origin<'_>, at: Line) -> Agent {
        self.state.borrow_mut().begin_agent(block, origin, at)
    }

    fn agent_access(&self, block: &BlockContext, owner: &BlockContext, agent: Agent, touch: &Touch) -> Next {
        let mut state = self.state.borrow_mut();
        if touch.space == Space::Shared {
            if std::ptr::eq(block, owner) {
                state.agents.lane_mut(agent).is_local = true;
            } else {
                let [accessor, owning] = [block, owner].map(|one| &state.residents[one.tag.get() as usize].clocks);
                if !accessor.knows_beginning(block.thread().linear(), owning) {
                    let access = RemoteAccess {
                        owner: owner.index(),
                        element: Element::in_shared(&owner.arena, touch.address, touch.bytes),
                        access: touch.access.into(),
                        problem: Lifetime::MayNotHaveBegun,
                        last: None,
                    };
                    return Next::Fault(Box::new(FaultKind::RemoteAccess(Box::new(access))));
                }
                let stamp = Stamp::new(agent.block, agent.lane, agent.epoch, 0, PLAIN);
                state.resident(owner).remote.insert((agent.block, agent.lane), (stamp, *touch));
            }
        }
        let finding = state.touch_by_agent(owner, agent, touch);
        drop(state);
        finding.map_or_else(|finding| self.fault(block, owner, touch, finding), |()| Next::Continue)
    }

    fn agent_arrival(&self, owner: &BlockContext, agent: Agent, barrier: usize) {
        let state = &mut *self.state.borrow_mut();
        let phases = &mut state.residents[owner.tag.get() as usize].memory.phases;
        phases.arrive_agent(&state.agents.lane(agent).end, BarrierId::Shared(barrier));
    }

    fn join_agents(&self, block: &BlockContext, threads: &[Thread], agents: &[Agent]) {
        self.state.borrow_mut().join_agents(block, threads, agents);
    }

    fn retire_agent(&self, agent: Agent) {
        self.state.borrow_mut().agents.lane_mut(agent).is_retired = true;
    }

    fn proxy_fence(&self, block: &BlockContext, is_shared: bool) {
        let state = &mut *self.state.borrow_mut();
        let thread = block.thread().linear();
        let clocks = &mut state.resident(block).clocks;
        let known = clocks.snapshot(thread);
        let fence = Fence { epoch: clocks.epoch(thread), known, is_shared };
        state.agents.fences.entry((number(block), thread)).or_default().push(fence);
    }

    fn init_fence(&self, block: &BlockContext, barriers: &[usize]) {
        let state = &mut *self.state.borrow_mut();
        let key = (number(block), block.thread().linear());
        let Some(at) = state.resident(block).memory.shadow.line_of_write(barriers) else { return };
        let at = state.sites.get(at).at;
        // The agent knows nothing, so that a relaxed arrival which publishes it orders the initialisations alone.
        let agent = state.agents.begin(key.0, VectorClock::default(), (block.thread(), at));
        let site = state.sites.number(at, Access::AsyncWrite, 0);
        let stamp = Stamp::new(agent.block, agent.lane, agent.epoch, site, PLAIN);
        state.resident(block).memory.shadow.replace_writes(barriers, (key.0, key.1), stamp);
        state.join_agents(block, &[block.thread()], &[agent]);
        let end = state.agents.lane(agent).end.clone();
        state.agents.lane_mut(agent).is_retired = true;
        state.agents.initialised.entry(key).or_default().join(&end);
    }

    fn unfinished(&self, block: &BlockContext) -> Option<(Thread, Line)> {
        let state = &*self.state.borrow();
        let clocks = &state.residents[block.tag.get() as usize].clocks;
        let groups = state.agents.of_block.get(&number(block))?;
        groups.iter().find_map(|&group| {
            let lanes = state.agents.group(group).lanes.iter().zip(0..);
            let is_open = |(last, lane): &(&Lane, u32)| last.is_local && !clocks.precedes_end(group, *lane, last.epoch);
            lanes.into_iter().find(is_open).map(|(last, _)| (last.thread, last.at))
        })
    }
}

impl State {
    /// Orders the initialisations of barriers that the thread with the number `thread` of `block` has fenced before
    /// the end of the current phase of the cluster's barrier.
    pub(super) fn publish_initialised(&mut self, block: &BlockContext, thread: u32) {
        let Self { agents, residents, .. } = self;
        if let Some(end) = agents.initialised.get(&(number(block), thread)) {
            residents[block.tag.get() as usize].memory.phases.arrive_agent(end, BarrierId::Cluster);
        }
    }
}
