//! A checker for races between streams, on simulated devices with checks.
//!
//! The simulator executes work as soon as it is enqueued, so a run does not show what a GPU may do. This checker
//! therefore derives races from the events and waits that order the work.
//!
//! Each stream, and each device's own queue, is an actor with a vector clock. A recorded event keeps the clock of its
//! stream, and a stream that waits for the event joins that clock into its own. Work for which the host has waited is
//! done before any work that is enqueued later, so its accesses are removed. Host threads are not distinguished: after
//! one host thread has waited for work, that work counts as done for all host threads.
//!
//! The checker assumes that a launch reads everything in its views. A mutable view counts as written as a whole if the
//! kernel has ever changed anything through that parameter, otherwise as read. Kernels may thus take mutable views of
//! data that they only read.

mod clock;
mod launch;
mod race;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub(crate) use clock::Clock;
pub(crate) use launch::launch;
pub use race::{StreamAccess, StreamRace, StreamWork};

/// A stream, or a device's own queue, in the race checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Actor(u64);

/// The accesses of all streams with which later work may race, and the clocks that order these accesses.
#[derive(Default)]
struct Registry {
    next: u64,
    open_streams: usize,
    clocks: HashMap<u64, Clock>,
    accesses: Vec<Access>,
    /// The parameters through which kernels have changed memory. A kernel is identified by the address of its
    /// description.
    written: HashSet<(usize, &'static str)>,
}

struct Access {
    bytes: Range<usize>,
    actor: Actor,
    time: u64,
    stream_access: StreamAccess,
}

impl Access {
    /// Returns true if everything that races with `other` also races with `self`.
    fn stands_for(&self, other: &Self) -> bool {
        self.actor == other.actor
            && self.bytes.start <= other.bytes.start
            && other.bytes.end <= self.bytes.end
            && (self.stream_access.is_write || !other.stream_access.is_write)
    }
}

fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    fn clock(&mut self, actor: Actor) -> &mut Clock {
        self.clocks.entry(actor.0).or_default()
    }

    /// Removes the accesses that are done at `clock`, because the host has waited for them.
    fn host_waited(&mut self, clock: &Clock) {
        self.accesses.retain(|access| clock.time(access.actor.0) < access.time);
    }
}

impl Actor {
    /// Creates an actor for a new stream.
    pub(crate) fn begin_stream() -> Self {
        registry().open_streams += 1;
        Self::begin()
    }

    /// Removes the actor of a stream whose work is done.
    pub(crate) fn end_stream(self) {
        self.end();
        registry().open_streams -= 1;
    }

    /// Removes the actor of a stream whose work another queue waits for.
    pub(crate) fn retire_stream(self) {
        let mut registry = registry();
        registry.clocks.remove(&self.0);
        registry.open_streams -= 1;
    }

    /// Returns true if any stream is open. Otherwise a device's own queue cannot race.
    pub(crate) fn are_streams_open() -> bool {
        registry().open_streams > 0
    }

    /// Creates a new actor.
    pub(crate) fn begin() -> Self {
        let mut registry = registry();
        registry.next += 1;
        Self(registry.next)
    }

    /// Returns the clock of an event that the actor records now.
    pub(crate) fn record(self) -> Clock {
        registry().clock(self).clone()
    }

    /// Records that all work which this actor enqueues from now on waits for `event`.
    pub(crate) fn wait(self, event: &Clock) {
        registry().clock(self).join(event);
    }

    /// Records that the host has waited for all work of this actor.
    pub(crate) fn synchronize(self) {
        let mut registry = registry();
        let clock = registry.clock(self).clone();
        registry.host_waited(&clock);
    }

    /// Removes this actor, whose work must be done.
    pub(crate) fn end(self) {
        self.synchronize();
        registry().clocks.remove(&self.0);
    }

    /// Records accesses of work that is about to be enqueued. Returns an error if one of them races with earlier work.
    pub(crate) fn access(self, accesses: &[(Range<usize>, StreamAccess)]) -> Result<(), Box<StreamRace>> {
        let mut registry = registry();
        let clock = registry.clock(self);
        let time = clock.tick(self.0);
        let clock = clock.clone();
        for (bytes, stream_access) in accesses {
            for earlier in &registry.accesses {
                let common = bytes.end.min(earlier.bytes.end).saturating_sub(bytes.start.max(earlier.bytes.start));
                let is_race = common > 0
                    && (stream_access.is_write || earlier.stream_access.is_write)
                    && earlier.actor != self
                    && clock.time(earlier.actor.0) < earlier.time;
                if is_race {
                    return Err(Box::new(StreamRace {
                        earlier: earlier.stream_access,
                        later: *stream_access,
                        bytes: common,
                    }));
                }
            }
        }
        for (bytes, stream_access) in accesses {
            let access = Access { bytes: bytes.clone(), actor: self, time, stream_access: *stream_access };
            registry.accesses.retain(|earlier| !access.stands_for(earlier));
            registry.accesses.push(access);
        }
        Ok(())
    }
}

/// Records that the host has waited for `event`.
pub(crate) fn host_waited_for(event: &Clock) {
    registry().host_waited(event);
}

/// Removes the accesses to memory that is freed.
pub(crate) fn forget(bytes: &Range<usize>) {
    registry().accesses.retain(|access| access.bytes.end <= bytes.start || bytes.end <= access.bytes.start);
}

/// Returns the key of the kernel's parameter `name`, or `None` if the work is not a launch.
fn parameter(launch: &StreamAccess, name: &'static str) -> Option<(usize, &'static str)> {
    match launch.work {
        StreamWork::Launch(kernel) => Some((std::ptr::from_ref(kernel).addr(), name)),
        _ => None,
    }
}

/// Returns true if an earlier launch of the kernel has changed memory through this parameter.
fn is_known_to_write(launch: &StreamAccess, name: &'static str) -> bool {
    parameter(launch, name).is_some_and(|parameter| registry().written.contains(&parameter))
}

fn note_that_it_writes(launch: &StreamAccess, name: &'static str) {
    registry().written.extend(parameter(launch, name));
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::{Actor, StreamAccess, StreamWork, forget};

    #[test]
    fn freed_memory_has_no_history() {
        // No memory has these addresses.
        let (freed, kept) = (64..128, 128..192);
        let stream_access = StreamAccess::new(StreamWork::Copy, None, Location::caller());
        let write = StreamAccess { is_write: true, ..stream_access };
        let (first, second) = (Actor::begin(), Actor::begin());
        first.access(&[(freed.clone(), write), (kept.clone(), write)]).expect("no other access");
        assert_eq!(second.access(&[(120..140, stream_access)]).expect_err("a race").bytes, 8);
        forget(&freed);
        second.access(&[(freed, stream_access)]).expect("new memory at this address");
        assert_eq!(second.access(&[(kept, stream_access)]).expect_err("a race").bytes, 64);
        [first, second].into_iter().for_each(Actor::end);
    }
}
