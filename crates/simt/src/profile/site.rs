//! The places of the source that a launch comes to, numbered.

use std::collections::HashMap;
use std::panic::Location;

use super::report::AccessKind;
use crate::region::Space;
use crate::source::Line;

/// What a place does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// Accesses `bytes` bytes of memory.
    Access { space: Space, kind: AccessKind, bytes: u8 },
    /// Goes one way or the other.
    Branch,
    /// Meets other lanes of the warp.
    Meeting,
}

impl Step {
    /// How many nodes a place has in the flow of the kernel: a branch has one for itself, and one for each way.
    fn nodes(self) -> u32 {
        if self == Self::Branch { 3 } else { 1 }
    }

    /// A number of its own for each step.
    fn code(self) -> u32 {
        match self {
            Self::Branch => 0,
            Self::Meeting => 1,
            Self::Access { space, kind, bytes } => {
                u32::from(bytes) << 8 | (kind as u32) << 4 | u32::from(space == Space::Shared) << 1 | 8
            }
        }
    }
}

/// A place of the source and what it does there, as a number: its node in the [flow](super::flow::Flow).
pub(super) type Node = u32;

/// Where every trace begins.
pub(super) const START: Node = 0;
/// Where every trace ends: the lane has exited.
pub(super) const END: Node = 1;

/// A place.
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

/// All places that a launch has come to so far.
pub(super) struct Sites {
    /// By node; `None` for the start, the end, and the ways of branches.
    sites: Vec<Option<Site>>,
    /// One place of the source may have several `Location`s, as every instance of a generic function has its own.
    by_place: HashMap<(&'static str, u32, u32, Step), Node>,
    /// Those found lately, by the address of their `Location`.
    recent: Box<[Recent]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        let recent = vec![Recent { at: 0, code: 0, node: START }; RECENT].into();
        Self { sites: vec![None; 2], by_place: HashMap::new(), recent }
    }

    /// The node of `step` at the place `at`.
    #[inline]
    pub(super) fn node(&mut self, at: Line, step: Step) -> Node {
        let (address, code) = (std::ptr::from_ref::<Location<'_>>(at).addr(), step.code());
        // `Location`s have 24 bytes and stand next to each other.
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
        *self.by_place.entry((at.file(), at.line(), at.column(), step)).or_insert_with(|| {
            let node = sites.len() as Node;
            sites.push(Some(Site { at, step }));
            sites.resize((node + step.nodes()) as usize, None);
            node
        })
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The place of `node`, if it is one.
    #[inline]
    pub(super) fn get(&self, node: Node) -> Option<Site> {
        self.sites[node as usize]
    }

    /// The node after an event of `node` with `value`: for a branch the way that was taken.
    #[inline]
    pub(super) fn after(&self, node: Node, value: u64) -> Node {
        match self.get(node) {
            Some(Site { step: Step::Branch, .. }) => node + 1 + Node::from(value != 0),
            _ => node,
        }
    }

    /// Whether `a` is known to stand before `b` in the source; of different files, what was come to first.
    pub(super) fn is_before(&self, a: Node, b: Node) -> bool {
        match (self.get(a), self.get(b)) {
            (Some(Site { at: a, .. }), Some(Site { at: b, .. })) if a.file() == b.file() && !std::ptr::eq(a, b) => {
                (a.line(), a.column()) < (b.line(), b.column())
            }
            _ => a < b,
        }
    }
}
