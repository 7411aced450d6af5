//! Tests the reports of barriers in shared memory (`mbarrier`) whose phases do not end, or for which threads do not
//! wait: each kernel is reported with the phase, and is clean and right once the message is followed.

use cuda_std::barrier::Barrier;
use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::{Device, Error, FaultKind, LaunchConfig, Remedy};

use crate::cured::{assert_cured, assert_sound};

/// The fault that [`handed_over`] has.
const NONE: u32 = 0;
const TOO_MANY_ARRIVALS: u32 = 1;
const ONE_PHASE_TOO_MANY: u32 = 2;
const WRONG_PARITY: u32 = 3;

/// Passes three values from thread 0 to thread 32, which writes them to `y`.
#[kernel]
fn handed_over(y: GlobalMut<u32>, fault: u32) {
    let (slot, words) = (shared_array![u32; 1], shared_array![u64; 2]);
    let (full, empty) = (Barrier::at(words, 0), Barrier::at(words, 1));
    let i = thread::thread_idx_x();
    if i == 0 {
        full.init(if fault == TOO_MANY_ARRIVALS { 2 } else { 1 });
        empty.init(1);
    }
    thread::sync_threads();
    if i == 0 {
        for round in 0..3 {
            if round > 0 {
                empty.wait_parity(round % 2 == 0);
            }
            slot.store(0, 10 + round);
            let _ = full.arrive();
        }
    }
    if i == 32 {
        let rounds = if fault == ONE_PHASE_TOO_MANY { 4 } else { 3 };
        for round in 0..rounds {
            full.wait_parity(round % 2 == u32::from(fault != WRONG_PARITY));
            y.store(round as usize, slot.load(0));
            let _ = empty.arrive();
        }
    }
}

fn launch(device: &Device, fault: u32) -> Result<Vec<u32>, Error> {
    let mut y = device.zeroed(4)?;
    device.launch(LaunchConfig::new(1, 64), handed_over(y.view_mut(), fault))?;
    y.download()
}

const RIGHT: [u32; 4] = [10, 11, 12, 0];

#[test]
fn a_phase_that_expects_too_many_arrivals() {
    let words = "for phase 0 (parity false) of the barrier `words[0]`, which has 1 of 2 arrivals";
    assert_cured(words, &RIGHT, |device, is_faulty| launch(device, if is_faulty { TOO_MANY_ARRIVALS } else { NONE }));
}

#[test]
fn a_wait_for_a_phase_too_many() {
    let words = "thread (32, 0, 0) waits at crates/launch/tests/suites/phases.rs";
    let fault = assert_cured(words, &RIGHT, |device, is_faulty| {
        launch(device, if is_faulty { ONE_PHASE_TOO_MANY } else { NONE })
    });
    let words =
        "for phase 3 (parity true) of the barrier `words[0]`, which has 0 of 1 arrivals (not from thread (0, 0, 0))";
    assert!(fault.to_string().contains(words), "{fault}");
    let FaultKind::NoProgress { waits, .. } = &fault.kind else { panic!("{fault}") };
    let phase = waits[0].phase.as_ref().unwrap();
    assert_eq!((phase.number, phase.arrived, phase.missing, phase.last), (3, 0, 1, Some(2)));
}

/// Tests that a race or a deadlock by a wrong parity is reported with the phases, whichever comes first in an order.
#[test]
fn a_wait_for_the_wrong_parity() {
    let mut races = 0;
    for device in launch::checked_devices() {
        let Err(Error::Fault(fault)) = launch(&device, WRONG_PARITY) else { panic!("no fault") };
        let text = fault.to_string();
        let part = match &fault.kind {
            FaultKind::Race(race) => {
                assert_eq!(race.remedy, Remedy::LaterPhase, "{text}");
                races += 1;
                "thread (32, 0, 0) has last waited for no phase of the barrier `words[0]`, and the other thread arrives in \
                 phase 0 (parity false); wait for that phase before the access"
            }
            _ => {
                "for phase 1 (parity true) of the barrier `words[0]`, which has 0 of 1 arrivals (not from thread (0, 0, \
                 0)), and has not waited for phase 0 (parity false), which has ended: if it should"
            }
        };
        assert!(text.contains(part), "{text}");
    }
    assert!((1..8).contains(&races), "{races}");
    assert_sound(&RIGHT, |device| launch(device, NONE));
}

