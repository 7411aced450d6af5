//! Tests the profiler's replay with random structured programs. A reference machine runs each program in lock-step, and
//! the lanes of its warp reconverge at the end of each branch and loop. The replay must get the same result from the
//! lanes' traces alone.

use std::collections::BTreeMap;
use std::panic::Location;

use super::flow::Flow;
use super::replay::replay;
use super::site::{AccessKind, END, Node, Sites, Step};
use super::trace::{Event, Warp};
use crate::lanes::{LANES, bits};
use crate::region::Space;
use crate::source::Line;

#[track_caller]
fn here() -> Line {
    Location::caller()
}

/// Returns 48 source sites in the order of the source.
#[rustfmt::skip]
fn places() -> [Line; 48] {
    [
        here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(), here(),
    ]
}

/// A statement of a random program.
#[derive(Debug)]
enum Statement {
    Access(Node),
    If {
        at: Node,
        chance: u64,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// A loop of at most `most` iterations whose test the profiler observes.
    While {
        at: Node,
        most: u64,
        body: Vec<Statement>,
    },
    /// A loop of 1 to `most` iterations whose test the profiler does not observe.
    For {
        most: u64,
        body: Vec<Statement>,
    },
    Break,
    Continue,
    Return,
}

/// A generator of pseudo-random numbers, from G. Marsaglia, *Xorshift RNGs*, 2003.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit
    }
}

/// A generator of random programs.
struct Author<'a> {
    numbers: &'a mut Numbers,
    sites: &'a mut Sites,
    places: std::vec::IntoIter<Line>,
    has_returns: bool,
    has_jumps: bool,
}

impl Author<'_> {
    fn node(&mut self, step: Step) -> Option<Node> {
        self.places.next().map(|at| self.sites.node(at, step))
    }

    fn block(&mut self, depth: u64, loops: u64) -> Vec<Statement> {
        let count = 1 + self.numbers.below(3);
        let mut block: Vec<_> = (0..count).filter_map(|_| self.statement(depth, loops)).collect();
        // A jump ends a block.
        if loops > 0 && depth > 1 && self.has_jumps && self.numbers.below(4) == 0 {
            block.push(if self.numbers.below(2) == 0 { Statement::Break } else { Statement::Continue });
        } else if self.has_returns && depth > 0 && self.numbers.below(10) == 0 {
            block.push(Statement::Return);
        }
        block
    }

    fn statement(&mut self, depth: u64, loops: u64) -> Option<Statement> {
        let kind = if depth > 3 { 0 } else { self.numbers.below(8) };
        match kind {
            5 | 6 => {
                let at = self.node(Step::Branch)?;
                let chance = 1 + self.numbers.below(4);
                let then = self.block(depth + 1, loops);
                let otherwise = if self.numbers.below(2) == 0 { self.block(depth + 1, loops) } else { Vec::new() };
                Some(Statement::If { at, chance, then, otherwise })
            }
            7 if self.numbers.below(2) == 0 => {
                let at = self.node(Step::Branch)?;
                let most = 1 + self.numbers.below(4);
                // The body of a branch in a loop is a block of its own, which may jump.
                Some(Statement::While { at, most, body: self.body(depth, loops) })
            }
            7 => {
                let most = 1 + self.numbers.below(4);
                Some(Statement::For { most, body: self.body(depth, loops) })
            }
            _ => {
                let step = Step::Access { space: Space::Global, kind: AccessKind::Load, bytes: 4 };
                self.node(step).map(Statement::Access)
            }
        }
    }

    fn body(&mut self, depth: u64, loops: u64) -> Vec<Statement> {
        let first = self.statement(4, loops);
        let count = 1 + self.numbers.below(2);
        let rest: Vec<_> = (0..count).filter_map(|_| self.statement(depth + 1, loops + 1)).collect();
        first.into_iter().chain(rest).collect()
    }
}

/// The lanes that have left the innermost loop by `break`, and the lanes that have ended an iteration by `continue`.
#[derive(Default)]
struct Waiting {
    broken: u32,
    continued: u32,
}

/// The reference machine, which runs programs in lock-step.
struct Machine<'a> {
    numbers: &'a mut Numbers,
    warp: &'a mut Warp,
    /// The number of times that each set of lanes executed each node together.
    done: BTreeMap<(Node, u32), u32>,
}

