//! Which work of streams is ordered, on simulated devices that check.
//!
//! The simulator does each thing as it is asked, so that what happens says nothing of what a GPU may do: races are found by
//! what orders the work. Each stream is an actor with a vector clock. A recorded event keeps the stream's clock, and a stream
//! that waits for the event learns it; the host learns a stream's clock where it waits for it, and everything that is asked
//! afterwards of any stream comes later. Of host threads nothing is known: what one of them has waited for counts as done for
//! all.
//!
//! A launch reads all that its views show. A mutable view counts as written as a whole if the kernel has changed any of it,
//! else as read: so kernels may be given mutable views of what they only read.

mod clock;
mod launch;
mod race;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub(crate) use clock::Clock;
pub(crate) use launch::launch;
pub use race::{StreamAccess, StreamRace, StreamWork};

/// A stream of a device that checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Actor(u64);

/// What the streams of all scopes have done that something asked later may race with.
#[derive(Default)]
struct Registry {
    next: u64,
    clocks: HashMap<u64, Clock>,
    /// What the host has waited for.
    host: Clock,
    accesses: Vec<Access>,
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
    /// The clock of `actor`, with what the host knows by now.
    fn clock(&mut self, actor: Actor) -> &mut Clock {
        let clock = self.clocks.entry(actor.0).or_default();
        clock.join(&self.host);
        clock
    }

    fn host_learns(&mut self, clock: &Clock) {
        self.host.join(clock);
        let host = &self.host;
        self.accesses.retain(|access| host.time(access.actor.0) < access.time);
    }
}

impl Actor {
    /// A new stream, which knows what the host knows.
    pub(crate) fn begin() -> Self {
        let mut registry = registry();
        registry.next += 1;
        Self(registry.next)
    }

    /// What is done when everything asked of the stream so far is.
    pub(crate) fn record(self) -> Clock {
        registry().clock(self).clone()
    }

    /// Lets everything asked from now on come after `event`.
    pub(crate) fn wait(self, event: &Clock) {
        registry().clock(self).join(event);
    }

    /// The host has waited for everything asked of the stream.
    pub(crate) fn synchronize(self) {
        let mut registry = registry();
        let clock = registry.clock(self).clone();
        registry.host_learns(&clock);
    }

    /// The stream is done, and asked nothing any more.
    pub(crate) fn end(self) {
        self.synchronize();
        let mut registry = registry();
        registry.clocks.remove(&self.0);
        registry.host.forget(self.0);
    }

    /// The stream is asked for something that accesses these bytes: an error if that races with what was asked before.
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
    registry().host_learns(event);
}