/// Passes three values like [`handed_over`], but one of the two threads always waits for parity false.
#[kernel]
fn one_parity(y: GlobalMut<u32>, is_reader: bool, is_faulty: bool) {
    let (slot, words) = (shared_array![u32; 1], shared_array![u64; 2]);
    let (full, empty) = (Barrier::at(words, 0), Barrier::at(words, 1));
    let i = thread::thread_idx_x();
    if i == 0 {
        full.init(1);
        empty.init(1);
    }
    thread::sync_threads();
    for round in 0..3 {
        if i == 0 {
            if round > 0 {
                empty.wait_parity(round % 2 == 0 && (is_reader || !is_faulty));
            }
            slot.store(0, 10 + round);
            let _ = full.arrive();
        }
        if i == 32 {
            full.wait_parity(round % 2 == 1 && !(is_reader && is_faulty));
            y.store(round as usize, slot.load(0));
            let _ = empty.arrive();
        }
    }
}

#[test]
fn a_parity_that_does_not_alternate() {
    let launch = |device: &Device, is_reader, is_faulty| {
        let mut y = device.zeroed(4)?;
        device.launch(LaunchConfig::new(1, 64), one_parity(y.view_mut(), is_reader, is_faulty))?;
        y.download()
    };
    for is_reader in [false, true] {
        let faults = launch::checked_devices().map(|device| match launch(&device, is_reader, true) {
            Err(Error::Fault(fault)) => fault,
            other => panic!("{other:?}"),
        });
        let texts: Vec<String> = faults.map(|fault| fault.to_string()).collect();
        let part = ", and has not waited for phase";
        assert!(texts.iter().all(|text| text.contains(part)), "{texts:#?}");
        assert_sound(&RIGHT, |device| launch(device, is_reader, false));
    }
}

/// Lets all threads meet at a barrier in four rounds. One thread does not wait in the round `skipped`.
#[kernel]
fn meets(y: GlobalMut<u32>, skipped: u32) {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    let i = thread::thread_idx_x();
    if i == 0 {
        barrier.init(64);
    }
    thread::sync_threads();
    for round in 0..4 {
        let _ = barrier.arrive();
        if i != 33 || round != skipped {
            barrier.wait_parity(round % 2 == 1);
        }
    }
    y.store(i as usize, 4);
}

#[test]
fn a_phase_for_which_a_thread_does_not_wait() {
    let run = |device: &Device, skipped| {
        let mut y = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), meets(y.view_mut(), skipped))?;
        y.download()
    };
    let Err(Error::Fault(fault)) = run(&launch::checked_devices().next().unwrap(), 1) else { panic!("no fault") };
    let part = "for phase 2 (parity false) of the barrier in element 0 of shared array at crates/launch/tests/suites/";
    assert!(fault.to_string().contains(part), "{fault}");
    assert!(fault.to_string().contains(" arrivals (not from thread (33, 0, 0))"), "{fault}");
    assert_sound(&[4; 64], |device| run(device, 4));
}

/// Waits for a phase of an early token, or of the latest one.
#[kernel]
fn waits_for_token(y: GlobalMut<u32>, is_faulty: bool) {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    let i = thread::thread_idx_x();
    if i == 0 {
        barrier.init(32);
    }
    thread::sync_threads();
    let first = barrier.arrive();
    barrier.wait(first);
    let second = barrier.arrive();
    barrier.wait(second);
    barrier.wait(if is_faulty { first } else { second });
    y.store(i as usize, 1);
}

#[test]
fn a_wait_for_a_phase_that_ended_long_ago() {
    let words =
        "a wait for phase 0 of the barrier in element 0 of shared array at crates/launch/tests/suites/phases.rs";
    let fault = assert_cured(words, &[1; 32], |device, is_faulty| {
        let mut y = device.zeroed(32)?;
        device.launch(LaunchConfig::new(1, 32), waits_for_token(y.view_mut(), is_faulty))?;
        y.download()
    });
    assert!(fault.to_string().contains("which is in phase 2: wait for a phase before the next one ends"), "{fault}");
}
