//! The interface between asynchronous operations and the watcher of a launch.

use super::Operation;
use crate::block::context::BlockContext;
use crate::lanes::Thread;
use crate::profile::BarrierOfBlock;
use crate::source::Line;
use crate::watch::{Next, Touch};

/// An asynchronous operation, which acts beside the threads: a bulk copy or a product of tensor cores. A watcher that
/// does not distinguish agents returns the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Agent {
    /// The number under which the checker records the agent's accesses, in place of a block's number.
    pub(crate) block: u32,
    /// The number of the agent in that block, in place of a thread's number.
    pub(crate) lane: u32,
    /// The epoch of the agent's accesses.
    pub(crate) epoch: u32,
}

/// The order in which an agent begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// These threads of the block issue the operation together.
    Threads(&'a [Thread]),
    /// The agent begins when another agent has ended.
    After(Agent),
}

/// The part of a watcher that asynchronous operations notify.
pub(crate) trait AgentWatcher {
    /// Notifies the watcher that an asynchronous operation begins at the line `_at`, and returns its agent. All
    /// accesses of the agent must follow this call before another agent of the block begins.
    fn begin_agent(&self, _block: &BlockContext, _origin: Origin<'_>, _at: Line) -> Agent {
        Agent::default()
    }

    /// Notifies the watcher of an access by `_agent`, which the current thread of `_block` has issued, to global memory
    /// or to the shared memory of `_owner`.
    fn agent_access(&self, _block: &BlockContext, _owner: &BlockContext, _agent: Agent, _touch: &Touch) -> Next {
        Next::Continue
    }

    /// Notifies the watcher that the current thread begins a bulk copy. The bytes of a load arrive at `_barrier`: that
    /// of the issuer's block, or else that of the first target.
    fn bulk_copy(&self, _block: &BlockContext, _operation: &Operation, _barrier: Option<BarrierOfBlock>) {}

    /// Notifies the watcher that `_agent` ends, and that this counts as an arrival in the current phase of the
    /// `mbarrier` at the address `_barrier` of the shared memory of `_owner`.
    fn agent_arrival(&self, _owner: &BlockContext, _agent: Agent, _barrier: usize) {}

    /// Notifies the watcher that `_threads` have waited for the ends of `_agents`.
    fn join_agents(&self, _block: &BlockContext, _threads: &[Thread], _agents: &[Agent]) {}

    /// Notifies the watcher that no later call names `_agent`: all threads that wait for its end have joined it.
    fn retire_agent(&self, _agent: Agent) {}

    /// Notifies the watcher that the current thread makes a fence between its generic proxy and the asynchronous one,
    /// of shared memory alone if `_is_shared` is true.
    fn proxy_fence(&self, _block: &BlockContext, _is_shared: bool) {}

    /// Notifies the watcher that the current thread makes a fence of its initialisations of the barriers at the
    /// addresses `_barriers`.
    fn init_fence(&self, _block: &BlockContext, _barriers: &[usize]) {}

    /// Returns the thread and the line that have issued an operation on the block's shared memory of whose end no
    /// thread of the block knows. All threads of the block have exited.
    fn unfinished(&self, _block: &BlockContext) -> Option<(Thread, Line)> {
        None
    }
}
