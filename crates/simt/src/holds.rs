//! Holds, which make a thread wait before one of its atomic accesses until no other thread can continue.

use std::fmt;
use std::str::FromStr;

/// The maximum number of holds of a schedule.
pub(crate) const MAX_HOLDS: usize = 4;

/// A hold: the thread waits before its atomic access number `access` until no other thread can continue.
///
/// A thread's accesses are counted from 1. Consecutive loads by the thread at one line and address count once, because
/// the number of polls depends on other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hold {
    /// The block's linear index in the grid.
    pub block: u32,
    /// The thread's linear index in the block.
    pub thread: u32,
    /// The number of the access among the thread's atomic accesses, counted from 1.
    pub access: u32,
}

/// Up to four holds, in the order in which they end. When every thread of the grid waits or polls, one hold ends: the
/// first in the list at which a thread waits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holds {
    holds: [Hold; MAX_HOLDS],
    count: usize,
}

impl Holds {
    /// Returns the holds in the order in which they end.
    pub fn as_slice(&self) -> &[Hold] {
        &self.holds[..self.count]
    }

    /// Returns a copy of the list with `hold` inserted at `index`. Returns `None` if the list is full or already
    /// contains `hold`.
    pub(crate) fn with(&self, index: usize, hold: Hold) -> Option<Self> {
        if self.count == MAX_HOLDS || self.as_slice().contains(&hold) {
            return None;
        }
        let mut more = *self;
        more.holds.copy_within(index..self.count, index + 1);
        more.holds[index] = hold;
        more.count += 1;
        Some(more)
    }
}

crate::debug_as_display!(Holds);

/// Writes each hold as `block.thread.access`, separated by commas.
impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Hold { block, thread, access }) in self.as_slice().iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{block}.{thread}.{access}")?;
        }
        Ok(())
    }
}

/// Parses holds in the format of [`Display`](fmt::Display): `block.thread.access`, separated by commas.
impl FromStr for Holds {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut holds = Self::default();
        for hold in text.split(',').filter(|_| !text.is_empty()) {
            let mut numbers = hold.split('.').map(|number| number.parse::<u32>().map_err(drop));
            let mut next = || numbers.next().unwrap_or(Err(()));
            let hold = Hold { block: next()?, thread: next()?, access: next()? };
            if numbers.next().is_some() {
                return Err(());
            }
            holds = holds.with(holds.count, hold).ok_or(())?;
        }
        Ok(holds)
    }
}
