//! Computes the order of a kernel's nodes, and its loops, from the steps that lanes have made.

use std::collections::VecDeque;

use super::flow::{DEPTH, Flow, Loop};
use super::site::{Node, START, Sites};

/// Computes the position and the loops of each node of `flow`, if the flow has changed since the last call.
pub(super) fn settle(flow: &mut Flow, sites: &Sites) {
    if !flow.unsettle(sites.len()) {
        return;
    }
    let count = flow.nodes.len();
    let mut predecessors = vec![Vec::new(); count];
    for (from, node) in (START..).zip(&flow.nodes) {
        node.successors.iter().for_each(|edge| predecessors[edge.to as usize].push(from));
    }
    let (members, cuts) = (vec![0; count], Vec::new());
    let mut sorter = Sorter { sites, members, predecessors, parts: 0, position: 0, cuts };
    let all: Vec<Node> = (START..count as Node).collect();
    sorter.sort(flow, &all, &mut Vec::new());
}

/// The state of `settle` while it orders the nodes of a flow.
pub(super) struct Sorter<'a> {
    pub(super) sites: &'a Sites,
    /// For each node, the number of the last part that contained the node. A part is a set of nodes that `number` has
    /// marked.
    pub(super) members: Vec<u32>,
    pub(super) predecessors: Vec<Vec<Node>>,
    parts: u32,
    position: u32,
    /// The edges found so far that repeat a loop.
    cuts: Vec<(Node, Node)>,
}

impl Sorter<'_> {
    /// Assigns positions to `nodes`, all of which are in the loops `around`.
    fn sort(&mut self, flow: &mut Flow, nodes: &[Node], around: &mut Vec<u32>) {
        let mut parts: VecDeque<Vec<Node>> = components(flow, nodes).into();
        while let Some(part) = parts.pop_front() {
            if part.len() > 1 || flow.nodes[part[0] as usize].leads_to(part[0]) {
                let head = self.head(&part);
                let exit_nodes = self.exit_nodes(flow, &part, head, &mut parts);
                self.sort_loop(flow, &part, head, &exit_nodes, around);
            } else {
                let node = &mut flow.nodes[part[0] as usize];
                node.position = self.position;
                node.loops.clone_from(around);
                self.position += 1;
            }
        }
    }

    /// Assigns positions to the nodes of the loop `part` and then to the nodes `exit_nodes` of its exits. `head` is the
    /// loop's head.
    fn sort_loop(&mut self, flow: &mut Flow, part: &[Node], head: Node, exit_nodes: &[Node], around: &mut Vec<u32>) {
        let all = [part, exit_nodes].concat();
        let depth = around.len().min(DEPTH - 1) as u8;
        let entries = self.entries(part);
        let mut backs = self.inside(flow, part, |from, to| {
            // If a loop has several entries, the edges that lead backwards in the source repeat it.
            if entries.len() > 1 { entries.contains(&to) && !self.sites.is_before(from, to) } else { to == head }
        });
        if backs.is_empty() {
            backs = self.inside(flow, part, |_, to| to == head);
        }
        let start = (self.position, flow.loops.len(), self.cuts.len());
        self.sort_body(flow, &all, &backs, (head, depth), around);
        // A node with an edge to the loop's head and another edge inside the loop forms an inner loop with the same
        // head.
        let continuing: Vec<Node> = self.inside(flow, part, |_, _| true).into_iter().map(|(from, _)| from).collect();
        let outer: Vec<_> = backs.iter().copied().filter(|(from, _)| !continuing.contains(from)).collect();
        if entries.len() <= 1 && !outer.is_empty() && outer.len() < backs.len() {
            (self.position, _, _) = start;
            flow.loops.truncate(start.1);
            for (from, to) in self.cuts.drain(start.2..) {
                flow.nodes[from as usize].repeat(to, None);
            }
            self.sort_body(flow, &all, &outer, (head, depth), around);
        }
    }

    /// Assigns positions to the nodes of the loop `part`. The edges `backs` lead back to the beginning of the loop.
    fn sort_body(
        &mut self,
        flow: &mut Flow,
        part: &[Node],
        backs: &[(Node, Node)],
        (head, depth): (Node, u8),
        around: &mut Vec<u32>,
    ) {
        for &(from, to) in backs {
            flow.nodes[from as usize].repeat(to, Some(depth));
        }
        self.cuts.extend(backs);
        let is_tracked = around.len() < DEPTH;
        if is_tracked {
            around.push(flow.loops.len() as u32);
            flow.loops.push(Loop { position: self.position, head });
        }
        self.sort(flow, part, around);
        if is_tracked {
            around.pop();
        }
    }

    /// Returns the edges between nodes of `part` for which `is_it` returns true. Leaves out the edges that repeat a
    /// loop found so far.
    fn inside(&mut self, flow: &Flow, part: &[Node], is_it: impl Fn(Node, Node) -> bool) -> Vec<(Node, Node)> {
        let number = self.number(part);
        let edges = part.iter().flat_map(|&from| {
            let edges = flow.nodes[from as usize].successors.iter().filter(|edge| edge.repeats.is_none());
            edges.map(move |edge| (from, edge.to))
        });
        edges.filter(|&(from, to)| self.members[to as usize] == number && is_it(from, to)).collect()
    }

    /// Returns the nodes of `part` to which an edge from outside of `part` leads.
    fn entries(&mut self, part: &[Node]) -> Vec<Node> {
        let number = self.number(part);
        let is_inside = |node: Node| self.members[node as usize] == number;
        let is_entry = |&node: &Node| !self.predecessors[node as usize].iter().all(|&from| is_inside(from));
        part.iter().copied().filter(is_entry).collect()
    }

    /// Marks the nodes of `part` with a new number and returns the number.
    pub(super) fn number(&mut self, part: &[Node]) -> u32 {
        self.parts += 1;
        part.iter().for_each(|&node| self.members[node as usize] = self.parts);
        self.parts
    }

    /// Returns the head of the loop `part`: the loop's entry, or of several entries the first in the source.
    fn head(&mut self, part: &[Node]) -> Node {
        let entries = self.entries(part);
        let first = entries.into_iter().reduce(|a, b| if self.sites.is_before(b, a) { b } else { a });
        first.unwrap_or(part[0])
    }
}

/// Returns the strongly connected components of the graph of `nodes`, in topological order. Edges that repeat a loop
/// found so far are ignored. The algorithm is R. Tarjan's (*Depth-first search and linear graph algorithms*, 1972),
/// without recursion, because simulated threads have small stacks.
fn components(flow: &Flow, nodes: &[Node]) -> Vec<Vec<Node>> {
    const NEW: u32 = u32::MAX;
    const OUTSIDE: u32 = u32::MAX - 1;
    let mut index = vec![OUTSIDE; flow.nodes.len()];
    nodes.iter().for_each(|&node| index[node as usize] = NEW);
    let mut low = vec![0; flow.nodes.len()];
    let mut is_open = vec![false; flow.nodes.len()];
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
            match flow.nodes[at].successors.get(next) {
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
