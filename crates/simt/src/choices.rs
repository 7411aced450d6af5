//! The choices of a launch that explores weak memory for a thorough check.
//!
//! # Design
//!
//! A launch numbers its choices: the value of a read, the position of a store, or a wait. Option 0 is always the usual
//! one. A schedule has only the choices that deviate from option 0. The search tries a schedule, learns how many
//! options each choice had, and adds one deviation after the last. It thus makes each sequence of choices once, those
//! with few deviations first.
//!
//! A load may also read a store that is executed later: a *promise*. A run records its loads and stores, and the search
//! derives promises from them. The schedule names the load as a choice, and the promised store with its value.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of deviations of a schedule.
const MAX_DEVIATIONS: usize = 12;
/// The maximum number of choices that a run records.
const MAX_RECORDED: usize = 1024;

/// A choice that deviates from the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deviation {
    /// The number of the choice among the choices of the run, counted from 0.
    pub choice: u16,
    /// The chosen option, from 1 on. Larger numbers stand for older values; the last option of a read is to wait.
    pub option: u16,
}

/// A thread of a launch: the block's position in the order in which the blocks run, and the thread's number.
pub(crate) type ThreadId = (u32, u32);

/// A store whose value a load reads before the store is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Promise {
    /// The thread that makes the store.
    pub(crate) thread: ThreadId,
    /// The number of the store among the thread's atomic accesses in the launch.
    pub(crate) access: u16,
    /// The value, as an unsigned number.
    pub(crate) value: u64,
}

/// Up to twelve deviations, in the order of the choices. One of them may be the read of a promise.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deviations {
    deviations: [Deviation; MAX_DEVIATIONS],
    count: usize,
    /// The promise, and the choice that reads it.
    promise: Option<(u16, Promise)>,
}

impl Deviations {
    /// Returns the deviations in the order of their choices.
    pub fn as_slice(&self) -> &[Deviation] {
        &self.deviations[..self.count]
    }

    /// Returns a copy of the list with `deviation` at its end. Returns `None` if the list is full or the deviation is
    /// not the last one.
    pub(crate) fn with(&self, deviation: Deviation) -> Option<Self> {
        let is_after = self.as_slice().last().is_none_or(|last| last.choice < deviation.choice);
        if self.count == MAX_DEVIATIONS || !is_after || deviation.option == 0 {
            return None;
        }
        let mut more = *self;
        more.deviations[more.count] = deviation;
        more.count += 1;
        Some(more)
    }

    /// Returns a copy of the list with `deviation` at its end, a load that reads `promise`. Returns `None` if the list
    /// is full or has a promise, or if the deviation is not the last one.
    fn with_promise(&self, deviation: Deviation, promise: Promise) -> Option<Self> {
        let more = self.with(deviation).filter(|more| more.promise.is_none())?;
        Some(Self { promise: Some((deviation.choice, promise)), ..more })
    }

    /// Returns the deviations of the choices before `choice`. The returned list has no promise.
    fn before(&self, choice: u16) -> Self {
        let mut before = Self::default();
        for &deviation in self.as_slice().iter().take_while(|deviation| deviation.choice < choice) {
            before = before.with(deviation).unwrap_or(before);
        }
        before
    }

    /// Returns the number of deviations; a promise counts as two.
    pub(crate) fn cost(&self) -> usize {
        self.count + usize::from(self.promise.is_some())
    }

    /// Returns true if a load reads a store that is executed later.
    pub(crate) fn has_promise(&self) -> bool {
        self.promise.is_some()
    }

    fn option(&self, choice: u16) -> u16 {
        let found = self.as_slice().iter().find(|deviation| deviation.choice == choice);
        found.map_or(0, |deviation| deviation.option)
    }
}

crate::debug_as_display!(Deviations);

/// Writes each deviation as `choice.option`, separated by commas. The read of a promise is followed by the promised
/// store and its value: `=block.thread.access.value`.
impl fmt::Display for Deviations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Deviation { choice, option }) in self.as_slice().iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{choice}.{option}")?;
            if let Some((_, Promise { thread: (block, thread), access, value })) =
                self.promise.filter(|&(at, _)| at == *choice)
            {
                write!(f, "={block}.{thread}.{access}.{value}")?;
            }
        }
        Ok(())
    }
}

/// Parses deviations in the format of [`Display`](fmt::Display).
impl FromStr for Deviations {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut all = Self::default();
        for deviation in text.split(',').filter(|_| !text.is_empty()) {
            let (deviation, promise) = deviation.split_once('=').map_or((deviation, None), |(a, b)| (a, Some(b)));
            let (choice, option) = deviation.split_once('.').ok_or(())?;
            let number = |text: &str| text.parse::<u16>().map_err(drop);
            let deviation = Deviation { choice: number(choice)?, option: number(option)? };
            let more = match promise {
                None => all.with(deviation),
                Some(promise) => all.with_promise(deviation, promise.parse()?),
            };
            all = more.ok_or(())?;
        }
        Ok(all)
    }
}

/// Parses `block.thread.access.value`.
impl FromStr for Promise {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers: Vec<u64> =
            text.split('.').map(|number| number.parse().map_err(drop)).collect::<Result<_, ()>>()?;
        let [block, thread, access, value] = numbers[..] else { return Err(()) };
        let thread = (block.try_into().map_err(drop)?, thread.try_into().map_err(drop)?);
        Ok(Self { thread, access: access.try_into().map_err(drop)?, value })
    }
}

