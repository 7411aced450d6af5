//! Searches for a schedule under which a program fails. Each new schedule is derived from the accesses observed under
//! earlier ones.
//!
//! The checker finds a race under any schedule in which both accesses are made. Another schedule therefore reveals more
//! only if an atomic access reads another value, and its thread then behaves differently. The schedules of the search
//! make different threads wait before different atomic accesses. Such a wait is a *hold*.
//!
//! In turn with these, other schedules explore weak memory by choices (see `check::weak`). If all choices have been
//! tried, no execution is left, and the search ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::choices::{ChoicesMade, Deviation, Deviations};
use crate::director::{AccessAddress, Event, RunTrace, Trace, hash};
use crate::holds::{Hold, Holds};
use crate::order::scramble;
use crate::schedule::Schedule;
use crate::simulator::Simulator;

/// The seeds of the natural and the reversed order. The search tries both orders without holds and then with holds.
const BASES: [u64; 2] = [0, 1];
/// The search makes one of every `RANDOM_SHARE` schedules pseudo-random.
const RANDOM_SHARE: usize = 16;
/// The maximum difference between the indices of near blocks. The search tries two holds in near blocks before other
/// pairs.
const NEAR: u32 = 2;
/// The search may hold a thread only before its first `OCCURRENCES` accesses at a source line.
const OCCURRENCES: u32 = 4;
/// The maximum number of choices that wait to be tried.
const MAX_CHOICES: usize = 1 << 17;
/// The maximum number of pairs of a load and a later store that the search tries.
const MAX_PROMISES: usize = 1 << 12;

/// The first launch of a search may make this many slices of synchronising accesses per block during which no block
/// ends.
const FIRST_SLICES: u64 = 1 << 11;
/// Later launches may make this many such slices, plus `SLICES_FACTOR` times as many as the launches that finished.
const LEAST_SLICES: u64 = 1 << 8;
const SLICES_FACTOR: u64 = 16;

/// A search for failing schedules. It begins with the [hostile schedules](Schedule::HOSTILE).
#[derive(Debug, Default)]
pub struct Search {
    /// The number of schedules tried so far.
    tried: usize,
    /// The number of those whose run did not count.
    discarded: usize,
    /// The number of those whose run did not finish.
    unfinished: usize,
    /// The maximum number of slices of synchronising accesses per block during which no block ended, of all runs that
    /// finished.
    slices: u64,
    hostile: usize,
    /// The plans that the search has not tried yet, the most promising first.
    plans: BinaryHeap<Reverse<(u64, u64, Plan)>>,
    /// The choices that the search has not tried yet, those with few deviations first.
    choices: BinaryHeap<Reverse<(usize, u64, Deviations)>>,
    /// True if the search has given up some choices.
    has_lost_choices: bool,
    /// True if threads have communicated by accesses that have no choices.
    has_others: bool,
    /// The number of schedules tried so far that explore weak memory by choices.
    chosen: usize,
    /// The schedules with a promise that were added to `choices`.
    known_promises: HashSet<Deviations>,
    known_plans: HashSet<Plan>,
    known_runs: HashSet<u64>,
    known_features: HashSet<u64>,
    is_begun: bool,
    /// True if, in any run, several threads have accessed an address atomically and at least one has written it.
    has_communication: bool,
}

/// A schedule with holds: the seed of its base order, and the holds in the order in which they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Plan {
    base: u64,
    holds: Holds,
}

impl Search {
    /// Makes a search that has not tried any schedule yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of schedules tried so far whose run counted.
    pub fn tried(&self) -> usize {
        self.tried - self.discarded - self.unfinished
    }

    /// Returns the number of schedules tried so far whose run did not finish: the blocks waited for each other by
    /// updates, and none of them ended for a long time. Under another schedule the same kernel may finish.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// Returns true if the search has tried the [hostile schedules](Schedule::HOSTILE).
    pub fn has_tried_hostile(&self) -> bool {
        self.tried >= Schedule::HOSTILE.len()
    }

    /// Returns the number of schedules tried so far that explore weak memory by choices.
    pub fn tried_choices(&self) -> usize {
        self.chosen
    }

    /// Returns true if the search has tried all choices of weak memory, or if threads do not communicate by atomics.
    pub fn has_tried_all_choices(&self) -> bool {
        (self.is_begun || !self.has_communication) && self.choices.is_empty() && !self.has_lost_choices
    }

