//! Which work of streams is ordered, on simulated devices that check.
//!
//! The simulator does each thing as soon as it is asked, so that a run does not show what a GPU may do. Races are
//! therefore found from what orders the work. Each stream, and each device's own queue, is an actor with a vector
//! clock. A recorded event keeps the stream's clock, and a stream that waits for the event learns it. What the host
//! waits for is done before all that is asked afterwards, and is forgotten. Threads of the host are not told apart:
//! what one of them has waited for counts as done for all.
//!
//! A launch reads all that its views show. A mutable view counts as written as a whole if the kernel has ever changed
//! anything by that parameter, else as read: so kernels may be given mutable views of what they only read.

mod clock;
mod launch;
mod race;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub(crate) use clock::Clock;
pub(crate) use launch::launch;
pub use race::{StreamAccess, StreamRace, StreamWork};

/// A stream of a device that checks, or its own queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Actor(u64);

/// What the streams of all scopes were asked that something asked later may race with.
#[derive(Default)]
struct Registry {
    next: u64,
    open_streams: usize,
    clocks: HashMap<u64, Clock>,
    accesses: Vec<Access>,
    /// Kernels, by the addresses of their descriptions, and the parameters by which they have been seen to change
    /// memory.
    written: HashSet<(usize, &'static str)>,
}

struct Access {
    bytes: Range<usize>,
    actor: Actor,
    time: u64,
    told: StreamAccess,
}

impl Access {
    /// Whether what races with `other` races with this as well.
    fn stands_for(&self, other: &Self) -> bool {
        self.actor == other.actor
            && self.bytes.start <= other.bytes.start
            && other.bytes.end <= self.bytes.end
            && (self.told.is_write || !other.told.is_write)
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

    /// What is done at `clock` is done before all that is asked from now on.
    fn host_waited(&mut self, clock: &Clock) {
        self.accesses.retain(|access| clock.time(access.actor.0) < access.time);
    }
}

impl Actor {
    /// A new stream.
    pub(crate) fn begin_stream() -> Self {
        registry().open_streams += 1;
        Self::begin()
    }

    /// The stream is done, and asked nothing any more.
    pub(crate) fn end_stream(self) {
        self.end();
        registry().open_streams -= 1;
    }

    /// Whether there are streams: else a device's own queue has nobody to race with.
    pub(crate) fn are_streams_open() -> bool {
        registry().open_streams > 0
    }

    /// A new actor.
    pub(crate) fn begin() -> Self {
        let mut registry = registry();
        registry.next += 1;
        Self(registry.next)
    }

    /// What is done when everything asked of it so far is.
    pub(crate) fn record(self) -> Clock {
        registry().clock(self).clone()
    }

    /// Lets everything asked from now on come after `event`.
    pub(crate) fn wait(self, event: &Clock) {
        registry().clock(self).join(event);
    }

    /// The host has waited for everything asked of it.
    pub(crate) fn synchronize(self) {
        let mut registry = registry();
        let clock = registry.clock(self).clone();
        registry.host_waited(&clock);
    }

    /// It is done, and asked nothing any more.
    pub(crate) fn end(self) {
        self.synchronize();
        registry().clocks.remove(&self.0);
    }

    /// It is asked for something that accesses these bytes: an error if that races with what was asked before.
    pub(crate) fn access(self, accesses: &[(Range<usize>, StreamAccess)]) -> Result<(), Box<StreamRace>> {
        let mut registry = registry();
        let clock = registry.clock(self);
        let time = clock.tick(self.0);
        let clock = clock.clone();
        for (bytes, told) in accesses {
            for earlier in &registry.accesses {
                let common = bytes.end.min(earlier.bytes.end).saturating_sub(bytes.start.max(earlier.bytes.start));
                let is_race = common > 0
                    && (told.is_write || earlier.told.is_write)
                    && earlier.actor != self
                    && clock.time(earlier.actor.0) < earlier.time;
                if is_race {
                    return Err(Box::new(StreamRace { earlier: earlier.told, later: *told, bytes: common }));
                }
            }
        }
        for (bytes, told) in accesses {
            let access = Access { bytes: bytes.clone(), actor: self, time, told: *told };
            registry.accesses.retain(|earlier| !access.stands_for(earlier));
            registry.accesses.push(access);
        }
        Ok(())
    }
}

/// The host has waited for `event`.
pub(crate) fn host_waited_for(event: &Clock) {
    registry().host_waited(event);
}

/// Memory is freed that had these bytes.
pub(crate) fn forget(bytes: &Range<usize>) {
    registry().accesses.retain(|access| access.bytes.end <= bytes.start || bytes.end <= access.bytes.start);
}

/// What a kernel is known by, and its parameter.
fn parameter(launch: &StreamAccess, name: &'static str) -> Option<(usize, &'static str)> {
    match launch.work {
        StreamWork::Launch(kernel) => Some((std::ptr::from_ref(kernel).addr(), name)),
        _ => None,
    }
}

/// Whether the kernel that is launched has been seen to change memory by this parameter.
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
    fn memory_that_is_freed_has_no_past() {
        // Addresses that no memory has.
        let (freed, kept) = (64..128, 128..192);
        let told = StreamAccess::new(StreamWork::Copy, None, Location::caller());
        let write = StreamAccess { is_write: true, ..told };
        let (first, second) = (Actor::begin(), Actor::begin());
        first.access(&[(freed.clone(), write), (kept.clone(), write)]).expect("nobody else");
        assert_eq!(second.access(&[(120..140, told)]).expect_err("a race").bytes, 8);
        forget(&freed);
        second.access(&[(freed, told)]).expect("it is another memory");
        assert_eq!(second.access(&[(kept, told)]).expect_err("a race").bytes, 64);
        [first, second].into_iter().for_each(Actor::end);
    }
}
