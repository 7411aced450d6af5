//! The choices of a launch that explores weak memory for a thorough check.
//!
//! # Design
//!
//! A launch numbers its choices: the value of a read, the position of a store, or a wait. Option 0 is always the usual
//! one. A schedule has only the choices that deviate from option 0. The search tries a schedule, learns how many
//! options each choice had, and adds one deviation after the last. It thus makes each sequence of choices once, those
//! with few deviations first.

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

/// Up to twelve deviations, in the order of the choices.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deviations {
    deviations: [Deviation; MAX_DEVIATIONS],
    count: usize,
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

    fn option(&self, choice: u16) -> u16 {
        let found = self.as_slice().iter().find(|deviation| deviation.choice == choice);
        found.map_or(0, |deviation| deviation.option)
    }
}

crate::debug_as_display!(Deviations);

/// Writes each deviation as `choice.option`, separated by commas.
impl fmt::Display for Deviations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Deviation { choice, option }) in self.as_slice().iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{choice}.{option}")?;
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
            let (choice, option) = deviation.split_once('.').ok_or(())?;
            let number = |text: &str| text.parse::<u16>().map_err(drop);
            all = all.with(Deviation { choice: number(choice)?, option: number(option)? }).ok_or(())?;
        }
        Ok(all)
    }
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
