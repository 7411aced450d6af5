//! Weak memory: the outcomes of small programs are those that PTX's memory model allows, and all of them.
//!
//! The simulator explores load buffering in part: the tests name the shapes of which it reaches all outcomes.

mod load_buffering;
mod oracle;
mod program;

use std::collections::BTreeSet;

use program::Op::{self, Add, Exchange, Fence, Load, Store};
use program::Order::{Relaxed, Synchronising};
use program::Strength::{AcquireRelease, Sequential};
use program::{Order, Outcome, Program};
use simt::memory::Scope;
use simt::memory::Scope::{Block, Device, System};

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// The fences between the two accesses of a thread.
const FENCES: [Option<Op>; 7] = [
    None,
    Some(Fence(AcquireRelease, Block)),
    Some(Fence(AcquireRelease, Device)),
    Some(Fence(AcquireRelease, System)),
    Some(Fence(Sequential, Block)),
    Some(Fence(Sequential, Device)),
    Some(Fence(Sequential, System)),
];

/// Explores `program` and compares its outcomes with those of the model. Returns the allowed outcomes, and those that
/// the thorough search has reached.
#[track_caller]
fn explore(program: &Program) -> (oracle::Allowed, BTreeSet<Outcome>) {
    let allowed = oracle::allowed(program);
    let (hostile, all) = program.explore();
    if let Some(forbidden) = hostile.union(&all).find(|outcome| !allowed.all.contains(outcome)) {
        panic!("{program:?} has the forbidden outcome {forbidden:?}");
    }
    if let Some(missing) = allowed.in_order.difference(&all).next() {
        panic!("{program:?} never has the outcome {missing:?}, but {all:?}");
    }
    (allowed, all)
}

/// Checks that the search reaches the outcomes of `program` in which no load reads a later store, and none that the
/// model forbids. Returns the allowed outcomes.
#[track_caller]
fn check(program: &Program) -> oracle::Allowed {
    explore(program).0
}

/// Returns a program with one thread for each list of operations, in one block or each in its own block.
fn program(threads: &[Vec<Op>], is_one_block: bool) -> Program {
    let block = |thread: usize| if is_one_block { 0 } else { thread as u32 };
    Program { threads: threads.iter().enumerate().map(|(thread, ops)| (block(thread), ops.clone())).collect() }
}

fn load(location: usize) -> Op {
    Load(location, Relaxed, Device)
}

fn store(location: usize, value: u32) -> Op {
    Store(location, value, Relaxed, Device)
}

/// Returns the operations of a thread: two accesses with a fence between them, if any.
fn fenced(first: Op, fence: Option<Op>, second: Op) -> Vec<Op> {
    [Some(first), fence, Some(second)].into_iter().flatten().collect()
}

/// Checks a shape of two threads with two accesses each, with fences of each scope and strength.
#[track_caller]
fn check_pair(first: [Op; 2], second: [Op; 2]) {
    for (i, &left) in FENCES.iter().enumerate() {
        // A fence for the system orders what one for the device orders.
        let others = FENCES.iter().skip(if i == 3 || i == 6 { i } else { 0 });
        for &right in others.take(if i == 3 || i == 6 { 1 } else { 7 }) {
            for is_one_block in [true, false] {
                let threads = [fenced(first[0], left, first[1]), fenced(second[0], right, second[1])];
                check(&program(&threads, is_one_block));
            }
        }
    }
}

#[test]
fn message_passing() {
    check_pair([store(X, 1), store(Y, 1)], [load(Y), load(X)]);
}

#[test]
fn store_buffering() {
    check_pair([store(X, 1), load(Y)], [store(Y, 1), load(X)]);
}

#[test]
fn read_after_write_of_two_stores() {
    check_pair([store(X, 1), store(Y, 1)], [store(Y, 2), load(X)]);
}

#[test]
fn store_after_a_message() {
    check_pair([store(X, 2), store(Y, 1)], [load(Y), store(X, 1)]);
}

#[test]
fn two_plus_two_writes() {
    check_pair([store(X, 1), store(Y, 2)], [store(Y, 1), store(X, 2)]);
}

