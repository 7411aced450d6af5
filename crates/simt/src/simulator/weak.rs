//! The schedule of launches, and the older values that their atomic reads have returned.

use std::sync::{Arc, PoisonError};

use super::Simulator;
use crate::choices::ChoiceLog;
use crate::faults::older::OlderValue;
use crate::schedule::Schedule;

impl Simulator {
    /// Sets the order in which blocks, warps and lanes run. Under a schedule in which threads yield before accesses,
    /// launches run on the OS thread that launches them, and are much slower.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        let choices = if let Schedule::Chosen(deviations) = schedule { Some(ChoiceLog::new(deviations)) } else { None };
        Self { schedule, choices, older: Arc::default(), ..self }
    }

    /// Returns the last atomic accesses of this simulator and its clones that did not see the newest write. If a result
    /// is wrong, they may be the reason. The list is empty unless launches are checked and the schedule [explores weak
    /// memory](Schedule::has_weak_memory).
    pub fn older_values(&self) -> Vec<OlderValue> {
        self.older.lock().unwrap_or_else(PoisonError::into_inner).to_vec()
    }

    /// Returns the choices that launches make, if the schedule gives choices.
    pub(crate) fn choices(&self) -> Option<&ChoiceLog> {
        self.choices.as_ref()
    }
}