    /// Calls `run` with copies of `simulator`, each with the next schedule, until a run counts. Returns the schedule of
    /// this run and the result of `run`, or `None` if the search has no schedule left.
    pub fn try_next<R>(&mut self, simulator: &Simulator, mut run: impl FnMut(Simulator) -> R) -> Option<(Schedule, R)> {
        loop {
            if let (schedule, Some(result)) = self.try_once(simulator, &mut run)? {
                return Some((schedule, result));
            }
        }
    }

    /// Calls `run` with a copy of `simulator` that has the next schedule. Returns the schedule and the result of `run`,
    /// or `None` if the search has no schedule left. There is no result if the run does not count: in such a run a load
    /// has read a store that is executed later, and then the store was not executed, or not in a way that the memory
    /// model allows. There is no result either if the run did not [finish](Self::unfinished), unless no
    /// hostile schedule finished.
    pub fn try_once<R>(
        &mut self,
        simulator: &Simulator,
        run: impl FnOnce(Simulator) -> R,
    ) -> Option<(Schedule, Option<R>)> {
        let (schedule, plan) = self.choose()?;
        let max_slices = if self.tried == 0 { FIRST_SLICES } else { LEAST_SLICES + SLICES_FACTOR * self.slices };
        let trace = Trace::new(max_slices);
        let simulator = simulator.clone().with_schedule(schedule).with_trace(trace.clone());
        let choices = simulator.choices().cloned();
        // The caller may panic because of a value that only a run without a result has.
        let result = catch_unwind(AssertUnwindSafe(|| run(simulator)));
        let trace = trace.take();
        self.tried += 1;
        let mut counts = true;
        if let (Schedule::Chosen(deviations), Some(choices)) = (schedule, choices) {
            let made = choices.record();
            self.has_lost_choices |= trace.is_unfinished;
            self.learn_choices(&deviations, &made);
            counts = !made.is_discarded;
            self.chosen += usize::from(counts && !trace.is_unfinished);
        } else {
            self.learn(plan, &trace);
        }
        if trace.is_unfinished {
            self.unfinished += 1;
        } else {
            self.discarded += usize::from(!counts);
            self.slices = self.slices.max(trace.slices);
        }
        let is_hopeless = self.unfinished == Schedule::HOSTILE.len() && self.tried == self.unfinished;
        let has_result = if trace.is_unfinished { is_hopeless } else { counts };
        let result = has_result.then(|| result.unwrap_or_else(|panic| resume_unwind(panic)));
        Some((schedule, result))
    }

    /// Derives further choices from those that were made with `deviations`.
    fn learn_choices(&mut self, deviations: &Deviations, made: &ChoicesMade) {
        self.has_lost_choices |= made.is_limited;
        self.has_others |= made.has_others;
        let first = deviations.as_slice().last().map_or(0, |last| last.choice as usize + 1);
        if !made.is_redundant {
            for (choice, &options) in made.options.iter().enumerate().skip(first) {
                for option in 1..options {
                    match deviations.with(Deviation { choice: choice as u16, option }) {
                        Some(more) if self.choices.len() < MAX_CHOICES => {
                            self.choices.push(Reverse((more.cost(), scramble(hash(&more)), more)));
                        }
                        _ => self.has_lost_choices = true,
                    }
                }
            }
        }
        // A thread that waits in vain in this run may find a write in a run in which another thread reads a promise.
        for promise in made.promises(deviations) {
            match promise {
                Some(more) if self.known_promises.contains(&more) => {}
                Some(more) if self.known_promises.len() < MAX_PROMISES => {
                    self.known_promises.insert(more);
                    self.choices.push(Reverse((more.cost(), scramble(hash(&more)), more)));
                }
                _ => self.has_lost_choices = true,
            }
        }
        if self.choices.is_empty() && !self.has_lost_choices && !self.has_others {
            // The choices have reached all executions.
            self.plans.clear();
        }
    }

