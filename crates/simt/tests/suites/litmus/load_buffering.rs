//! Load buffering: a load reads a store that is executed later.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::program::Op::{Fence, Load, Store};
use super::program::Order::{Relaxed, Synchronising};
use super::program::Strength::{AcquireRelease, Sequential};
use super::program::{Op, Outcome, Program};
use super::{FENCES, X, Y, Z, explore, fenced, load, program, store};
use crate::common::races::checked;
use crate::common::{Array, KERNEL};
use simt::memory;
use simt::memory::Scope::Device;
use simt::{Fault, LaunchConfig, Search, Simulator, thread};

/// Checks that the search reaches exactly the outcomes of `program` that the model allows. Returns these.
#[track_caller]
fn check_all(program: &Program) -> BTreeSet<Outcome> {
    let (allowed, all) = explore(program);
    if let Some(missing) = allowed.all.difference(&all).next() {
        panic!("{program:?} never has the outcome {missing:?}, but {all:?}");
    }
    all
}

#[test]
fn load_buffering() {
    for left in FENCES {
        for right in FENCES {
            for is_one_block in [true, false] {
                let threads = [fenced(load(X), left, store(Y, 1)), fenced(load(Y), right, store(X, 1))];
                let all = check_all(&program(&threads, is_one_block));
                let is_buffered = all.iter().any(|outcome| outcome.registers == [1, 1]);
                assert!(is_buffered || (left.is_some() && right.is_some()), "{left:?} {right:?}");
            }
        }
    }
}

#[test]
fn load_buffering_with_releases_and_acquires() {
    let orders = [Relaxed, Synchronising];
    for [first, second, third, fourth] in products([orders; 4]) {
        for is_one_block in [true, false] {
            let get = |at, order| Load(at, order, Device);
            let set = |at, order| Store(at, 1, order, Device);
            let threads = [vec![get(X, first), set(Y, second)], vec![get(Y, third), set(X, fourth)]];
            check_all(&program(&threads, is_one_block));
        }
    }
}

/// Returns every array with one element of each list.
fn products<T: Copy>(lists: [[T; 2]; 4]) -> Vec<[T; 4]> {
    (0..16).map(|bits| std::array::from_fn(|i| lists[i][bits >> i & 1])).collect()
}

#[test]
fn load_buffering_in_a_ring() {
    let fences = [None, Some(Fence(AcquireRelease, Device)), Some(Fence(Sequential, Device))];
    for [first, second, third] in [[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1], [2, 2, 0], [2, 1, 2]] {
        let threads = [
            fenced(load(X), fences[first], store(Y, 1)),
            fenced(load(Y), fences[second], store(Z, 1)),
            fenced(load(Z), fences[third], store(X, 1)),
        ];
        let all = check_all(&program(&threads, false));
        let is_buffered = all.iter().any(|outcome| outcome.registers == [1, 1, 1]);
        assert_eq!(is_buffered, [first, second, third].contains(&0));
    }
}

#[test]
fn load_buffering_beside_other_accesses() {
    let fence = Fence(AcquireRelease, Device);
    let threads: [&[Vec<Op>]; 5] = [
        // A fence before both accesses, and one between them in the other thread.
        &[vec![fence, load(Y), store(X, 1)], vec![load(X), fence, store(Y, 1)]],
        // Each load sees its own thread's store only if that comes first.
        &[vec![load(X), store(X, 1), store(Y, 1)], vec![load(Y), store(X, 2)]],
        &[vec![store(X, 3), load(X), store(Y, 1)], vec![load(Y), store(X, 1)]],
        &[vec![load(X), load(X), store(Y, 1)], vec![load(Y), store(X, 1)]],
        &[vec![load(X), store(Y, 1)], vec![load(Y), store(X, 1), store(X, 2)]],
    ];
    for threads in threads {
        check_all(&program(threads, false));
    }
}

/// Returns the value that a thread stores after it has loaded a value.
type Stores = fn(u32) -> Option<u32>;

/// Returns all pairs of values that the two threads of a program read in a thorough check. Each thread loads a word and
/// then calls its function with the value, which returns the value that it stores to the other word, if any.
fn dependent(threads: [Stores; 2]) -> BTreeSet<[u32; 2]> {
    let run = |simulator: Simulator| {
        let words = Array::filled(2, 0_u32);
        let found = Mutex::new([0; 2]);
        simulator.launch(&KERNEL, LaunchConfig::new(2, 1), || {
            let me = thread::block_idx().x as usize;
            // SAFETY: both words are in the array.
            let value = unsafe { memory::load_scoped(words.at(me), false, Device) };
            if let Some(value) = threads[me](value) {
                // SAFETY: both words are in the array.
                unsafe { memory::store_scoped(words.at(1 - me), value, false, Device) };
            }
            found.lock().unwrap()[me] = value;
        })?;
        Ok::<_, Fault>(found.into_inner().unwrap())
    };
    let (mut search, simulator, mut all) = (Search::new(), checked(), BTreeSet::new());
    while let Some((_, found)) = search.try_once(&simulator, run) {
        all.extend(found.map(Result::unwrap));
    }
    assert!(search.has_tried_all_choices());
    all
}

#[test]
fn no_value_comes_out_of_thin_air() {
    let (copy, same): (Stores, Stores) = (Some, |_| Some(1));
    let if_set: Stores = |value| (value == 1).then_some(1);
    let other: Stores = |value| if value == 1 { None } else { Some(1) };
    for threads in [[copy, copy], [if_set, if_set]] {
        assert!(dependent(threads).iter().all(|found| found.iter().all(|&value| value == 0)));
    }
    // In these programs, the second store needs the value 0.
    for threads in [[copy, other], [same, other]] {
        assert!(!dependent(threads).contains(&[1, 1]));
    }
    // One store does not depend on the load before it, and this is enough for load buffering.
    for threads in [[copy, same], [same, if_set], [same, same]] {
        assert!(dependent(threads).contains(&[1, 1]));
    }
}
