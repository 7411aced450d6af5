//! The executions of a small program that PTX's memory model allows, by brute force.
//!
//! The axioms are those of Lustig, Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency
//! Model" (ASPLOS 2019), in the form of the Alloy model that its authors published. The function tries every write for
//! each read, every coherence order of each location, and every order of the sequentially consistent fences.

use std::collections::BTreeSet;

use super::program::{Op, Order, Outcome, Program, Strength};
use simt::memory::Scope;

/// A relation between at most 32 events. Bit `b` of element `a` is 1 if `a` precedes `b`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Relation([u32; 32]);

impl Relation {
    const EMPTY: Self = Self([0; 32]);

    fn of(count: usize, relates: impl Fn(usize, usize) -> bool) -> Self {
        let mut all = Self::EMPTY;
        for a in 0..count {
            for b in 0..count {
                all.0[a] |= u32::from(relates(a, b)) << b;
            }
        }
        all
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] & 1 << b != 0
    }

    fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|a| self.0[a] | other.0[a]))
    }

    fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|a| self.0[a] & other.0[a]))
    }

    fn then(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|a| (0..32).filter(|&b| self.has(a, b)).fold(0, |all, b| all | other.0[b])))
    }

    fn or_same(&self) -> Self {
        Self(std::array::from_fn(|a| self.0[a] | 1 << a))
    }

    fn closure(&self) -> Self {
        let mut all = *self;
        for through in 0..32 {
            let beyond = all.0[through];
            for from in &mut all.0 {
                *from |= if *from & 1 << through != 0 { beyond } else { 0 };
            }
        }
        all
    }

    fn is_irreflexive(&self) -> bool {
        (0..32).all(|a| !self.has(a, a))
    }

    fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}

/// An event: a read, a write or a fence. An update is a read and a write.
#[derive(Clone, Copy)]
struct Event {
    thread: usize,
    block: u32,
    scope: Scope,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A read of a location. `register` is the index of its value in the outcome.
    Read {
        location: usize,
        acquires: bool,
        register: usize,
    },
    /// A write of a value, or of the value that the event before has read plus `value`.
    Write {
        location: usize,
        releases: bool,
        value: u32,
        is_sum: bool,
        is_update: bool,
    },
    Fence(Strength),
}

impl Event {
    fn location(&self) -> Option<usize> {
        match self.kind {
            Kind::Read { location, .. } | Kind::Write { location, .. } => Some(location),
            Kind::Fence(_) => None,
        }
    }

    fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read { .. })
    }

    fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    fn includes(&self, other: &Self) -> bool {
        self.thread == other.thread || self.scope != Scope::Block || self.block == other.block
    }
}

/// The outcomes of a program that the model allows.
#[derive(Default)]
pub struct Allowed {
    /// All outcomes.
    pub all: BTreeSet<Outcome>,
    /// The outcomes of executions in which program order, the reads-from relation and the order of the fences have no
    /// common cycle. These are the executions without load buffering.
    pub in_order: BTreeSet<Outcome>,
}

fn events(program: &Program) -> Vec<Event> {
    let mut all = Vec::new();
    let mut register = 0;
    for (thread, (block, ops)) in program.threads.iter().enumerate() {
        for &op in ops {
            let mut add = |scope, kind| all.push(Event { thread, block: *block, scope, kind });
            match op {
                Op::Load(location, order, scope) => {
                    add(scope, Kind::Read { location, acquires: order == Order::Synchronising, register });
                    register += 1;
                }
                Op::Store(location, value, order, scope) => {
                    let releases = order == Order::Synchronising;
                    add(scope, Kind::Write { location, releases, value, is_sum: false, is_update: false });
                }
                Op::Add(location, value, scope) | Op::Exchange(location, value, scope) => {
                    let is_sum = matches!(op, Op::Add(..));
                    add(scope, Kind::Read { location, acquires: false, register });
                    add(scope, Kind::Write { location, releases: false, value, is_sum, is_update: true });
                    register += 1;
                }
                Op::Fence(strength, scope) => add(scope, Kind::Fence(strength)),
            }
        }
    }
    all
}

/// Returns all orders of `items`.
fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        all.extend(permutations(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// Returns every way to take one element of each list.
fn products<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        let with = |before: &Vec<T>, one: &T| [before.clone(), vec![one.clone()]].concat();
        all.iter().flat_map(|before| list.iter().map(move |one| with(before, one))).collect()
    })
}

/// The parts of an execution that do not depend on its choices.
struct Statics {
    events: Vec<Event>,
    po: Relation,
    same_location: Relation,
    strong: Relation,
    rmw: Relation,
}

impl Statics {
    fn new(events: Vec<Event>) -> Self {
        let count = events.len();
        let of = |relates: &dyn Fn(&Event, &Event) -> bool| Relation::of(count, |a, b| relates(&events[a], &events[b]));
        let same_thread = of(&|a, b| a.thread == b.thread);
        let is_before = Relation::of(count, |a, b| a < b);
        let is_update = |b: usize| matches!(events[b].kind, Kind::Write { is_update: true, .. });
        Self {
            po: same_thread.and(&is_before),
            same_location: of(&|a, b| a.location().is_some() && a.location() == b.location()),
            strong: of(&|a, b| a.includes(b) && b.includes(a)),
            rmw: Relation::of(count, |a, b| a + 1 == b && is_update(b)),
            events,
        }
    }

    fn of(&self, relates: impl Fn(&Event, &Event) -> bool) -> Relation {
        Relation::of(self.events.len(), |a, b| relates(&self.events[a], &self.events[b]))
    }