#[test]
fn releases_and_acquires() {
    for (releases, acquires) in [(true, true), (true, false), (false, true)] {
        let order = |is_strong: bool| if is_strong { Synchronising } else { Relaxed };
        for is_one_block in [true, false] {
            for scope in [Block, Device, System] {
                // An atomic of block scope races with other blocks.
                if scope == Block && !is_one_block {
                    continue;
                }
                let set = |at, value| Store(at, value, order(releases), scope);
                let get = |at| Load(at, order(acquires), scope);
                let shapes: [[Vec<Op>; 2]; 4] = [
                    [vec![store(X, 1), set(Y, 1)], vec![get(Y), load(X)]],
                    [vec![set(X, 1), get(Y)], vec![set(Y, 1), get(X)]],
                    [vec![set(X, 1), set(Y, 2)], vec![set(Y, 1), set(X, 2)]],
                    [vec![store(X, 2), set(Y, 1)], vec![get(Y), set(X, 1)]],
                ];
                for threads in shapes {
                    check(&program(&threads, is_one_block));
                }
            }
        }
    }
}

#[test]
fn coherence() {
    let threads: [&[Vec<Op>]; 6] = [
        // CoRR, CoWR, CoRW, CoWW, and two readers that must agree.
        &[vec![store(X, 1)], vec![load(X), load(X)]],
        &[vec![store(X, 1)], vec![store(X, 2), load(X)]],
        &[vec![store(X, 1)], vec![load(X), store(X, 2)]],
        &[vec![store(X, 1), store(X, 2)], vec![load(X), load(X)]],
        &[vec![store(X, 1)], vec![store(X, 2)], vec![load(X), load(X)], vec![load(X), load(X)]],
        &[vec![load(X), store(X, 1)], vec![load(X), store(X, 2)]],
    ];
    for threads in threads {
        for is_one_block in [true, false] {
            check(&program(threads, is_one_block));
        }
    }
}

#[test]
fn independent_reads_of_independent_writes() {
    let fences = [None, Some(Fence(AcquireRelease, Device)), Some(Fence(Sequential, Device))];
    for (left, right) in [(0, 0), (1, 1), (2, 2), (1, 2)] {
        let readers = [fenced(load(X), fences[left], load(Y)), fenced(load(Y), fences[right], load(X))];
        let threads = [vec![store(X, 1)], vec![store(Y, 1)], readers[0].clone(), readers[1].clone()];
        let allowed = check(&program(&threads, false));
        let is_split = allowed.all.iter().any(|outcome| outcome.registers == [1, 0, 1, 0]);
        assert_eq!(is_split, (left, right) != (2, 2));
    }
    let blocks = |fence| Program {
        threads: vec![
            (0, vec![store(X, 1)]),
            (1, vec![store(Y, 1)]),
            (0, fenced(load(X), fence, load(Y))),
            (1, fenced(load(Y), fence, load(X))),
        ],
    };
    for fence in [Fence(Sequential, Block), Fence(Sequential, Device)] {
        check(&blocks(Some(fence)));
    }
}

#[test]
fn chains_of_messages() {
    let set = |at, order| Store(at, 1, order, Device);
    let get = |at, order| Load(at, order, Device);
    let both = [Relaxed, Synchronising];
    for first in both {
        for second in both {
            for third in both {
                // WRC: a message that a thread passes on; ISA2: two messages in a row.
                let passed_on =
                    [vec![set(X, Relaxed)], vec![get(X, first), set(Y, second)], vec![get(Y, third), load(X)]];
                check(&program(&passed_on, false));
                let in_a_row = [
                    vec![store(X, 1), set(Y, first)],
                    vec![get(Y, second), set(Z, second)],
                    vec![get(Z, third), load(X)],
                ];
                check(&program(&in_a_row, false));
            }
        }
    }
}

