//! The control flow of a kernel, as far as its lanes have shown it: in which order its places come, and which of them
//! form loops.
//!
//! The lanes of a warp that has diverged come together again, on a device, where the paths that they took do. To find
//! out which accesses lanes make together, each event of a lane gets a [`EventId`]: the iterations of the loops that it
//! lies in, and its position in them. Lanes make an access together if it is at the same place in the same moment. A
//! moment grows along every lane's trace, so the earliest moment of all lanes is always what a warp does next.
//!
//! The loops are those of a graph whose edges are the steps that lanes have made from one event to the next. A strongly
//! connected part of it is a loop; without the edges that lead back to where it is entered, its own strongly connected
//! parts are the loops inside of it, and so on. (F. Bourdoncle, *Efficient chaotic iteration strategies with widenings*,
//! 1993, calls that a weak topological order.)

use super::site::Node;

/// The loops inside of each other that are told apart. Deeper ones count as part of the innermost of these.
pub(super) const DEPTH: usize = 6;

/// When a lane does something: for each loop that it is in its position and iteration, the outermost first, and then
/// the position of what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventId([u64; DEPTH + 1]);

impl EventId {
    pub(super) const ZERO: Self = Self([0; DEPTH + 1]);
}

/// In which iteration of which loop, by its head, a lane is.
pub(super) type Iterations = Vec<(Node, u32)>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: Node,
    /// The loop that it begins again: how many loops there are around that.
    pub(super) repeats: Option<u8>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) successors: Vec<Edge>,
    /// The successor noted last.
    last: Node,
    pub(super) position: u32,
    /// The loops around it, the outermost first.
    pub(super) loops: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// No position but those of its own places is as large, and as small as its last one.
    pub(super) position: u32,
    pub(super) head: Node,
}

/// The control flow of a kernel.
pub(super) struct Flow {
    pub(super) places: Vec<Place>,
    pub(super) loops: Vec<Loop>,
    is_stale: bool,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { places: vec![Place::default()], loops: Vec::new(), is_stale: true }
    }

    /// Notes that a lane has come from `from` to `to`.
    #[inline]
    pub(super) fn note(&mut self, from: Node, to: Node) {
        if self.places.get(from as usize).is_none_or(|place| place.last != to) {
            self.note_other(from, to);
        }
    }

    fn note_other(&mut self, from: Node, to: Node) {
        let len = (from.max(to) as usize + 1).max(self.places.len());
        self.places.resize_with(len, Place::default);
        let place = &mut self.places[from as usize];
        place.last = to;
        if place.successors.iter().all(|edge| edge.to != to) {
            place.successors.push(Edge { to, repeats: None });
            self.is_stale = true;
        }
    }

    /// The moment of a lane that is at `node`, in the given iterations, or the first where none is given.
    pub(super) fn moment(&self, node: Node, iterations: &Iterations) -> EventId {
        let place = &self.places[node as usize];
        let mut moment = EventId::ZERO;
        for (level, &around) in moment.0.iter_mut().zip(&place.loops) {
            let Loop { position, head } = self.loops[around as usize];
            let known = iterations.iter().find(|(other, _)| *other == head);
            *level = u64::from(position) << 32 | u64::from(known.map_or(0, |(_, iteration)| *iteration));
        }
        moment.0[place.loops.len()] = u64::from(place.position) << 32;
        moment
    }

    /// What [`Self::moment`] needs to know of a moment at `node`, whatever becomes of the loops.
    pub(super) fn iterations(&self, node: Node, moment: EventId) -> Iterations {
        let loops = &self.places[node as usize].loops;
        loops.iter().zip(moment.0).map(|(&around, level)| (self.loops[around as usize].head, level as u32)).collect()
    }

    /// The moment of a lane that comes to `to` from `from`, where it was at `moment`. The step must have been noted.
    pub(super) fn advance(&self, moment: EventId, from: Node, to: Node) -> EventId {
        let (before, after) = (&self.places[from as usize], &self.places[to as usize]);
        let repeats = before.successors.iter().find(|edge| edge.to == to).and_then(|edge| edge.repeats);
        let mut next = EventId::ZERO;
        let mut is_inside = true;
        for (depth, &around) in after.loops.iter().enumerate() {
            is_inside &= before.loops.get(depth) == Some(&around);
            next.0[depth] =
                if is_inside { moment.0[depth] } else { u64::from(self.loops[around as usize].position) << 32 };
            if repeats == Some(depth as u8) {
                next.0[depth] += 1;
                // Loops inside of it begin anew.
                is_inside = false;
            }
        }
        next.0[after.loops.len()] = u64::from(after.position) << 32;
        next
    }

    /// Forgets order and loops, for [`settle`](super::order::settle) to find them again among `count` places; not if the flow
    /// is the same as the last time. Gives whether it has changed.
    pub(super) fn unsettle(&mut self, count: usize) -> bool {
        if !std::mem::take(&mut self.is_stale) {
            return false;
        }
        self.places.resize_with(count.max(self.places.len()), Place::default);
        self.loops.clear();
        for place in &mut self.places {
            place.loops.clear();
            place.successors.iter_mut().for_each(|edge| edge.repeats = None);
        }
        true
    }
}

impl Place {
    /// Sets which loop the edge to `to` begins again.
    pub(super) fn repeat(&mut self, to: Node, repeats: Option<u8>) {
        self.successors.iter_mut().filter(|edge| edge.to == to).for_each(|edge| edge.repeats = repeats);
    }

    /// Whether an edge that is not cut leads to `node`.
    pub(super) fn leads_to(&self, node: Node) -> bool {
        self.successors.iter().any(|edge| edge.to == node && edge.repeats.is_none())
    }
}
