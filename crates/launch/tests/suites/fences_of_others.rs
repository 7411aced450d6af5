//! Tests flags that one thread sets after a barrier, for accesses that another thread's fence before the barrier has
//! released. GPUs keep this order; PTX's memory model does so within the block only.

use core::sync::atomic::Ordering;

use cuda_std::{GlobalMut, fence, kernel, thread, warp};
use launch::{Checks, Device, Error, LaunchConfig, NoteKind, Notes, Remedy, Schedule, Simulator};

use crate::cured::assert_sound;

/// Sends a value from thread 33 of block 0 to block 1, by a flag that thread 0 sets. `words` has the value, the flag, a
/// counter and the result. `fences` selects the thread that releases the value: thread 33 or thread 0.
#[kernel]
fn flag_after_a_barrier(words: GlobalMut<u32>, by_other: bool, is_update: bool) {
    let i = thread::thread_idx_x();
    if thread::block_idx_x() == 0 {
        if i == 33 {
            words.store(0, 42);
            if is_update {
                words.atomic(2).fetch_add(1, Ordering::AcqRel);
            } else {
                fence();
            }
        }
        thread::sync_threads();
        if i == 0 {
            if !by_other {
                fence();
            }
            words.store_relaxed(1, 1);
        }
    } else if i == 0 {
        while words.load_acquire(1) == 0 {}
        words.store(3, words.load(0));
    }
}

/// Sends a value from lane 5 of warp 0 to warp 1 of the same block, by a flag that lane 0 sets after a warp
/// synchronisation.
#[kernel]
fn flag_in_the_block(words: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    if i < 32 {
        if i == 5 {
            words.store(0, 42);
            fence();
        }
        warp::sync_warp(warp::FULL_MASK);
        if i == 0 {
            words.store_relaxed(1, 1);
        }
    } else if i == 32 {
        while words.load_acquire(1) == 0 {}
        words.store(3, words.load(0));
    }
}

fn send(device: &Device, by_other: bool, is_update: bool) -> Result<Vec<u32>, Error> {
    let mut words = device.zeroed(4)?;
    device.launch(LaunchConfig::new(2, 64), flag_after_a_barrier(words.view_mut(), by_other, is_update))?;
    Ok(vec![words.download()?[3]])
}

fn simulator(schedule: Schedule, checks: Checks) -> Simulator {
    Simulator::new().with_schedule(schedule).with_checks(checks)
}

#[test]
fn a_fence_of_another_thread_is_a_fault_under_strict_checks() {
    for (schedule, is_update) in
        Schedule::HOSTILE.into_iter().flat_map(|schedule| [(schedule, false), (schedule, true)])
    {
        let device = Device::simulated(simulator(schedule, Checks::STRICT));
        match send(&device, true, is_update) {
            Err(Error::Fault(fault)) => assert_eq!(fault.remedy(), Some(Remedy::Release), "{schedule}: {fault}"),
            other => panic!("{schedule}: {other:?}"),
        }
        assert_eq!(send(&device, false, is_update).unwrap(), [42], "{schedule}");
    }
}

#[test]
fn a_fence_of_another_thread_is_a_warning_by_default() {
    for is_update in [false, true] {
        assert_sound(&[42], |device| send(device, true, is_update));
        let notes = Notes::new();
        let device = Device::simulated(simulator(Schedule::Natural, Checks::default()).with_notes(notes.clone()));
        assert_eq!(send(&device, true, is_update).unwrap(), [42]);
        let found = notes.take();
        let [note] = &found[..] else { panic!("{found:?}") };
        assert!(matches!(note.kind, NoteKind::FenceOfOther(_)), "{note}");
        assert!(note.to_string().contains("data race on `words[0]`"), "{note}");
        assert_eq!(send(&device, false, is_update).unwrap(), [42]);
        assert_eq!(notes.take(), []);
    }
}

#[test]
fn a_flag_within_the_block() {
    for schedule in Schedule::HOSTILE {
        let notes = Notes::new();
        for checks in [Checks::default(), Checks::STRICT] {
            let device = Device::simulated(simulator(schedule, checks).with_notes(notes.clone()));
            let mut words = device.zeroed::<u32>(4).unwrap();
            device.launch(LaunchConfig::new(1, 64), flag_in_the_block(words.view_mut())).unwrap();
            assert_eq!(words.download().unwrap()[3], 42);
        }
        assert_eq!(notes.take(), [], "{schedule}");
    }
}