/// A load that may read a promise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadMade {
    pub(crate) thread: ThreadId,
    /// The number of the location in the run.
    pub(crate) location: u32,
    pub(crate) choice: u16,
    /// The first option that stands for a promise.
    pub(crate) option: u16,
    /// The number of positions in the coherence order that a promised store may take.
    pub(crate) positions: u16,
}

/// A store that may be promised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreMade {
    pub(crate) location: u32,
    pub(crate) promise: Promise,
    /// The number of choices that the run had made before the store was executed.
    pub(crate) at: usize,
    /// The number of choices before the last event of another thread on which the store may depend. From then on the
    /// thread alone would have come to the store.
    pub(crate) since: usize,
}

/// The choices that the launches of a run have made.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoicesMade {
    next: usize,
    /// The number of options of each choice.
    pub(crate) options: Vec<u16>,
    /// True if other choices reach the same execution.
    pub(crate) is_redundant: bool,
    /// True if the run had more choices than the search can try.
    pub(crate) is_limited: bool,
    /// True if threads have communicated by accesses without choices: barriers in shared memory.
    pub(crate) has_others: bool,
    /// True if a promise was not kept, or was read in a way that the memory model forbids.
    pub(crate) is_discarded: bool,
    /// The number of locations that atomics have accessed.
    locations: u32,
    loads: Vec<LoadMade>,
    stores: Vec<StoreMade>,
}

impl ChoicesMade {
    /// Returns the schedules in which a load of this run reads a later store of another thread. `given` are the
    /// deviations of this run. The thread alone must come to the store from the load on, so that the store does not
    /// depend on the load.
    pub(crate) fn promises(&self, given: &Deviations) -> impl Iterator<Item = Option<Deviations>> {
        let loads = self.loads.iter().filter(|_| !given.has_promise());
        loads.flat_map(move |load| {
            let choice = usize::from(load.choice);
            let stores = self.stores.iter().filter(move |store| {
                let is_of_other = store.location == load.location && store.promise.thread != load.thread;
                is_of_other && store.since <= choice && choice < store.at
            });
            let before = given.before(load.choice);
            stores.flat_map(move |store| {
                let deviation = |position| Deviation { choice: load.choice, option: load.option + position };
                (0..load.positions).map(move |position| before.with_promise(deviation(position), store.promise))
            })
        })
    }
}

/// Gives the choices of a schedule to the launches of a run, and records their options. Clones share one record.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceLog {
    given: Deviations,
    made: Arc<Mutex<ChoicesMade>>,
}

impl ChoiceLog {
    pub(crate) fn new(given: Deviations) -> Self {
        Self { given, made: Arc::default() }
    }

    fn made(&self) -> MutexGuard<'_, ChoicesMade> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the choices made so far.
    pub(crate) fn record(&self) -> ChoicesMade {
        self.made().clone()
    }

    /// Makes the next choice of the run, one of `options`. A choice without an alternative is not counted.
    pub(crate) fn choose(&self, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let made = &mut *self.made();
        let choice = made.next;
        made.next += 1;
        if made.options.len() < MAX_RECORDED {
            made.options.push(options as u16);
        } else {
            made.is_limited = true;
        }
        let option = u16::try_from(choice).map_or(0, |choice| self.given.option(choice));
        usize::from(option).min(options - 1)
    }

    /// Returns the number of choices that the run has made.
    pub(crate) fn count(&self) -> usize {
        self.made().next
    }

    /// Returns the promise that the next choice reads, and the option of that choice.
    pub(crate) fn promise(&self) -> Option<(Promise, u16)> {
        let (choice, promise) = self.given.promise?;
        (usize::from(choice) == self.count()).then(|| (promise, self.given.option(choice)))
    }

    /// Returns the number of a location that no earlier call has returned.
    pub(crate) fn new_location(&self) -> u32 {
        let made = &mut *self.made();
        made.locations += 1;
        made.locations
    }

    /// Records that the next choice is that of `load`.
    pub(crate) fn note_load(&self, load: impl FnOnce(u16) -> LoadMade) {
        let made = &mut *self.made();
        if self.given.promise.is_none()
            && made.next < MAX_RECORDED
            && let Ok(choice) = u16::try_from(made.next)
        {
            made.loads.push(load(choice));
        }
    }

    /// Records `store`.
    pub(crate) fn note_store(&self, store: StoreMade) {
        let made = &mut *self.made();
        if self.given.promise.is_none() && made.stores.len() < MAX_RECORDED {
            made.stores.push(store);
        }
    }

    /// Returns true if the run does not count.
    pub(crate) fn is_discarded(&self) -> bool {
        self.made().is_discarded
    }

    /// Marks the run as one that does not count.
    pub(crate) fn discard(&self) {
        self.made().is_discarded = true;
    }

    pub(crate) fn note_redundant(&self) {
        self.made().is_redundant = true;
    }

    pub(crate) fn note_other(&self) {
        self.made().has_others = true;
    }

    pub(crate) fn note_limit(&self) {
        self.made().is_limited = true;
    }
}
