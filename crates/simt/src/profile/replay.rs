//! Combines the events of a warp's lanes: finds the accesses and branches that the warp executes as one instruction.

use std::cmp::Ordering;

use super::flow::{EventId, Flow};
use super::order::settle;
use super::site::{Node, Sites};
use super::trace::{Event, Lane};
use crate::lanes::{LANES, bits};

/// An event of a warp: one instruction that some of its lanes execute together.
pub(super) struct Step<'a> {
    pub(super) node: Node,
    /// The mask of the participating lanes.
    pub(super) lanes: u32,
    /// The [`Event::value`] of each participating lane. The values of other lanes are unspecified.
    pub(super) values: &'a [u64; LANES as usize],
}

/// Replays the events of a warp's lanes, and removes them. The lanes in the mask `open` will have further events, which
/// are still unknown. Events whose order depends on the unknown events are kept.
pub(super) fn replay(
    lanes: &mut [Lane; LANES as usize],
    open: u32,
    flow: &mut Flow,
    sites: &Sites,
    each: &mut impl FnMut(Step<'_>),
) {
    let present = (0..LANES).filter(|&lane| !lanes[lane as usize].events.is_empty()).map(|lane| 1 << lane).sum();
    let Some(first) = bits(present).next() else { return };
    for lane in bits(present) {
        // If several lanes have the same events, one is enough.
        if lane == first || !is_alike(&lanes[lane], &lanes[first]) {
            note(&mut lanes[lane], flow, sites);
        }
    }
    let is_uniform = open & !present == 0 && bits(present).all(|lane| is_alike(&lanes[lane], &lanes[first]));
    if is_uniform {
        replay_uniform(lanes, present, sites, each);
    } else {
        settle(flow, sites);
        Replay::new(lanes, present, flow, sites).run(open, each);
    }
}

/// Returns true if two lanes started at the same node and visited the same nodes.
fn is_alike(a: &Lane, b: &Lane) -> bool {
    a.from == b.from
        && a.iterations == b.iterations
        && a.events.len() == b.events.len()
        && a.events.iter().zip(&b.events).all(|(a, b)| a.node == b.node)
}

/// Adds the steps of a lane to the flow.
fn note(lane: &mut Lane, flow: &mut Flow, sites: &Sites) {
    let (known, new) = lane.events.split_at(lane.noted);
    let mut from = known.last().map_or(lane.from, |event| sites.after(event.node, event.value));
    lane.noted = lane.events.len();
    for event in new {
        flow.note(from, event.node);
        from = sites.after(event.node, event.value);
        if from != event.node {
            flow.note(event.node, from);
        }
    }
}

/// Replays lanes that all visited the same nodes.
fn replay_uniform(lanes: &mut [Lane; LANES as usize], present: u32, sites: &Sites, each: &mut impl FnMut(Step<'_>)) {
    let mut values = [0; LANES as usize];
    let first = present.trailing_zeros() as usize % lanes.len();
    for index in 0..lanes[first].events.len() {
        for lane in bits(present) {
            values[lane] = lanes[lane].events[index].value;
        }
        each(Step { node: lanes[first].events[index].node, lanes: present, values: &values });
    }
    for lane in bits(present) {
        if let Some(&Event { node, value }) = lanes[lane].events.last() {
            lanes[lane].restart(sites.after(node, value));
        }
    }
}

/// The replay of the lanes of a diverged warp.
struct Replay<'a> {
    lanes: &'a mut [Lane; LANES as usize],
    flow: &'a Flow,
    sites: &'a Sites,
    /// The mask of the lanes that still have events.
    ready: u32,
    /// The index of each lane's next event.
    next: [usize; LANES as usize],
    /// The id of each lane's next event.
    ids: [EventId; LANES as usize],
    /// The id of each lane's last event so far.
    last: [EventId; LANES as usize],
}

impl<'a> Replay<'a> {
    fn new(lanes: &'a mut [Lane; LANES as usize], ready: u32, flow: &'a Flow, sites: &'a Sites) -> Self {
        let mut ids = [EventId::ZERO; LANES as usize];
        for lane in bits(ready) {
            let Lane { events, from, iterations, .. } = &lanes[lane];
            ids[lane] = flow.advance(flow.id(*from, iterations), *from, events[0].node);
        }
        Self { lanes, flow, sites, ready, next: [0; LANES as usize], ids, last: ids }
    }

    fn run(mut self, open: u32, each: &mut impl FnMut(Step<'_>)) {
        let present = self.ready;
        // The replay ends when an open lane has no events left, because its next node is unknown.
        while self.ready != 0 && open & !self.ready == 0 {
            let (group, later) = self.earliest();
            self.run_group(group, later, each);
        }
        for lane in bits(present) {
            let done = self.next[lane];
            let Some(&Event { node, value }) = self.lanes[lane].events[..done].last() else { continue };
            let from = self.sites.after(node, value);
            let iterations = self.flow.iterations(from, self.leave(self.last[lane], node, from));
            self.lanes[lane].forget(done);
            (self.lanes[lane].from, self.lanes[lane].iterations) = (from, iterations);
        }
    }

    /// Returns the lanes whose next event has the smallest id, and the smallest id of the other lanes.
    fn earliest(&self) -> (u32, Option<EventId>) {
        let (mut group, mut least, mut later) = (0, None, None);
        for lane in bits(self.ready) {
            let id = self.ids[lane];
            match least.map_or(Ordering::Less, |least| id.cmp(&least)) {
                Ordering::Less => (later, least, group) = (least, Some(id), 1 << lane),
                Ordering::Equal => group |= 1 << lane,
                Ordering::Greater if later.is_none_or(|later| id < later) => later = Some(id),
                Ordering::Greater => {}
            }
        }
        (group, later)
    }

    /// Replays the lanes of `group`, whose next events have the same id. Stops when the lanes diverge, when one of them
    /// has no event left, or when their id reaches `later`.
    fn run_group(&mut self, group: u32, later: Option<EventId>, each: &mut impl FnMut(Step<'_>)) {
        let first = group.trailing_zeros() as usize % self.next.len();
        let mut id = self.ids[first];
        let mut values = [0; LANES as usize];
        loop {
            let node = self.lanes[first].events[self.next[first]].node;
            let mut is_together = true;
            let mut before = None;
            for lane in bits(group) {
                let events = &self.lanes[lane].events;
                let value = events[self.next[lane]].value;
                values[lane] = value;
                self.next[lane] += 1;
                let edge = (self.sites.after(node, value), events.get(self.next[lane]).map(|event| event.node));
                is_together &= *before.get_or_insert(edge) == edge && edge.1.is_some();
            }
            each(Step { node, lanes: group, values: &values });
            let now = id;
            if let (true, Some((after, Some(to)))) = (is_together, before) {
                id = self.step(id, node, after, to);
                if later.is_none_or(|later| id < later) {
                    continue;
                }
                bits(group).for_each(|lane| (self.ids[lane], self.last[lane]) = (id, now));
                return;
            }
            // Remembers the ids of two paths, because most lanes take one of two paths.
            let mut known = [None; 2];
            for lane in bits(group) {
                self.last[lane] = now;
                let after = self.sites.after(node, values[lane]);
                let Some(event) = self.lanes[lane].events.get(self.next[lane]) else {
                    self.ready &= !(1 << lane);
                    continue;
                };
                let edge = (after, event.node);
                let found = known.into_iter().flatten().find(|(other, _)| *other == edge);
                self.ids[lane] = found.map_or_else(
                    || {
                        let id = self.step(now, node, after, event.node);
                        known = [Some((edge, id)), known[0]];
                        id
                    },
                    |(_, id)| id,
                );
            }
            return;
        }
    }

    /// Returns the id of a lane's event at `to`. The event follows the lane's event at `node`, whose id is `id`.
    /// Between the two events, the lane is at the node `after`.
    fn step(&self, id: EventId, node: Node, after: Node, to: Node) -> EventId {
        self.flow.advance(self.leave(id, node, after), after, to)
    }

    /// Returns the id of a lane after the event `id` at `node`. The node `after` stands for the event's outcome.
    fn leave(&self, id: EventId, node: Node, after: Node) -> EventId {
        if after == node { id } else { self.flow.advance(id, node, after) }
    }
}
