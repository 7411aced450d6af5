//! Vector clocks. The clock of a piece of work states which other work is known to be done before it.

use std::collections::BTreeMap;

/// A vector clock. For each actor (a stream or a device's own queue), it contains the time up to which the actor's work
/// is known to be done. An actor that is not listed has time 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(BTreeMap<u64, u64>);

impl Clock {
    pub(super) fn time(&self, actor: u64) -> u64 {
        self.0.get(&actor).copied().unwrap_or(0)
    }

    /// Advances the time of `actor` by 1 and returns the new time.
    pub(super) fn tick(&mut self, actor: u64) -> u64 {
        let time = self.0.entry(actor).or_default();
        *time += 1;
        *time
    }

    /// Sets each actor's time to the later one of its times in `self` and in `other`.
    pub(super) fn join(&mut self, other: &Self) {
        for (&actor, &time) in &other.0 {
            let known = self.0.entry(actor).or_default();
            *known = time.max(*known);
        }
    }
}
