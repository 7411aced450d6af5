//! Tests the checker with random programs. The checker must find the races that a plain definition of happens-before
//! gives.
//!
//! Each program records its events. From this record, the test computes for each event the set of all events that
//! happened before it. The checker must report exactly the first race by this definition, or none if there is none.
//! Each atomic write has a value of its own, because in some orders an atomic read returns an older value.

use crate::common;

use std::collections::HashMap;
use std::sync::Mutex;

use common::races::checked;
use common::{Array, KERNEL};
use simt::{FaultKind, LaunchConfig, Schedule, shared, thread, warp};

/// The threads that also access memory, two in each of two warps. All other threads only wait at barriers.
const ACTIVE: [u32; 4] = [0, 1, 32, 33];
const THREADS: u32 = 34;
/// The number of words of global memory, and also of each block's shared memory, that programs access.
const WORDS: u32 = 3;

static TILE: shared::Site = shared::Site::new();

#[derive(Clone, Copy, Debug, PartialEq)]
enum Access {
    Load,
    Store,
    LoadRelaxed,
    LoadAcquire,
    StoreRelaxed,
    StoreRelease,
    Update,
}

impl Access {
    fn is_atomic(self) -> bool {
        !matches!(self, Self::Load | Self::Store)
    }

    fn writes(self) -> bool {
        !matches!(self, Self::Load | Self::LoadRelaxed | Self::LoadAcquire)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An access to the bytes `first..first + bytes`. Atomic accesses are of whole words.
    Access {
        access: Access,
        is_shared: bool,
        first: u32,
        bytes: u32,
    },
    Fence,
    Barrier,
    Warp(u32),
}

/// A step that a thread has executed, with the thread's block and number, and the value of an atomic read.
#[derive(Clone, Copy, Debug)]
struct Event {
    block: u32,
    thread: u32,
    step: Step,
    value: u32,
}

/// The bytes of plain stores. No atomic write has a value with such a byte.
const PLAIN: u32 = 0xEEEE_EEEE;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((mixed >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// The steps of every active thread of every block.
type Program = Vec<[Vec<Step>; ACTIVE.len()]>;

fn program(random: &mut Random) -> Program {
    let blocks = 1 + random.below(3);
    // The shares, in eighths, of plain accesses among the accesses, and of fences among the steps.
    let (plain, fences) = (random.below(4), 1 + random.below(3));
    (0..blocks).map(|_| block_program(random, plain, fences)).collect()
}

fn block_program(random: &mut Random, plain: u32, fences: u32) -> [Vec<Step>; ACTIVE.len()] {
    let mut steps: [Vec<Step>; ACTIVE.len()] = Default::default();
    for word in 0..WORDS {
        steps[0].push(Step::Access { access: Access::Store, is_shared: true, first: 4 * word, bytes: 4 });
    }
    for _ in 0..1 + random.below(3) {
        steps.iter_mut().for_each(|steps| steps.push(Step::Barrier));
        for _ in 0..2 {
            for steps in &mut steps {
                for _ in 0..random.below(4) {
                    steps.push(step(random, plain, fences));
                }
            }
            // Either both lanes of a warp synchronise, or each does so alone.
            for (warp, mask) in [(0, random.below(3)), (1, random.below(3))] {
                for lane in 0..2 {
                    match mask {
                        0 => {}
                        1 => steps[2 * warp + lane].push(Step::Warp(0b11)),
                        _ => steps[2 * warp + lane].push(Step::Warp(1 << lane)),
                    }
                }
            }
        }
    }
    steps
}

fn step(random: &mut Random, plain: u32, fences: u32) -> Step {
    if random.below(8) < fences {
        return Step::Fence;
    }
    let is_shared = random.below(3) == 0;
    let word = 4 * random.below(WORDS);
    if random.below(8) < plain {
        let access = if random.below(2) == 0 { Access::Load } else { Access::Store };
        let bytes = [1, 2, 4][random.below(3) as usize];
        let first = word + random.below(4 / bytes) * bytes;
        return Step::Access { access, is_shared, first, bytes };
    }
    let atomics =
        [Access::LoadRelaxed, Access::LoadAcquire, Access::StoreRelaxed, Access::StoreRelease, Access::Update];
    Step::Access { access: atomics[random.below(5) as usize], is_shared, first: word, bytes: 4 }
}

fn sync_warp(mask: u32) {
    warp::sync(mask);
}

fn barrier() {
    thread::sync_threads();
}

/// Runs a program. Returns its events, and true if the checker reported a race at the last event.
fn run(program: &Program, schedule: Schedule) -> (Vec<Event>, bool) {
    let (data, events) = (Array::filled(WORDS as usize, 0_u32), Mutex::new(Vec::new()));
    let config = LaunchConfig::new(program.len() as u32, THREADS);
    let result = checked().with_schedule(schedule).launch(&KERNEL, config, || {
        let (block, thread) = (thread::block_idx().x, thread::thread_idx().x);
        let all = &program[block as usize];
        let Some(active) = ACTIVE.iter().position(|&active| active == thread) else {
            all[0].iter().filter(|step| matches!(step, Step::Barrier)).for_each(|_| barrier());
            return;
        };
        for &step in &all[active] {
            let index = {
                let mut events = events.lock().unwrap();
                events.push(Event { block, thread, step, value: 0 });
                events.len() - 1
            };
            let new = index as u32 + 1;
            let value = match step {
                Step::Access { access, is_shared: true, first, bytes } => in_shared(access, first, bytes, new),
                Step::Access { access, first, bytes, .. } => in_global(&data, access, first, bytes, new),
                Step::Fence => {
                    simt::memory::fence();
                    continue;
                }
                Step::Barrier => {
                    barrier();
                    continue;
                }
                Step::Warp(mask) => {
                    sync_warp(mask);
                    continue;
                }
            };
            events.lock().unwrap()[index].value = value;
        }
    });
    let is_race = match result {
        Ok(_) => false,
        Err(fault) if matches!(fault.kind, FaultKind::Race(_)) => true,
        Err(fault) => panic!("{fault}"),
    };
    (events.into_inner().unwrap(), is_race)
}

/// Makes an access to global memory. `new` is the value of an atomic write. Returns the value of an atomic read, or 0.
fn in_global(data: &Array<u32>, access: Access, first: u32, bytes: u32, new: u32) -> u32 {
    let word = first as usize / 4;
    let at = data.at(word).wrapping_byte_add(first as usize % 4);
    // SAFETY: all accesses are within a word of the array, which lives as long as the launch.
    unsafe {
        use simt::memory::{load, store};
        match (access, bytes) {
            (Access::Load, 1) => drop(std::hint::black_box(load(at.cast::<u8>()).to_string())),
            (Access::Load, 2) => drop(std::hint::black_box(load(at.cast::<u16>()).to_string())),
            (Access::Load, _) => drop(std::hint::black_box(load(at).to_string())),
            (Access::Store, 1) => store(at.cast::<u8>(), PLAIN as u8),
            (Access::Store, 2) => store(at.cast::<u16>(), PLAIN as u16),
            (Access::Store, _) => store(at, PLAIN),
            (Access::LoadRelaxed, _) => return data.load_relaxed(word),
            (Access::LoadAcquire, _) => return data.acquire(word),
            (Access::StoreRelaxed, _) => data.store_relaxed(word, new),
            (Access::StoreRelease, _) => data.release(word, new),
            (Access::Update, _) => return data.update(word, |_| new),
        }
    }
    0
}

/// Makes an access to shared memory, like [`in_global`].
fn in_shared(access: Access, first: u32, bytes: u32, new: u32) -> u32 {
    use simt::shared::*;
    let at = allocate_static(&TILE, 4 * WORDS as usize) + first;
    match (access, bytes) {
        (Access::Load, 1) => _ = std::hint::black_box(load::<u8>(at)),
        (Access::Load, 2) => _ = std::hint::black_box(load::<u16>(at)),
        (Access::Load, _) => _ = std::hint::black_box(load::<u32>(at)),
        (Access::Store, 1) => store(at, PLAIN as u8),
        (Access::Store, 2) => store(at, PLAIN as u16),
        (Access::Store, _) => store(at, PLAIN),
        (Access::LoadRelaxed, _) => return load_relaxed::<u32>(at),
        (Access::LoadAcquire, _) => return load_acquire::<u32>(at),
        (Access::StoreRelaxed, _) => store_relaxed(at, new),
        (Access::StoreRelease, _) => store_release(at, new),
        (Access::Update, _) => return update(at, |_: u32| new),
    }
    0
}

/// A set of events, one bit per event.
type Events = u128;

/// A word of memory: its block (`None` for a word in global memory) and its index.
type Place = (Option<u32>, u32);

/// A synchronisation of threads: the block, then the warp and mask of a warp operation (`None` for a barrier).
type Meeting = (u32, Option<(u32, u32)>);

#[derive(Clone, Copy, Default)]
struct Thread {
    past: Events,
    fenced: Events,
    pending: Events,
}

/// Returns the index of the first event that races with an earlier one.
fn first_race(events: &[Event]) -> Option<usize> {
    let mut threads: HashMap<(u32, u32), Thread> = HashMap::new();
    // `holds` has for every atomic write the events that it publishes.
    let mut holds = vec![0; events.len()];
    let mut released: HashMap<(u32, u32, Place), Events> = HashMap::new();
    let mut relaxed: HashMap<(u32, u32, Place), Events> = HashMap::new();
    // `chain` has for every atomic write the atomic writes from which its value comes, directly or through its writers'
    // knowledge. `seen` has for every event the writes that the event has seen.
    let mut chain = vec![0; events.len()];
    let mut seen = vec![0; events.len()];
    let mut waiting: HashMap<Meeting, Vec<(u32, u32)>> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        let (id, this) = ((event.block, event.thread), 1 << index);
        let thread = threads.entry(id).or_default();
        let (past, before) = (thread.past, *thread);
        thread.past |= this;
        match event.step {
            Step::Fence => {
                thread.past |= thread.pending;
                (thread.fenced, thread.pending) = (thread.past, 0);
            }
            Step::Barrier => {
                let group = waiting.entry((event.block, None)).or_default();
                group.push(id);
                if group.len() == ACTIVE.len() {
                    meet(&mut threads, &std::mem::take(group));
                }
            }
            Step::Warp(mask) => {
                let group = waiting.entry((event.block, Some((event.thread / 32, mask)))).or_default();
                group.push(id);
                if group.len() as u32 == mask.count_ones() {
                    meet(&mut threads, &std::mem::take(group));
                }
            }
            Step::Access { access, is_shared, first, bytes } => {
                let place = (is_shared.then_some(event.block), first / 4);
                let mut known = past;
                for reader in bits(past) {
                    known |= seen[reader];
                }
                let races = |earlier: usize| {
                    let other = &events[earlier];
                    let Step::Access { access: a, is_shared: s, first: f, bytes: b } = other.step else { return false };
                    let is_same = s == is_shared && (!s || other.block == event.block);
                    let overlaps = f < first + bytes && first < f + b;
                    let conflicts = (a.writes() || access.writes()) && !(a.is_atomic() && access.is_atomic());
                    is_same && overlaps && conflicts && known & 1 << earlier == 0
                };
                if (0..index).any(races) {
                    return Some(index);
                }
                let known_writes = bits(known)
                    .filter(|&earlier| writes_atomically(&events[earlier], place))
                    .map(|i| 1 << i)
                    .sum::<Events>();
                let key = (id.0, id.1, place);
                let own = released.get(&key).copied().unwrap_or_default();
                // A plain store publishes nothing.
                let source = (event.value as usize).checked_sub(1).filter(|&source| source < index);
                let held: Events = source.map_or(0, |source| holds[source]);
                let chained: Events = source.map_or(0, |source| chain[source]);
                if matches!(access, Access::LoadRelaxed | Access::LoadAcquire | Access::Update) {
                    seen[index] = chained;
                    if access == Access::LoadAcquire {
                        thread.past |= held | relaxed.remove(&key).unwrap_or_default();
                    } else {
                        thread.pending |= held;
                        *relaxed.entry(key).or_default() |= held;
                    }
                }
                match access {
                    Access::StoreRelaxed => {
                        holds[index] = before.fenced | own;
                        chain[index] = this | known_writes;
                    }
                    Access::StoreRelease => {
                        holds[index] = thread.past;
                        released.insert(key, thread.past);
                        chain[index] = this | known_writes;
                    }
                    Access::Update => {
                        holds[index] = held | before.fenced | own;
                        chain[index] = chained | this | known_writes;
                    }
                    Access::Load | Access::Store | Access::LoadRelaxed | Access::LoadAcquire => {}
                }
            }
        }
    }
    None
}

/// Returns the indices of the events in a set.
fn bits(events: Events) -> impl Iterator<Item = usize> {
    (0..128).filter(move |bit| events & 1 << bit != 0)
}

fn writes_atomically(event: &Event, place: Place) -> bool {
    match event.step {
        Step::Access { access, is_shared, first, .. } => {
            access.writes() && access.is_atomic() && (is_shared.then_some(event.block), first / 4) == place
        }
        _ => false,
    }
}

/// Records that the threads in `group` have synchronised. The past events of all are now in the past of each thread.
fn meet(threads: &mut HashMap<(u32, u32), Thread>, group: &[(u32, u32)]) {
    let mut all = Thread::default();
    for thread in group.iter().map(|id| threads[id]) {
        all.past |= thread.past;
        all.fenced |= thread.fenced;
        all.pending |= thread.pending;
    }
    group.iter().for_each(|id| _ = threads.insert(*id, all));
}

#[test]
fn races_are_found_as_the_definition_says() {
    let (mut with_race, mut without, mut events_without) = (0, 0, 0);
    for number in 0..10_000 {
        let program = program(&mut Random(number));
        let schedule = match number % 6 {
            0 => Schedule::Natural,
            1 => Schedule::Random(number),
            2 => Schedule::OneBehind(number),
            // Atomic reads return older values.
            _ => Schedule::OneAhead(number),
        };
        let (events, is_race) = run(&program, schedule);
        if events.len() > 128 {
            continue;
        }
        let expected = first_race(&events);
        let found = is_race.then(|| events.len() - 1);
        if found != expected {
            let lines = events.iter().enumerate().map(|(index, event)| format!("{index}: {event:?}\n"));
            panic!("program {number}: {expected:?} expected, {found:?} found in\n{}", lines.collect::<String>());
        }
        if is_race {
            with_race += 1;
        } else {
            without += 1;
            events_without += events.len();
        }
    }
    assert!(with_race > 2000 && without > 2000 && events_without > 20 * without, "{with_race} {without}");
}
