//! The control flow of a kernel: the order of its nodes, and the loops that they form. A node stands for an access, a
//! branch or a barrier in the source. The profiler reconstructs the flow from the steps of the kernel's lanes.
//!
//! On a device, the lanes of a diverged warp reconverge where their paths meet. The profiler must find out which
//! accesses lanes make together. It therefore gives each event of a lane an [`EventId`]. The id consists of the
//! iterations of the enclosing loops and the event's position in these loops. Lanes make an access together if they
//! make it at the same node with the same id. Ids increase along every lane's trace, so the smallest id of all lanes is
//! always the next event of the warp.
//!
//! The profiler finds loops in a graph whose edges are the steps that lanes made from one event to the next. Each
//! strongly connected component of the graph is a loop. To find the inner loops of a loop, the profiler removes the
//! edges that lead back to its head, and repeats the search inside the component. (F. Bourdoncle, *Efficient chaotic
//! iteration strategies with widenings*, 1993, calls this a weak topological order.)

use super::site::Node;

/// The maximum depth of nested loops that event ids can represent. A deeper loop counts as part of the loop at this
/// depth.
pub(super) const DEPTH: usize = 6;

/// The id of a lane's event: the position and iteration of each enclosing loop, from the outermost to the innermost,
/// and then the event's own position. A warp makes its events in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventId([u64; DEPTH + 1]);

impl EventId {
    pub(super) const ZERO: Self = Self([0; DEPTH + 1]);
}

/// For each loop, the loop's head and the iteration that a lane is in.
pub(super) type Iterations = Vec<(Node, u32)>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: Node,
    /// The nesting depth of a loop if this edge begins the loop's next iteration. The depth of an outermost loop is 0.
    /// `None` if the edge repeats no loop.
    pub(super) repeats: Option<u8>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FlowNode {
    pub(super) successors: Vec<Edge>,
    /// The successor that `Flow::note` has noted last.
    last: Node,
    pub(super) position: u32,
    /// The indices of the loops around the node, the outermost first.
    pub(super) loops: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// The position of the loop's first node. The positions of the loop's nodes are consecutive.
    pub(super) position: u32,
    pub(super) head: Node,
}

/// The control flow graph of a kernel, with its loops.
pub(super) struct Flow {
    pub(super) nodes: Vec<FlowNode>,
    pub(super) loops: Vec<Loop>,
    is_stale: bool,
}

impl Default for Flow {
    fn default() -> Self {
        Self { nodes: vec![FlowNode::default()], loops: Vec::new(), is_stale: true }
    }
}

impl Flow {
    /// Notes that a lane has gone from `from` to `to`.
    #[inline]
    pub(super) fn note(&mut self, from: Node, to: Node) {
        if self.nodes.get(from as usize).is_none_or(|node| node.last != to) {
            self.note_other(from, to);
        }
    }

    fn note_other(&mut self, from: Node, to: Node) {
        let len = (from.max(to) as usize + 1).max(self.nodes.len());
        self.nodes.resize_with(len, FlowNode::default);
        let node = &mut self.nodes[from as usize];
        node.last = to;
        if node.successors.iter().all(|edge| edge.to != to) {
            node.successors.push(Edge { to, repeats: None });
            self.is_stale = true;
        }
    }

    /// Returns the id of an event at `node`. `iterations` lists the iterations of the loops around `node`. A loop that
    /// is not listed is in its first iteration.
    pub(super) fn id(&self, node: Node, iterations: &Iterations) -> EventId {
        let node = &self.nodes[node as usize];
        let mut id = EventId::ZERO;
        for (level, &around) in id.0.iter_mut().zip(&node.loops) {
            let Loop { position, head } = self.loops[around as usize];
            let known = iterations.iter().find(|(other, _)| *other == head);
            *level = u64::from(position) << 32 | u64::from(known.map_or(0, |(_, iteration)| *iteration));
        }
        id.0[node.loops.len()] = u64::from(node.position) << 32;
        id
    }

    /// Returns the iterations in the id `id` of an event at `node`. This is the inverse of [`Self::id`]. Unlike the id,
    /// the iterations stay valid when `settle` computes the loops again.
    pub(super) fn iterations(&self, node: Node, id: EventId) -> Iterations {
        let loops = &self.nodes[node as usize].loops;
        loops.iter().zip(id.0).map(|(&around, level)| (self.loops[around as usize].head, level as u32)).collect()
    }

    /// Returns the id of a lane's event at `to`. The event directly follows the lane's event at `from`, whose id is
    /// `id`. The caller must have noted the step from `from` to `to`.
    pub(super) fn advance(&self, id: EventId, from: Node, to: Node) -> EventId {
        let (before, after) = (&self.nodes[from as usize], &self.nodes[to as usize]);
        let repeats = before.successors.iter().find(|edge| edge.to == to).and_then(|edge| edge.repeats);
        let mut next = EventId::ZERO;
        let mut is_inside = true;
        for (depth, &around) in after.loops.iter().enumerate() {
            is_inside &= before.loops.get(depth) == Some(&around);
            next.0[depth] = if is_inside { id.0[depth] } else { u64::from(self.loops[around as usize].position) << 32 };
            if repeats == Some(depth as u8) {
                next.0[depth] += 1;
                // Inner loops start with their first iteration.
                is_inside = false;
            }
        }
        next.0[after.loops.len()] = u64::from(after.position) << 32;
        next
    }

    /// Clears the order and the loops of `count` nodes, so that [`settle`](super::order::settle) can compute them
    /// again. Does nothing and returns false if the flow has not changed since the last call.
    pub(super) fn unsettle(&mut self, count: usize) -> bool {
        if !std::mem::take(&mut self.is_stale) {
            return false;
        }
        self.nodes.resize_with(count.max(self.nodes.len()), FlowNode::default);
        self.loops.clear();
        for node in &mut self.nodes {
            node.loops.clear();
            node.successors.iter_mut().for_each(|edge| edge.repeats = None);
        }
        true
    }
}

impl FlowNode {
    /// Sets the field `repeats` of the edge from this node to `to`.
    pub(super) fn repeat(&mut self, to: Node, repeats: Option<u8>) {
        self.successors.iter_mut().filter(|edge| edge.to == to).for_each(|edge| edge.repeats = repeats);
    }

    /// Returns true if this node has an edge to `node` that does not begin the next iteration of a loop.
    pub(super) fn leads_to(&self, node: Node) -> bool {
        self.successors.iter().any(|edge| edge.to == node && edge.repeats.is_none())
    }
}