    fn choose(&mut self) -> Option<(Schedule, Plan)> {
        if let Some(&schedule) = Schedule::HOSTILE.get(self.hostile) {
            self.hostile += 1;
            return Some((schedule, Plan { base: schedule.seed(), holds: Holds::default() }));
        }
        if !std::mem::replace(&mut self.is_begun, true) && self.has_communication {
            for base in BASES {
                self.add(Plan { base, holds: Holds::default() }, 0);
            }
            self.choices.push(Reverse((0, 0, Deviations::default())));
        }
        if (self.tried.is_multiple_of(2) || self.plans.is_empty())
            && let Some(Reverse((_, _, deviations))) = self.choices.pop()
        {
            return Some((Schedule::Chosen(deviations), Plan { base: 0, holds: Holds::default() }));
        }
        if self.plans.is_empty() {
            return None;
        }
        if self.tried % RANDOM_SHARE == 1 {
            let seed = self.tried as u64;
            let random = [
                Schedule::Interleaved(seed),
                Schedule::Random(seed),
                Schedule::OneBehind(seed),
                Schedule::EveryAccess(seed),
                Schedule::OneAhead(seed),
                Schedule::BlocksInTurn(seed),
            ];
            let schedule = random[self.tried / RANDOM_SHARE % random.len()];
            return Some((schedule, Plan { base: seed % 2, holds: Holds::default() }));
        }
        let Reverse((_, _, plan)) = self.plans.pop()?;
        Some((Schedule::Held(plan.base, plan.holds), plan))
    }

    fn add(&mut self, plan: Plan, cost: u64) {
        if self.known_plans.insert(plan) {
            self.plans.push(Reverse((cost, scramble(hash(&plan)), plan)));
        }
    }

    /// Derives further plans from the atomic accesses that were observed under `plan`.
    fn learn(&mut self, plan: Plan, seen: &RunTrace) {
        let mut reads: Vec<u64> = seen.reads.iter().copied().collect();
        reads.sort_unstable();
        let is_new = self.known_runs.insert(hash(&reads));
        let features = self.known_features.len();
        self.known_features.extend(&seen.features);
        let has_new_features = self.known_features.len() > features;
        let candidates = candidates(seen);
        self.has_communication |= !candidates.is_empty();
        if !is_new {
            return;
        }
        let base = plan.base % BASES.len() as u64;
        let held = plan.holds.as_slice();
        for hold in candidates {
            let is_near = |other: &Hold| other.block != hold.block && other.block.abs_diff(hold.block) <= NEAR;
            let is_far = !held.is_empty() && !held.iter().any(is_near);
            let cost = 4 * held.len() as u64 + 6 * u64::from(is_far) + 2 * u64::from(!has_new_features);
            // The new hold ends before all others, or after them.
            for index in [0, held.len()] {
                if let Some(holds) = plan.holds.with(index, hold) {
                    self.add(Plan { base, holds }, cost);
                }
            }
        }
    }
}

/// Returns the accesses before which it is useful to hold a thread. These are the accesses to addresses that several
/// threads access and at least one thread writes. If several threads of a block make the same access, returns only the
/// first and the last.
fn candidates(seen: &RunTrace) -> Vec<Hold> {
    let mut candidates = HashSet::new();
    for events in &seen.launches {
        let mut users: HashMap<AccessAddress, (HashSet<(u32, u32)>, bool)> = HashMap::new();
        for Event { hold, address, writes, .. } in events {
            let (threads, is_written) = users.entry(*address).or_default();
            threads.insert((hold.block, hold.thread));
            *is_written |= writes;
        }
        let is_shared = |event: &&Event| {
            users.get(&event.address).is_some_and(|(threads, is_written)| threads.len() > 1 && *is_written)
        };
        let mut groups: BTreeMap<(u32, &str, u32, u32, u32), [Hold; 2]> = BTreeMap::new();
        let mut occurrences: HashMap<(u32, u32, u32, u32), u32> = HashMap::new();
        for Event { hold, at, .. } in events.iter().filter(is_shared) {
            let occurrence = occurrences.entry((hold.block, hold.thread, at.line(), at.column())).or_default();
            *occurrence += 1;
            if *occurrence <= OCCURRENCES {
                let group = (hold.block, at.file(), at.line(), at.column(), *occurrence);
                groups.entry(group).or_insert([*hold; 2])[1] = *hold;
            }
        }
        candidates.extend(groups.into_values().flatten());
    }
    let mut candidates: Vec<Hold> = candidates.into_iter().collect();
    candidates.sort_unstable();
    candidates
}
