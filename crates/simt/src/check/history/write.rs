//! An atomic write and the threads that have read its value.

use super::{Accesses, Group, Past, Serial, Stamp};

/// An atomic write, or several atomic writes that no thread has read and that differ only in their threads.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) group: Group,
    pub(super) serial: Serial,
    /// Each other thread's first atomic read of the written value.
    pub(super) observers: Accesses,
}

impl Write {
    pub(super) fn new(stamp: Stamp, serial: Serial) -> Self {
        Self { group: Group::new(stamp), serial, observers: Accesses::default() }
    }

    /// Returns true if the write has the number `serial`.
    pub(super) fn is(&self, serial: Serial) -> bool {
        serial != 0 && self.serial == serial
    }

    /// Adds `other` and returns true if no thread has read either write, no thread can read them from now on, and they
    /// differ only in their threads. Threads can read writes with numbers from `oldest` on.
    pub(super) fn add(&mut self, other: &Self, oldest: Serial) -> bool {
        let is_over = |write: &Self| write.observers.groups.is_empty() && (write.serial == 0 || write.serial < oldest);
        let is_like = [&*self, other].into_iter().all(is_over) && self.group.stamp.is_like(&other.group.stamp);
        if is_like {
            self.group.threads |= other.group.threads;
        }
        is_like
    }

    /// Removes the writes that are in `past`. Returns true if any write is left.
    pub(super) fn keep_outside(&mut self, past: &Past<'_>) -> bool {
        self.group.threads &= !past.inside(&self.group);
        self.group.threads != 0 && !self.observers.has_inside(past)
    }

    /// Returns the first of the recorded writes that `past` does not contain.
    pub(super) fn first_outside(&self, past: &Past<'_>) -> Option<Stamp> {
        self.group.first_outside(past).filter(|_| !self.observers.has_inside(past))
    }

    /// Returns true if `past` includes the write or an atomic read of its value. In PTX's terms, a write precedes such
    /// a read in observation order. Even without a fence, the write precedes later accesses in causality order.
    pub(super) fn is_before(&self, past: &Past<'_>) -> bool {
        past.has_stamp(&self.group.stamp) || self.observers.has_inside(past)
    }

    /// Returns true if no thread can ever have the write in its past.
    pub(super) fn is_unpublished(&self, past: &Past<'_>) -> bool {
        past.is_unpublished(&self.group.stamp)
            && self.observers.groups.iter().all(|group| past.is_unpublished(&group.stamp))
    }
}