    /// Returns true if the model allows an execution.
    fn allows(&self, rf: &Relation, co: &Relation, fr: &Relation, sc: &Relation) -> bool {
        let Self { po, same_location, strong, rmw, .. } = self;
        let po_loc = po.and(same_location);
        let releases = |event: &Event| matches!(event.kind, Kind::Write { releases: true, .. });
        let acquires = |event: &Event| matches!(event.kind, Kind::Read { acquires: true, .. });
        let is_fence = |event: &Event| matches!(event.kind, Kind::Fence(_));
        let prefix = po_loc.or_same().and(&self.of(|a, b| releases(a) && b.is_write()));
        let prefix = prefix.or(&po.and(&self.of(|a, b| is_fence(a) && b.is_write())));
        let suffix = po_loc.or_same().and(&self.of(|a, b| a.is_read() && acquires(b)));
        let suffix = suffix.or(&po.and(&self.of(|a, b| a.is_read() && is_fence(b))));
        let strong_rf = rf.and(strong);
        // Observation: reads from, through any number of updates.
        let observation = strong_rf.then(&rmw.then(&strong_rf).closure().or_same());
        let sync = prefix.then(&observation).then(&suffix).and(strong);
        let base = po.or_same().then(&sync.or(sc)).then(&po.or_same()).closure();
        let cause = base.or(&observation.then(&po_loc.or(&base)));
        let com = rf.or(co).or(fr);
        let no_thin_air = rf.or(rmw).is_acyclic();
        let location_sc = com.and(strong).or(&po_loc).is_acyclic();
        let between = fr.and(strong).then(&co.and(strong)).and(rmw);
        let atomicity = between == Relation::EMPTY;
        let writes = self.of(|a, b| a.is_write() && b.is_write()).and(same_location);
        let caused = cause.and(&writes);
        let coherence = caused.and(co) == caused;
        let causality = fr.or(rf).or_same().then(&cause).is_irreflexive();
        no_thin_air && location_sc && atomicity && coherence && causality
    }
}

/// Returns the outcomes of `program` that the model allows.
pub fn allowed(program: &Program) -> Allowed {
    let statics = Statics::new(events(program));
    let events = &statics.events;
    let count = events.len();
    let indices =
        |wanted: &dyn Fn(&Event) -> bool| -> Vec<usize> { (0..count).filter(|&a| wanted(&events[a])).collect() };
    let writes_to = |location: usize| indices(&|event| event.is_write() && event.location() == Some(location));
    let reads = indices(&Event::is_read);
    // `None` stands for the initial value.
    let sources: Vec<Vec<Option<usize>>> = reads
        .iter()
        .map(|&read| {
            let location = events[read].location().unwrap();
            [None].into_iter().chain(writes_to(location).into_iter().map(Some)).collect()
        })
        .collect();
    let orders: Vec<Vec<Vec<usize>>> = (0..program.locations()).map(|one| permutations(&writes_to(one))).collect();
    let fences = indices(&|event| event.kind == Kind::Fence(Strength::Sequential));
    let fence_orders = permutations(&fences);
    let mut allowed = Allowed::default();
    for sources in products(&sources) {
        let rf =
            Relation::of(count, |a, b| reads.iter().position(|&read| read == b).is_some_and(|i| sources[i] == Some(a)));
        if !rf.or(&statics.rmw).is_acyclic() {
            continue;
        }
        for orders in products(&orders) {
            let rank = |event: usize| orders.iter().find_map(|order| order.iter().position(|&one| one == event));
            let co =
                Relation::of(count, |a, b| statics.same_location.has(a, b) && rank(a).is_some() && rank(a) < rank(b));
            let fr = Relation::of(count, |a, b| {
                let Some(i) = reads.iter().position(|&read| read == a) else { return false };
                let is_write = events[b].is_write() && statics.same_location.has(a, b);
                is_write && sources[i].is_none_or(|source| co.has(source, b))
            });
            let com = rf.or(&co).or(&fr).and(&statics.strong);
            if !com.or(&statics.po.and(&statics.same_location)).is_acyclic() {
                continue;
            }
            for fence_order in &fence_orders {
                let at = |fence: usize| fence_order.iter().position(|&one| one == fence);
                let sc = Relation::of(count, |a, b| at(a).is_some() && at(b).is_some() && at(a) < at(b))
                    .and(&statics.strong);
                if !sc.or(&statics.po).is_acyclic() || !statics.allows(&rf, &co, &fr, &sc) {
                    continue;
                }
                let outcome = outcome(program, events, &reads, &sources, &orders);
                if statics.po.or(&rf).or(&sc).is_acyclic() {
                    allowed.in_order.insert(outcome.clone());
                }
                allowed.all.insert(outcome);
            }
        }
    }
    allowed
}

fn outcome(
    program: &Program,
    events: &[Event],
    reads: &[usize],
    sources: &[Option<usize>],
    orders: &[Vec<usize>],
) -> Outcome {
    // The reads-from relation and the updates have no cycle, so that this ends.
    fn read(events: &[Event], reads: &[usize], sources: &[Option<usize>], event: usize) -> u32 {
        let source = sources[reads.iter().position(|&read| read == event).unwrap()];
        source.map_or(0, |source| written(events, reads, sources, source))
    }
    fn written(events: &[Event], reads: &[usize], sources: &[Option<usize>], event: usize) -> u32 {
        match events[event].kind {
            Kind::Write { value, is_sum: true, .. } => value + read(events, reads, sources, event - 1),
            Kind::Write { value, .. } => value,
            _ => unreachable!("only writes are read"),
        }
    }
    let mut registers = vec![0; reads.len()];
    for &event in reads {
        if let Kind::Read { register, .. } = events[event].kind {
            registers[register] = read(events, reads, sources, event);
        }
    }
    let last = |location: usize| orders[location].last().map_or(0, |&last| written(events, reads, sources, last));
    Outcome { registers, memory: (0..program.locations()).map(last).collect() }
}
