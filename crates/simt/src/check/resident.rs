//! The checker's state for one running block.

use rustc_hash::FxHashMap;

use super::arrivals::Arrivals;
use super::block_shadow::BlockShadow;
use super::clock::Clocks;
use super::dependencies::Dependencies;
use super::initial::Initial;
use super::messages::Messages;
use super::phases::Phases;
use super::shadow::Histories;
use super::stamp::Stamp;
use super::sync::Objects;
use super::writes::Writes;
use crate::watch::Touch;

/// The last access of each thread of other blocks to the shared memory of a block, by the thread's block and number.
pub(super) type RemoteAccesses = FxHashMap<(u32, u32), (Stamp, Touch)>;

/// The checker's state for one running block.
#[derive(Default)]
pub(super) struct Resident {
    pub(super) clocks: Clocks,
    pub(super) memory: SharedState,
    pub(super) messages: Messages,
    pub(super) writes: Writes,
    pub(super) arrivals: Arrivals,
    pub(super) dependencies: Dependencies,
    /// The accesses of other blocks to the block's shared memory.
    pub(super) remote: RemoteAccesses,
}

/// The checker's state for the shared memory of a block.
#[derive(Default)]
pub(super) struct SharedState {
    pub(super) shadow: BlockShadow,
    /// The access histories of the cells of the memory.
    pub(super) histories: Histories,
    /// The atomic objects in the memory.
    pub(super) objects: Objects,
    pub(super) initial: Initial,
    pub(super) phases: Phases,
}

impl Resident {
    /// Resets the state for the block with number `block` and `threads` threads.
    pub(super) fn begin(&mut self, block: u32, threads: u32, passes_fences: bool) {
        self.clocks.begin(block, threads, passes_fences);
        let SharedState { shadow, histories, objects, initial, phases } = &mut self.memory;
        shadow.begin();
        histories.clear();
        objects.clear();
        initial.clear();
        phases.begin(block);
        self.messages.begin(threads);
        self.writes.begin();
        self.arrivals.begin();
        self.dependencies = Dependencies::default();
        self.remote.clear();
    }
}
