//! Tests the stacks of waiting threads. This test is a separate program, because it uses all stacks that a process may
//! have.

mod common;

use common::{Array, KERNEL, simulator};
use simt::{FaultKind, LaunchConfig, thread};

#[test]
fn more_waiting_threads_than_the_system_has_stacks_for_end_the_launch() {
    let simulator = simulator(2, 0);
    let arrived = Array::<u32>::filled(1, 0);
    let blocks = 100_000;
    let fault = simulator
        .launch(&KERNEL, LaunchConfig::new(blocks, 1024), || {
            // The blocks wait for each other, so no block ends before the last one has begun.
            if thread::thread_idx().x == 1023 {
                arrived.update(0, |count| count + 1);
                while arrived.acquire(0) < blocks {}
            }
            thread::sync_threads();
        })
        .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::HostMemory(_)), "{fault}");
    simulator.launch(&KERNEL, LaunchConfig::new(8, 1024), thread::sync_threads).unwrap();
}
