//! Vector clocks: what is known to be done before something else.

use std::collections::BTreeMap;

/// How far each actor's work is known to be done; 0 for those that it does not name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(BTreeMap<u64, u64>);

impl Clock {
    pub(super) fn time(&self, actor: u64) -> u64 {
        self.0.get(&actor).copied().unwrap_or(0)
    }

    /// The next moment of `actor`, which it knows.
    pub(super) fn tick(&mut self, actor: u64) -> u64 {
        let time = self.0.entry(actor).or_default();
        *time += 1;
        *time
    }

    /// Adds what `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        for (&actor, &time) in &other.0 {
            let known = self.0.entry(actor).or_default();
            *known = time.max(*known);
        }
    }
}
