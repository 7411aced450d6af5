//! Threads that wait before one of their atomic accesses until no other thread can go on.

use std::fmt;
use std::str::FromStr;

/// The most holds of a schedule.
pub(crate) const MOST: usize = 4;

/// Where a thread is held: before its atomic access number `access`.
///
/// Accesses are counted from 1, and loads that a thread makes at one line and address, one after the other, count once:
/// how often it polls depends on the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hold {
    /// The block's number in the grid.
    pub block: u32,
    /// The thread's number in the block.
    pub thread: u32,
    /// The number of the access.
    pub access: u32,
}

/// Up to four holds, in the order in which they end: the first of those that threads wait at ends when no thread of the
/// grid can do anything but wait or poll.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holds {
    holds: [Hold; MOST],
    count: usize,
}

impl Holds {
    /// The holds in their order.
    pub fn as_slice(&self) -> &[Hold] {
        &self.holds[..self.count]
    }

    /// With one more, which ends after `index` of these; nothing if there are four, or it is among them.
    pub(crate) fn with(&self, index: usize, hold: Hold) -> Option<Self> {
        if self.count == MOST || self.as_slice().contains(&hold) {
            return None;
        }
        let mut more = *self;
        more.holds.copy_within(index..self.count, index + 1);
        more.holds[index] = hold;
        more.count += 1;
        Some(more)
    }
}

impl fmt::Debug for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `block.thread.access` of each.
impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Hold { block, thread, access }) in self.as_slice().iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{block}.{thread}.{access}")?;
        }
        Ok(())
    }
}

/// Reads what [`Display`](fmt::Display) writes.
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
