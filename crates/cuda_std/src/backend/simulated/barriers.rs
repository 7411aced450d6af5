//! Barriers in shared memory and the barrier of the grid, in the simulator.

extern crate std;

use std::borrow::ToOwned;
use std::format;

use simt::{FaultKind, bulk, cluster, shared, thread};

use crate::barrier::{MAX_COUNT, word};

pub use simt::thread::{arrive_named, sync_grid, sync_named, wait_for_dependencies};

/// Does nothing, because the simulator runs one launch after the other.
pub const fn launch_dependents() {}

/// Ends the launch with `reason` at the kernel's line.
#[cold]
#[track_caller]
fn misuse(reason: &str) -> ! {
    thread::fault(FaultKind::Panic(reason.to_owned()))
}

#[track_caller]
pub fn barrier_init(address: u32, count: u32) {
    if count == 0 || count > MAX_COUNT {
        misuse("the count of a barrier must be 1 to 2²⁰ − 1");
    }
    shared::store(address, word::new(count));
    bulk::note_init(address);
}

#[track_caller]
fn arrive(address: u32, drops: bool) -> u64 {
    let before = shared::arrive(address, |before| arrived(before, drops, bulk::is_outstanding(address)));
    check_initialised(address, before);
    check_arrival(address, before);
    word::phase(before)
}

/// Returns the word of a barrier after an arrival, and true if the arrival ends a phase.
fn arrived(before: u64, drops: bool, waits: bool) -> (u64, bool) {
    let after = word::arrived(before, drops, waits);
    (after, word::phase(before) != word::phase(after))
}

#[track_caller]
fn check_arrival(address: u32, before: u64) {
    if word::missing(before) != 0 {
        return;
    }
    let name = shared::barrier_name(address);
    match bulk::own_expectation(address) {
        Some(at) => misuse(&format!(
            "an arrival too many at {name}, whose phase has all its arrivals and waits for bytes that this thread has \
             expected at {at}: let this thread wait before it arrives again, in a pipeline for the phase of the \
             barrier at which the readers arrive when they have released the stage"
        )),
        None => misuse(&format!(
            "an arrival too many at {name}, whose phase has all its arrivals and waits for bytes: give `init` the \
             number of arrivals of a phase, including those of `arrive_and_expect`, and let each thread wait for the \
             phase before it arrives again"
        )),
    }
}

#[track_caller]
pub fn barrier_expect(address: u32, bytes: u32) {
    check_initialised(address, bulk::peek(address));
    bulk::expect(address, bytes, word::completed);
}

#[track_caller]
pub fn barrier_arrive_and_expect(address: u32, bytes: u32) -> u64 {
    check_initialised(address, bulk::peek(address));
    check_arrival(address, bulk::peek(address));
    barrier_expect(address, bytes);
    arrive(address, false)
}

#[track_caller]
pub fn barrier_arrive_at(address: u32, rank: u32) {
    let before = cluster::arrive_at_barrier(cluster::map(address, rank), |before, waits| arrived(before, false, waits));
    check_initialised(address, before);
    check_arrival(address, before);
}

pub use bulk::fence_init as fence_barrier_init;

#[track_caller]
pub fn fence_proxy_async() {
    bulk::fence_proxy(false);
}

#[track_caller]
pub fn fence_proxy_async_shared() {
    bulk::fence_proxy(true);
}

#[track_caller]
pub(super) fn check_initialised(address: u32, state: u64) {
    if !word::is_initialised(state) {
        misuse(&format!(
            "{} is not initialised: let one thread call `init`, followed by a block barrier",
            shared::barrier_name(address)
        ));
    }
}

#[track_caller]
pub fn barrier_arrive(address: u32) -> u64 {
    arrive(address, false)
}

#[track_caller]
pub fn barrier_arrive_and_drop(address: u32) -> u64 {
    arrive(address, true)
}

/// Loads the word of a barrier.
#[track_caller]
fn load(address: u32) -> u64 {
    bulk::poll(address);
    let state = shared::load_phase(address);
    check_initialised(address, state);
    state
}

/// Notes that the thread has read `state`, and returns `is_over`.
#[track_caller]
fn noted(address: u32, state: u64, is_over: bool) -> bool {
    shared::note_phase(address, is_over, word::phase(state), word::missing(state));
    is_over
}

#[track_caller]
pub fn barrier_is_over(address: u32, phase: u64) -> bool {
    let state = load(address);
    match word::phase(state).wrapping_sub(phase) & 0xFF {
        0 => noted(address, state, false),
        1 => noted(address, state, true),
        _ => misuse(&format!(
            "a wait for phase {phase} of {}, which is in phase {}: wait for a phase before the next one ends (phases \
            are counted from 0, modulo 256)",
            shared::barrier_name(address),
            word::phase(state)
        )),
    }
}

pub use simt::shared::begin_wait as begin_barrier_wait;

pub use {barrier_is_over as barrier_try_wait, barrier_parity_is_over as barrier_try_wait_parity};

#[track_caller]
pub fn barrier_parity_is_over(address: u32, parity: bool) -> bool {
    let state = load(address);
    noted(address, state, word::phase(state) % 2 != u64::from(parity))
}
