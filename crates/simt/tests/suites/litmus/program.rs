//! Small programs of atomic accesses and fences, and their runs in the simulator.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Mutex;

use crate::common::races::checked;
use crate::common::{Array, KERNEL};
use simt::memory::{self, Scope};
use simt::{Fault, LaunchConfig, Schedule, Search, Simulator, thread};

/// The order of a load or store: relaxed, or an acquiring load and a releasing store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Relaxed,
    Synchronising,
}

/// The strength of a fence: `fence.acq_rel` or `fence.sc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    AcquireRelease,
    Sequential,
}

/// An operation of a thread. Its first number is a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Load(usize, Order, Scope),
    Store(usize, u32, Order, Scope),
    Add(usize, u32, Scope),
    Exchange(usize, u32, Scope),
    Fence(Strength, Scope),
}

impl Op {
    fn location(self) -> Option<usize> {
        match self {
            Self::Load(location, ..)
            | Self::Store(location, ..)
            | Self::Add(location, ..)
            | Self::Exchange(location, ..) => Some(location),
            Self::Fence(..) => None,
        }
    }

    fn reads(self) -> bool {
        matches!(self, Self::Load(..) | Self::Add(..) | Self::Exchange(..))
    }
}

/// A program: for each thread its block and its operations. All locations are 0 at first.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<(u32, Vec<Op>)>,
}

/// The values that the threads have read, in the order of the program, and the final values of the locations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    pub registers: Vec<u32>,
    pub memory: Vec<u32>,
}

/// Source sites, one for each operation of a thread: a thread reads an older value only once per site.
static SITES: [fn() -> &'static Location<'static>; 6] = [
    || Location::caller(),
    || Location::caller(),
    || Location::caller(),
    || Location::caller(),
    || Location::caller(),
    || Location::caller(),
];

type UpdateAt = fn(*mut u32, Scope, &dyn Fn(u32) -> u32) -> u32;

/// Updates at several source sites.
static UPDATES: [UpdateAt; 4] = [
    // SAFETY: `run` passes addresses in a live array.
    |at, scope, f| unsafe { memory::update_scoped(at, scope, f) },
    // SAFETY: `run` passes addresses in a live array.
    |at, scope, f| unsafe { memory::update_scoped(at, scope, f) },
    // SAFETY: `run` passes addresses in a live array.
    |at, scope, f| unsafe { memory::update_scoped(at, scope, f) },
    // SAFETY: `run` passes addresses in a live array.
    |at, scope, f| unsafe { memory::update_scoped(at, scope, f) },
];

impl Program {
    pub fn locations(&self) -> usize {
        let all = self.threads.iter().flat_map(|(_, ops)| ops).filter_map(|op| op.location());
        all.max().map_or(0, |last| last + 1)
    }

    /// Runs the program once in global memory and returns its outcome.
    fn run(&self, simulator: &Simulator) -> Result<Outcome, Fault> {
        let memory = Array::filled(self.locations(), 0_u32);
        let reads: Vec<usize> =
            self.threads.iter().map(|(_, ops)| ops.iter().filter(|op| op.reads()).count()).collect();
        let registers = Mutex::new(vec![0; reads.iter().sum()]);
        let blocks = self.threads.iter().map(|(block, _)| block + 1).max().unwrap_or(1);
        let of_block = |block: u32| (0..self.threads.len()).filter(move |&one| self.threads[one].0 == block);
        let threads = (0..blocks).map(|block| of_block(block).count()).max().unwrap_or(1);
        simulator.launch(&KERNEL, LaunchConfig::new(blocks, threads as u32), || {
            let Some(me) = of_block(thread::block_idx().x).nth(thread::thread_idx().x as usize) else { return };
            let first: usize = reads[..me].iter().sum();
            let values = self.execute(me, &memory);
            registers.lock().unwrap()[first..first + values.len()].copy_from_slice(&values);
        })?;
        Ok(Outcome { registers: registers.into_inner().unwrap(), memory: memory.to_vec() })
    }

    /// Executes the operations of thread `me` and returns the values that it reads.
    fn execute(&self, me: usize, memory: &Array<u32>) -> Vec<u32> {
        let mut values = Vec::new();
        for (site, &op) in self.threads[me].1.iter().enumerate() {
            match op {
                Op::Load(location, order, scope) => {
                    let (at, line) = (memory.at(location), SITES[site]());
                    // SAFETY: `at` is in the array.
                    values.push(unsafe { memory::load_scoped_at(at, order == Order::Synchronising, scope, line) });
                }
                Op::Store(location, value, order, scope) => {
                    let (at, line) = (memory.at(location), SITES[site]());
                    // SAFETY: `at` is in the array.
                    unsafe { memory::store_scoped_at(at, value, order == Order::Synchronising, scope, line) };
                }
                Op::Add(location, value, scope) => {
                    values.push(UPDATES[site](memory.at(location), scope, &|old| old + value));
                }
                Op::Exchange(location, value, scope) => {
                    values.push(UPDATES[site](memory.at(location), scope, &|_| value));
                }
                Op::Fence(Strength::Sequential, scope) => memory::fence_scoped(scope),
                Op::Fence(Strength::AcquireRelease, scope) => memory::fence_acquire_release(scope),
            }
        }
        values
    }

    /// Returns the outcomes of the eight hostile orders and of a thorough exploration, which must try all choices.
    pub fn explore(&self) -> (BTreeSet<Outcome>, BTreeSet<Outcome>) {
        let (mut hostile, mut all) = (BTreeSet::new(), BTreeSet::new());
        let mut search = Search::new();
        let simulator = checked();
        while let Some((schedule, outcome)) = search.try_once(&simulator, |simulator| self.run(&simulator)) {
            let Some(outcome) = outcome else { continue };
            let outcome = outcome.unwrap_or_else(|fault| panic!("{self:?}, {schedule}: {fault}"));
            if Schedule::HOSTILE.contains(&schedule) {
                hostile.insert(outcome.clone());
            }
            all.insert(outcome);
            assert!(search.tried() < 200_000, "{self:?}");
        }
        assert!(search.has_tried_all_choices(), "{self:?}");
        (hostile, all)
    }
}
