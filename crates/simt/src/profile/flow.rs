//! The control flow of a kernel, reconstructed from the steps of its lanes: the order of its nodes, and the loops that
//! they form.
//!
//! On a device, the lanes of a diverged warp reconverge where their paths meet. To find out which accesses lanes make
//! together, the profiler gives each event of a lane an [`EventId`], with the iterations of the enclosing loops and the
//! event's position in them. Lanes make an access together if they make it at the same node with the same id. Ids
//! increase along every lane's trace, so the smallest id of all lanes is always the next event of the warp.
//!
//! The loops are those of a graph whose edges are the steps that lanes made from one event to the next. A strongly
//! connected component is a loop. Without the edges that lead back to its head, the component's own strongly connected
//! components are the inner loops, and so on. (F. Bourdoncle, *Efficient chaotic iteration strategies with widenings*,
//! 1993, calls this a weak topological order.)

use super::site::Node;

/// The maximum depth of nested loops that event ids can represent. A deeper loop counts as part of the loop at this
/// depth.
pub(super) const DEPTH: usize = 6;

/// The id of a lane's event: the position and iteration of each enclosing loop, from the outermost to the innermost,
/// and then the event's own position. The order of the ids is the order in which a warp makes the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventId([u64; DEPTH + 1]);

impl EventId {
    pub(super) const ZERO: Self = Self([0; DEPTH + 1]);
}

/// The iteration that a lane is in, for each loop. A loop is given by its head.
pub(super) type Iterations = Vec<(Node, u32)>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: Node,
    /// The nesting depth of the loop that this edge repeats, from 0 for an outermost loop. `None` if the edge repeats
    /// no loop.
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
    /// The first position of the loop. Only nodes of the loop have positions from this one to that of the loop's last
    /// node.
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

    /// Returns the id of an event at `node` in the iterations `iterations`. A loop that is not listed is in its first
    /// iteration.
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

    /// Returns the iterations that the id `id` of an event at `node` contains, as [`Self::id`] takes them. Unlike the
    /// id, they stay valid when `settle` computes other loops.
    pub(super) fn iterations(&self, node: Node, id: EventId) -> Iterations {
        let loops = &self.nodes[node as usize].loops;
        loops.iter().zip(id.0).map(|(&around, level)| (self.loops[around as usize].head, level as u32)).collect()
    }

    /// Returns the id of a lane's next event, at `to`, after its event `id` at `from`. The step from `from` to `to`
    /// must have been noted.
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
    /// Sets the depth of the loop that the edge from this node to `to` repeats.
    pub(super) fn repeat(&mut self, to: Node, repeats: Option<u8>) {
        self.successors.iter_mut().filter(|edge| edge.to == to).for_each(|edge| edge.repeats = repeats);
    }

    /// Returns true if an edge that repeats no loop leads from this node to `node`.
    pub(super) fn leads_to(&self, node: Node) -> bool {
        self.successors.iter().any(|edge| edge.to == node && edge.repeats.is_none())
    }
}
