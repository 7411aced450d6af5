//! Finds the nodes at which lanes reconverge after they have left a loop in different iterations. A node stands for an
//! access, a branch or a barrier in the source.
//!
//! Lanes that have left a loop wait at the node where all exits of the loop meet. The code from the loop to this node
//! counts as part of a lane's last iteration. An example is the code before the `break` in `if found { …; break; }`.
//! The profiler does not know exits that no lane has taken. If every lane leaves the loop by such a `break`, the
//! profiler assumes that the exits meet directly behind the test.

use std::collections::VecDeque;

use super::flow::{Edge, Flow};
use super::order::Sorter;
use super::site::{END, Node, Step};

/// A loop, and the nodes that come after it in the same enclosing loops.
struct Exits<'a> {
    flow: &'a Flow,
    sorter: &'a Sorter<'a>,
    part: &'a [Node],
    later: Vec<Node>,
    /// The number with which the sorter marks the nodes in `later`.
    number: u32,
}

impl Sorter<'_> {
    /// Removes from `later` the components on the exit paths of a loop, and returns the nodes of these components.
    /// `part` has the loop's nodes, and `head` is the loop's head.
    pub(super) fn exit_nodes(
        &mut self,
        flow: &Flow,
        part: &[Node],
        head: Node,
        later: &mut VecDeque<Vec<Node>>,
    ) -> Vec<Node> {
        let all: Vec<Node> = later.iter().flatten().copied().collect();
        let number = self.number(&all);
        let exits = Exits { flow, sorter: self, part, later: all, number };
        let meeting = exits.regular(head).unwrap_or_else(|| exits.meeting());
        let mut found = part.to_vec();
        later.retain(|part| {
            let comes_from = |from: &Node| found.contains(from) || part.contains(from);
            let is_exit_path = part.iter().all(|&node| {
                Some(node) != meeting && node != END && self.predecessors[node as usize].iter().all(comes_from)
            });
            if is_exit_path {
                found.extend(part);
            }
            !is_exit_path
        });
        found.split_off(part.len())
    }
}

impl Exits<'_> {
    /// Returns the target of `edge` if the target is one of the later nodes in the same enclosing loops. Returns `None`
    /// for the end of the kernel and for the heads of these loops.
    fn target(&self, edge: &Edge) -> Option<Node> {
        let is_later = edge.repeats.is_none() && self.sorter.members[edge.to as usize] == self.number;
        (is_later && edge.to != END).then_some(edge.to)
    }

    fn successors(&self, node: Node) -> &[Edge] {
        &self.flow.nodes[node as usize].successors
    }

    /// Returns the node that lanes reach when the loop's own test ends the loop. Returns `None` if there is not exactly
    /// one such node, and `Some(None)` if [`target`](Self::target) does not find the node. If the simulator observes
    /// the test, the test is the head of the loop, and lanes leave the loop when the test fails. Otherwise lanes leave
    /// from a node that is not a branch.
    #[expect(clippy::option_option, reason = "if it is known, and if it is later in the same enclosing loops")]
    fn regular(&self, head: Node) -> Option<Option<Node>> {
        let step = |node| self.sorter.sites.get(node).map(|site| site.step);
        let mut targets: Vec<Option<Node>> = Vec::new();
        for &node in self.part.iter().filter(|&&node| step(node) != Some(Step::Branch)) {
            let out = self.successors(node).iter().filter(|edge| !self.part.contains(&edge.to));
            targets.extend(out.map(|edge| self.target(edge)));
        }
        if step(head) == Some(Step::Branch) {
            let fails = self.successors(head).iter().find(|edge| edge.to == head + 1);
            targets.extend(fails.filter(|edge| !self.part.contains(&edge.to)).map(|edge| self.target(edge)));
        }
        targets.dedup();
        (targets.len() == 1).then(|| targets[0])
    }

    /// Returns the first node that all exits of the loop reach. If there is no such node, returns the exit target that
    /// comes last in the source.
    fn meeting(&self) -> Option<Node> {
        let mut exits: Vec<Node> = Vec::new();
        for edge in self.part.iter().flat_map(|&node| self.successors(node)) {
            exits.extend(self.target(edge).filter(|to| !exits.contains(to)));
        }
        let mut places = self.later.iter().copied().filter(|&node| node != END);
        places.find(|&node| self.is_passed_by_all(&exits, node)).or_else(|| {
            let placed = exits.into_iter().filter_map(|exit| Some((exit, self.site_near(exit)?)));
            let last = placed.reduce(|a, b| if self.sorter.sites.is_before(b.1, a.1) { a } else { b });
            last.map(|(exit, _)| exit)
        })
    }

    /// Returns true if all paths from `exits` reach `node`.
    fn is_passed_by_all(&self, exits: &[Node], node: Node) -> bool {
        let mut seen: Vec<Node> = exits.iter().copied().filter(|&exit| exit != node).collect();
        let mut next = 0;
        while let Some(&from) = seen.get(next) {
            for edge in self.successors(from) {
                match self.target(edge) {
                    // The edge belongs to a loop among the later nodes.
                    None if edge.repeats.is_none() && seen.contains(&edge.to) => {}
                    None => return false,
                    Some(to) if to == node || seen.contains(&to) => {}
                    Some(to) => seen.push(to),
                }
            }
            next += 1;
        }
        true
    }

    /// Returns `exit` if it is the node of a source site, otherwise a successor of `exit` that is such a node. `exit`
    /// may be one side of a branch, which has no source site.
    fn site_near(&self, exit: Node) -> Option<Node> {
        let has_place = |node: &Node| self.sorter.sites.get(*node).is_some();
        Some(exit).filter(has_place).or_else(|| self.successors(exit).iter().map(|edge| edge.to).find(has_place))
    }
}
