//! What a block keeps to find a loop that never ends. `endless` reads and writes it.

use std::time::Instant;

/// The time at which a thread was first found in loops, and its activity at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looping {
    pub(crate) activity: u64,
    pub(crate) since: Instant,
}