impl Machine<'_> {
    fn come(&mut self, node: Node, lanes: u32, taken: u32) {
        if lanes != 0 {
            *self.done.entry((node, lanes)).or_default() += 1;
            for lane in bits(lanes) {
                self.warp.lanes[lane].events.push(Event { node, value: u64::from(taken >> lane & 1) });
            }
        }
    }

    /// Runs `block` and returns the lanes that continue after it.
    fn run(&mut self, block: &[Statement], mut lanes: u32, waiting: &mut Waiting) -> u32 {
        for statement in block {
            match statement {
                Statement::Access(node) => self.come(*node, lanes, 0),
                Statement::If { at, chance, then, otherwise } => {
                    let taken =
                        bits(lanes).filter(|_| self.numbers.below(5) < *chance).map(|lane| 1 << lane).sum::<u32>();
                    self.come(*at, lanes, taken);
                    lanes = self.run(then, taken, waiting) | self.run(otherwise, lanes & !taken, waiting);
                }
                Statement::While { at, most, body } => {
                    let trips: [u64; LANES as usize] = std::array::from_fn(|_| self.numbers.below(most + 1));
                    lanes = self.go_round(Some(*at), &trips, body, lanes);
                }
                Statement::For { most, body } => {
                    let trips: [u64; LANES as usize] = std::array::from_fn(|_| 1 + self.numbers.below(*most));
                    lanes = self.go_round(None, &trips, body, lanes);
                }
                Statement::Break => waiting.broken |= std::mem::take(&mut lanes),
                Statement::Continue => waiting.continued |= std::mem::take(&mut lanes),
                Statement::Return => lanes = 0,
            }
        }
        lanes
    }

    fn go_round(&mut self, at: Option<Node>, trips: &[u64; LANES as usize], body: &[Statement], lanes: u32) -> u32 {
        let (mut inside, mut outside) = (lanes, 0);
        let mut round = 0;
        while inside != 0 {
            let stay = bits(inside).filter(|&lane| round < trips[lane]).map(|lane| 1 << lane).sum();
            if let Some(at) = at {
                self.come(at, inside, stay);
            }
            outside |= inside & !stay;
            let mut waiting = Waiting::default();
            inside = self.run(body, stay, &mut waiting);
            inside |= waiting.continued;
            outside |= waiting.broken;
            round += 1;
        }
        outside
    }
}

/// The kinds of statement that a random program may have besides accesses, branches and loops.
#[derive(Clone, Copy)]
struct Dialect {
    has_returns: bool,
    has_jumps: bool,
}

/// Replays `count` programs and returns how many were replayed correctly. The first `before` warps of each program are
/// not compared.
fn right(count: u64, dialect: Dialect, before: u64) -> u64 {
    (1..=count).filter(|&seed| is_right(seed, dialect, before)).count() as u64
}

fn is_right(seed: u64, Dialect { has_returns, has_jumps }: Dialect, before: u64) -> bool {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut sites = Sites::default();
    let places = Vec::from(places()).into_iter();
    let mut author = Author { numbers: &mut numbers, sites: &mut sites, places, has_returns, has_jumps };
    let program: Vec<_> = (0..4).flat_map(|_| author.block(0, 0)).collect();
    let mut flow = Flow::default();
    let mut is_right = true;
    for number in 0..before + 3 {
        let mut warp = Warp::default();
        let mut machine = Machine { numbers: &mut numbers, warp: &mut warp, done: BTreeMap::new() };
        machine.run(&program, u32::MAX, &mut Waiting::default());
        let expected = machine.done;
        warp.lanes.iter_mut().for_each(|lane| lane.events.push(Event { node: END, value: 0 }));
        let mut found = BTreeMap::new();
        replay(&mut warp.lanes, 0, &mut flow, &sites, &mut |step| {
            if step.node != END {
                *found.entry((step.node, step.lanes)).or_default() += 1;
            }
        });
        is_right &= found == expected || number < before;
    }
    is_right
}

#[test]
fn programs_are_replayed_as_they_ran() {
    for (has_returns, has_jumps) in [(false, false), (true, false), (false, true)] {
        assert_eq!(right(400, Dialect { has_returns, has_jumps }, 20), 400, "{has_returns} {has_jumps}");
    }
}

#[test]
fn the_first_warps_of_most_programs_are_replayed_as_they_ran() {
    for (has_returns, has_jumps) in [(false, false), (true, false), (false, true)] {
        assert!(right(400, Dialect { has_returns, has_jumps }, 0) >= 395, "{has_returns} {has_jumps}");
    }
}

#[test]
fn most_programs_that_jump_and_return_are_replayed_as_they_ran() {
    let both = right(400, Dialect { has_returns: true, has_jumps: true }, 20);
    assert!(both >= 396, "{both}");
}