#[test]
fn updates() {
    let add = |at| Add(at, 1, Device);
    let swap = |at, value| Exchange(at, value, Device);
    let fence = Fence(Sequential, Device);
    let release = |at| Store(at, 1, Synchronising, Device);
    let acquire = |at| Load(at, Synchronising, Device);
    let threads: [&[Vec<Op>]; 7] = [
        &[vec![add(X)], vec![add(X)], vec![load(X)]],
        &[vec![add(X), load(Y)], vec![add(Y), load(X)]],
        &[vec![add(X), fence, load(Y)], vec![add(Y), fence, load(X)]],
        &[vec![store(X, 5)], vec![swap(X, 6)], vec![add(X)]],
        // A release sequence goes through an update, and not through a store.
        &[vec![store(X, 1), release(Y)], vec![add(Y)], vec![acquire(Y), load(X)]],
        &[vec![store(X, 1), release(Y)], vec![store(Y, 2)], vec![acquire(Y), load(X)]],
        &[vec![store(X, 1), release(Y), store(Y, 2)], vec![acquire(Y), load(X)]],
    ];
    for threads in threads {
        check(&program(threads, false));
    }
}

#[test]
fn reads_of_several_words_before_an_acquire_or_a_fence() {
    let release = |at| Store(at, 1, Synchronising, Device);
    let acquire = |at| Load(at, Synchronising, Device);
    let fence = Fence(AcquireRelease, Device);
    let message = vec![store(Z, 1), release(X)];
    let forbids = |threads: &[Vec<Op>], registers: &[u32]| {
        let allowed = check(&program(threads, false));
        let other: Vec<u32> = [&registers[..registers.len() - 1], &[1]].concat();
        let has = |registers: &[u32]| allowed.all.iter().any(|outcome| outcome.registers == *registers);
        assert!(has(&other) && !has(registers), "{threads:?}");
    };
    // The fence acquires what each of two relaxed loads has read.
    forbids(&[message.clone(), vec![release(Y)], vec![load(X), load(Y), fence, load(Z)]], &[1, 1, 0]);
    // The acquiring load reads a store that is in no release sequence, after a relaxed load that has read the message.
    forbids(&[message.clone(), vec![store(X, 2)], vec![load(X), acquire(X), load(Z)]], &[1, 2, 0]);
    let overwritten = [message.clone(), vec![store(X, 2)], vec![load(X), load(X), acquire(X), load(Z)]];
    forbids(&overwritten, &[1, 2, 2, 0]);
    // A read of another message comes between the two loads.
    let message_and_other = vec![store(Z, 1), release(X), release(Y)];
    let between = [message_and_other, vec![store(X, 2)], vec![load(X), load(Y), acquire(X), load(Z)]];
    forbids(&between, &[1, 0, 2, 0]);
    forbids(&between, &[1, 1, 2, 0]);
}

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % end
    }

    fn order(&mut self) -> Order {
        [Relaxed, Relaxed, Synchronising][self.below(3)]
    }

    fn op(&mut self, value: u32, scopes: &[Scope]) -> Op {
        let scope = scopes[self.below(scopes.len())];
        match self.below(16) {
            0..6 => Load(self.below(2), self.order(), scope),
            6..11 => Store(self.below(2), value, self.order(), scope),
            11 => Add(self.below(2), 10 * value, scope),
            12 => Exchange(self.below(2), value, scope),
            13 => Fence(AcquireRelease, [Block, Device][self.below(2)]),
            _ => Fence(Sequential, [Block, Device, Device][self.below(3)]),
        }
    }

    /// Returns a program of two or three threads with seven operations in total.
    fn program(&mut self) -> Program {
        let blocks: &[u32] = [&[0, 0][..], &[0, 1], &[0, 1, 2], &[0, 0, 1]][self.below(4)];
        let scopes = if blocks.contains(&1) { &[Device, System][..] } else { &[Block, Device] };
        let ops = if blocks.len() == 2 { [4, 3, 0] } else { [2, 2, 3] };
        let mut value = 0;
        let mut thread = |(&block, count)| {
            let mut op = || {
                value += 1;
                self.op(value, scopes)
            };
            (block, (0..count).map(|_| op()).collect())
        };
        Program { threads: blocks.iter().zip(ops).map(&mut thread).collect() }
    }
}

fn check_random(seed: u64, count: usize) {
    let mut random = Random(seed);
    for _ in 0..count {
        check(&random.program());
    }
}

#[test]
fn random_programs() {
    check_random(0x1234_5678_9abc_def1, 300);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs() {
    for seed in 1..200 {
        check_random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15), 300);
    }
}
