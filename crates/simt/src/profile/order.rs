//! The order of a kernel's places, and its loops, from the steps that lanes have made.

use std::collections::VecDeque;

use super::flow::{DEPTH, Flow, Loop};
use super::site::{Node, START, Sites};

/// Gives each place of the flow its position and its loops, if the flow has changed.
pub(super) fn settle(flow: &mut Flow, sites: &Sites) {
    if !flow.unsettle(sites.len()) {
        return;
    }
    let count = flow.places.len();
    let mut predecessors = vec![Vec::new(); count];
    for (from, place) in (START..).zip(&flow.places) {
        place.successors.iter().for_each(|edge| predecessors[edge.to as usize].push(from));
    }
    let (members, cuts) = (vec![0; count], Vec::new());
    let mut sorter = Sorter { sites, members, predecessors, parts: 0, position: 0, cuts };
    let all: Vec<Node> = (START..count as Node).collect();
    sorter.sort(flow, &all, &mut Vec::new());
}

/// Puts the places of a flow in order.
pub(super) struct Sorter<'a> {
    pub(super) sites: &'a Sites,
    /// For each node the number of the last part that it was found to be in.
    pub(super) members: Vec<u32>,
    pub(super) predecessors: Vec<Vec<Node>>,
    parts: u32,
    position: u32,
    /// The edges cut so far.
    cuts: Vec<(Node, Node)>,
}

impl Sorter<'_> {
    /// Gives positions to `nodes`, which the loops `around` have in common.
    fn sort(&mut self, flow: &mut Flow, nodes: &[Node], around: &mut Vec<u32>) {
        let mut parts: VecDeque<Vec<Node>> = components(flow, nodes).into();
        while let Some(part) = parts.pop_front() {
            if part.len() > 1 || flow.places[part[0] as usize].leads_to(part[0]) {
                let head = self.head(&part);
                let ways_out = self.ways_out(flow, &part, head, &mut parts);
                self.sort_loop(flow, &part, head, &ways_out, around);
            } else {
                let place = &mut flow.places[part[0] as usize];
                place.position = self.position;
                place.loops.clone_from(around);
                self.position += 1;
            }
        }
    }

    /// Gives positions to the loop `part` and the ways out of it.
    fn sort_loop(&mut self, flow: &mut Flow, part: &[Node], head: Node, ways_out: &[Node], around: &mut Vec<u32>) {
        let all = [part, ways_out].concat();
        let depth = around.len().min(DEPTH - 1) as u8;
        let entries = self.entries(part);
        let mut backs = self.inside(flow, part, |from, to| {
            // Of a loop that is entered at several places, what leads back in the source begins it again.
            if entries.len() > 1 { entries.contains(&to) && !self.sites.is_before(from, to) } else { to == head }
        });
        if backs.is_empty() {
            backs = self.inside(flow, part, |_, to| to == head);
        }
        let start = (self.position, flow.loops.len(), self.cuts.len());
        self.sort_body(flow, &all, &backs, (head, depth), around);
        // What leads on in the loop as well as back to its head begins a loop inside of it, with the same head.
        let going_on: Vec<Node> = self.inside(flow, part, |_, _| true).into_iter().map(|(from, _)| from).collect();
        let outer: Vec<_> = backs.iter().copied().filter(|(from, _)| !going_on.contains(from)).collect();
        if entries.len() <= 1 && !outer.is_empty() && outer.len() < backs.len() {
            (self.position, _, _) = start;
            flow.loops.truncate(start.1);
            for (from, to) in self.cuts.drain(start.2..) {
                flow.places[from as usize].repeat(to, None);
            }
            self.sort_body(flow, &all, &outer, (head, depth), around);
        }
    }

    /// Gives positions to the loop `part`, which `backs` begin again.
    fn sort_body(
        &mut self,
        flow: &mut Flow,
        part: &[Node],
        backs: &[(Node, Node)],
        (head, depth): (Node, u8),
        around: &mut Vec<u32>,
    ) {
        for &(from, to) in backs {
            flow.places[from as usize].repeat(to, Some(depth));
        }
        self.cuts.extend(backs);
        let is_told_apart = around.len() < DEPTH;
        if is_told_apart {
            around.push(flow.loops.len() as u32);
            flow.loops.push(Loop { position: self.position, head });
        }
        self.sort(flow, part, around);
        if is_told_apart {
            around.pop();
        }
    }

    /// The edges between nodes of `part` that are not cut and that `is_it` is true of.
    fn inside(&mut self, flow: &Flow, part: &[Node], is_it: impl Fn(Node, Node) -> bool) -> Vec<(Node, Node)> {
        let number = self.number(part);
        let edges = part.iter().flat_map(|&from| {
            let edges = flow.places[from as usize].successors.iter().filter(|edge| edge.repeats.is_none());
            edges.map(move |edge| (from, edge.to))
        });
        edges.filter(|&(from, to)| self.members[to as usize] == number && is_it(from, to)).collect()
    }

    /// Where `part` is come to from elsewhere.
    fn entries(&mut self, part: &[Node]) -> Vec<Node> {
        let number = self.number(part);
        let is_inside = |node: Node| self.members[node as usize] == number;
        let is_entry = |&node: &Node| !self.predecessors[node as usize].iter().all(|&from| is_inside(from));
        part.iter().copied().filter(is_entry).collect()
    }

    /// Marks the nodes of `part` with a number of their own.
    pub(super) fn number(&mut self, part: &[Node]) -> u32 {
        self.parts += 1;
        part.iter().for_each(|&node| self.members[node as usize] = self.parts);
        self.parts
    }

    /// Where the loop `part` begins: where it is entered, of several places the first in the source.
    fn head(&mut self, part: &[Node]) -> Node {
        let entries = self.entries(part);
        let first = entries.into_iter().reduce(|a, b| if self.sites.is_before(b, a) { b } else { a });
        first.unwrap_or(part[0])
    }
}

