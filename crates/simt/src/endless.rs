//! Finds loops that never end: threads that run for a long time in loops, without a memory access and without waiting.

use std::cell::Cell;
use std::panic::Location;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::block::Block;
use crate::block::looping::Looping;
use crate::current::current;
use crate::faults::FaultKind;
use crate::watch::is_watching;

/// The environment variable with the time in seconds after which a loop counts as endless.
const VARIABLE: &str = "GRIDSTRIDE_LOOP_SECONDS";
/// The default of [`VARIABLE`].
const DEFAULT: Duration = Duration::from_secs(10);
/// The simulator does not observe plain accesses in launches without checks. There, a loop counts as endless after this
/// many times the limit.
const UNWATCHED_FACTOR: u32 = 6;
/// A loop reads the clock once in this many iterations. A power of two.
const ITERATIONS: u32 = 1 << 16;

/// Counts the iterations of a loop.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct LoopCount(Cell<u32>);

impl LoopCount {
    /// Makes the count of a loop that begins.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(Cell::new(0))
    }

    /// Notes that an iteration of the loop begins. Ends the launch with a fault if the thread has looped for too long.
    #[inline(always)]
    #[track_caller]
    pub fn again(&self) {
        let count = self.0.get().wrapping_add(1);
        self.0.set(count);
        if count & (ITERATIONS - 1) == 0 {
            check(Location::caller());
        }
    }
}

#[cold]
#[inline(never)]
fn check(at: &'static Location<'static>) {
    let Some(block) = current() else { return };
    if block.is_unwinding() {
        return;
    }
    let activity = block.activity.get();
    match block.looping.get() {
        Some(looping) if looping.activity == activity => {
            if looping.since.elapsed() > limit(block) {
                block.raise(FaultKind::EndlessLoop { seconds: limit(block).as_secs() }, at);
            }
        }
        _ => block.looping.set(Some(Looping { activity, since: Instant::now() })),
    }
}

fn limit(block: &Block) -> Duration {
    block.grid().loop_limit * if is_watching() { 1 } else { UNWATCHED_FACTOR }
}

/// Returns the time after which a loop counts as endless, which the environment variable [`VARIABLE`] may set.
///
/// # Errors
/// A message if the variable is not a positive number of seconds.
pub(crate) fn default_limit() -> Result<Duration, String> {
    static LIMIT: OnceLock<Result<Duration, String>> = OnceLock::new();
    let read = || match std::env::var_os(VARIABLE) {
        None => Ok(DEFAULT),
        Some(text) => {
            let seconds = text.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|&seconds| seconds > 0);
            let error = || format!("{VARIABLE} is {text:?}: give a number of seconds, such as 30, or unset it");
            seconds.map(|seconds| Duration::from_secs(seconds.into())).ok_or_else(error)
        }
    };
    LIMIT.get_or_init(read).clone()
}
