//! The source sites that a launch reaches, each with a number.

use std::collections::HashMap;
use std::panic::Location;

use crate::region::Space;
use crate::source::Line;
use crate::synchronisations::SyncKind;

/// The kind of access at a source site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic update.
    Atomic,
}

/// The operation that a thread executes at a source site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// An access to `bytes` bytes of memory.
    Access { space: Space, kind: AccessKind, bytes: u8 },
    /// A branch that the simulator observes.
    Branch,
    /// A barrier or warp operation, at which lanes of the warp meet.
    Meeting(SyncKind),
}

impl Step {
    /// Returns the number of nodes that the operation has in the kernel's flow. A branch has one node for itself and
    /// one node for each outcome.
    fn nodes(self) -> u32 {
        if self == Self::Branch { 3 } else { 1 }
    }

    /// Returns a number that differs for different operations.
    fn code(self) -> u32 {
        match self {
            Self::Branch => 0,
            Self::Meeting(kind) => (kind as u32) << 4 | 1,
            Self::Access { space, kind, bytes } => {
                u32::from(bytes) << 8 | (kind as u32) << 4 | u32::from(space == Space::Shared) << 1 | 8
            }
        }
    }
}

/// The number of a node in the [flow](super::flow::Flow). A node stands for a source site with its operation.
pub(super) type Node = u32;

/// The node at which the trace of every lane starts.
pub(super) const START: Node = 0;
/// The node at which the trace of every lane ends: the lane has exited.
pub(super) const END: Node = 1;

/// A source site, with the operation that threads execute there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) at: Line,
    pub(super) step: Step,
}

#[derive(Clone, Copy)]
struct Recent {
    at: usize,
    code: u32,
    node: Node,
}

const RECENT: usize = 1024;

/// All sites that a launch has reached so far.
pub(super) struct Sites {
    /// The site of each node, or `None` for the start, the end, and the outcomes of branches.
    sites: Vec<Option<Site>>,
    /// The node of each operation at each source position. A position may have several `Location`s, one per instance of
    /// a generic function.
    by_position: HashMap<(&'static str, u32, u32, Step), Node>,
    /// A cache of recent look-ups. The index in the cache comes from the address of the `Location`.
    recent: Box<[Recent]>,
}

impl Default for Sites {
    fn default() -> Self {
        let recent = vec![Recent { at: 0, code: 0, node: START }; RECENT].into();
        Self { sites: vec![None; 2], by_position: HashMap::new(), recent }
    }
}

impl Sites {
    /// Returns the node of the operation `step` at the source line `at`.
    #[inline]
    pub(super) fn node(&mut self, at: Line, step: Step) -> Node {
        let (address, code) = (std::ptr::from_ref::<Location<'_>>(at).addr(), step.code());
        // `Location`s have 24 bytes and are stored side by side.
        let index = (address / 8).wrapping_add(code as usize * 31) % RECENT;
        let recent = self.recent[index];
        if recent.at == address && recent.code == code {
            return recent.node;
        }
        let node = self.find(at, step);
        self.recent[index] = Recent { at: address, code, node };
        node
    }

    #[cold]
    fn find(&mut self, at: Line, step: Step) -> Node {
        let sites = &mut self.sites;
        *self.by_position.entry((at.file(), at.line(), at.column(), step)).or_insert_with(|| {
            let node = sites.len() as Node;
            sites.push(Some(Site { at, step }));
            sites.resize((node + step.nodes()) as usize, None);
            node
        })
    }

    /// Returns the number of nodes that the launch has reached so far.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns the source site of `node`, or `None` if the node has no site.
    #[inline]
    pub(super) fn get(&self, node: Node) -> Option<Site> {
        self.sites[node as usize]
    }

    /// Returns the node from which a lane continues after an event at `node` with `value`. For a branch, this is the
    /// node of the outcome that `value` states.
    #[inline]
    pub(super) fn after(&self, node: Node, value: u64) -> Node {
        match self.get(node) {
            Some(Site { step: Step::Branch, .. }) => node + 1 + Node::from(value != 0),
            _ => node,
        }
    }

    /// Returns true if `a` comes before `b` in the source. Sites of different files are in the order in which the
    /// launch first reached them.
    pub(super) fn is_before(&self, a: Node, b: Node) -> bool {
        match (self.get(a), self.get(b)) {
            (Some(Site { at: a, .. }), Some(Site { at: b, .. })) if a.file() == b.file() && !std::ptr::eq(a, b) => {
                (a.line(), a.column()) < (b.line(), b.column())
            }
            _ => a < b,
        }
    }
}