/// The strongly connected components of `nodes`, by the edges that are not cut, in topological order.
/// (R. Tarjan, *Depth-first search and linear graph algorithms*, 1972; without recursion, as kernels have small
/// stacks.)
fn components(flow: &Flow, nodes: &[Node]) -> Vec<Vec<Node>> {
    const NEW: u32 = u32::MAX;
    const OUTSIDE: u32 = u32::MAX - 1;
    let mut index = vec![OUTSIDE; flow.places.len()];
    nodes.iter().for_each(|&node| index[node as usize] = NEW);
    let mut low = vec![0; flow.places.len()];
    let mut is_open = vec![false; flow.places.len()];
    let (mut open, mut path, mut parts) = (Vec::new(), Vec::<(Node, usize)>::new(), Vec::new());
    let mut count = 0;
    for &root in nodes {
        if index[root as usize] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((node, next)) = path.pop() {
            let at = node as usize;
            if next == 0 {
                (index[at], low[at], is_open[at]) = (count, count, true);
                count += 1;
                open.push(node);
            }
            match flow.places[at].successors.get(next) {
                Some(edge) => {
                    path.push((node, next + 1));
                    let to = edge.to as usize;
                    if edge.repeats.is_none() && index[to] == NEW {
                        path.push((edge.to, 0));
                    } else if edge.repeats.is_none() && index[to] != OUTSIDE && is_open[to] {
                        low[at] = low[at].min(index[to]);
                    }
                }
                None => {
                    if let Some(&(parent, _)) = path.last() {
                        low[parent as usize] = low[parent as usize].min(low[at]);
                    }
                    if low[at] == index[at] {
                        let first = open.iter().rposition(|&other| other == node).unwrap_or_default();
                        let part = open.split_off(first);
                        part.iter().for_each(|&node| is_open[node as usize] = false);
                        parts.push(part);
                    }
                }
            }
        }
    }
    parts.reverse();
    parts
}
