//! Tests remedies that offer alternatives. Each alternative must cure a kernel for which it is meant.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::{GlobalMut, fence, kernel, shared_array, thread};
use launch::{Device, LaunchConfig};
use simt::Remedy;
use tests::checked_devices;

use super::remedies::{assert_cured, filled};
use super::remedies_beside_atomics::assert_cured_or;

/// The faulty variant of a kernel. Each of the following constants is a variant that applies another alternative.
const FAULTY: u32 = 0;
const BARRIER: u32 = 1;
const ATOMIC: u32 = 2;
const OWN_ELEMENT: u32 = 3;
const RELEASE: u32 = 4;
const FENCES: u32 = 5;

/// Returns the variant to launch: `FAULTY` if `is_faulty` is true, and `cure` otherwise.
fn cured_by(cure: u32, is_faulty: bool) -> u32 {
    if is_faulty { FAULTY } else { cure }
}

/// A kernel in which all threads store the same value. All threads store the value to one element, or each thread
/// stores the value to a separate element.
#[kernel]
fn a_sign_of_all(y: GlobalMut<u32>, cure: u32) {
    let i = thread::index_1d();
    match cure {
        ATOMIC => y.store_relaxed(0, 7),
        OWN_ELEMENT => y.store(i, 7),
        _ => y.store(0, 7),
    }
}

#[test]
fn one_thread_or_own_elements_or_atomic_stores() {
    for (cure, elements) in [(ATOMIC, 1), (OWN_ELEMENT, 64)] {
        assert_cured(Remedy::OneThread, &vec![7; elements], |device, is_faulty| {
            filled!(device, LaunchConfig::new(2, 32), elements, |y| a_sign_of_all(y, cured_by(cure, is_faulty)))
        });
    }
    // If atomic stores had different values, the last store would determine the result. The remedy therefore has this
    // condition.
    assert!(Remedy::OneThread.to_string().contains("if the result is right in any order"));
}

/// A kernel in which one element is stored in each round, by a different thread each time.
#[kernel]
fn rounds(y: GlobalMut<u32>, cure: u32) {
    let (last, i) = (shared_array![u32; 1], thread::thread_idx_x());
    for round in 0..3 {
        if i == 32 * round {
            last.store(0, round);
        }
        if cure == BARRIER {
            thread::sync_threads();
        }
    }
    if i == 64 {
        y.store(0, last.load(0));
    }
}

#[test]
fn a_barrier_between_the_rounds_of_a_loop() {
    assert_cured(Remedy::OneThread, &[2], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 96), 1, |y| rounds(y, cured_by(BARRIER, is_faulty)))
    });
}

/// A kernel in which all threads read a value. Then the first thread adds to that value.
#[kernel]
fn an_update_by_one(y: GlobalMut<u32>, cure: u32) {
    let (sum, i) = (shared_array![u32; 1], thread::thread_idx_x() as usize);
    if i == 0 {
        sum.store(0, 3);
    }
    thread::sync_threads();
    let found = sum.load(0);
    if cure == BARRIER {
        thread::sync_threads();
    }
    if i == 0 {
        sum.store(0, found + 4);
    }
    thread::sync_threads();
    y.store(i, found + sum.load(0));
}

#[test]
fn a_barrier_beside_the_update_of_one_thread() {
    assert_cured(Remedy::AtomicUpdate, &[10; 64], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64), 64, |y| an_update_by_one(y, cured_by(BARRIER, is_faulty)))
    });
}

/// A kernel in which the second block reads a value that the first block writes. In the cured variants, the second
/// block first waits in a loop for a flag.
#[kernel]
fn a_value_across_blocks(y: GlobalMut<u32>, cure: u32) {
    if thread::block_idx_x() == 0 {
        y.store(0, 7);
        match cure {
            RELEASE => y.store_release(1, 1),
            _ => {
                if cure == FENCES {
                    fence();
                }
                y.store_relaxed(1, 1);
            }
        }
        return;
    }
    match cure {
        FAULTY => {}
        RELEASE => while y.load_acquire(1) == 0 {},
        _ => while y.load_relaxed(1) == 0 {},
    }
    if cure == FENCES {
        fence();
    }
    y.store(2, y.load(0));
}

#[test]
fn a_release_and_an_acquire_or_fences() {
    for cure in [RELEASE, FENCES] {
        assert_cured(Remedy::BetweenBlocks, &[7, 1, 7], |device, is_faulty| {
            filled!(device, LaunchConfig::new(2, 1), 3, |y| a_value_across_blocks(y, cured_by(cure, is_faulty)))
        });
    }
}

/// A kernel in which one block reads whether the other block has started. Both answers are correct.
#[kernel]
fn a_look_at_a_sign(y: GlobalMut<u32>, cure: u32) {
    if thread::block_idx_x() == 0 {
        if cure == ATOMIC { y.store_relaxed(0, 1) } else { y.store(0, 1) }
    } else {
        let found = if cure == ATOMIC { y.load_relaxed(0) } else { y.load(0) };
        y.store(1, u32::from(found <= 1));
    }
}

#[test]
fn atomics_where_any_order_is_right() {
    assert_cured(Remedy::BetweenBlocks, &[1, 1], |device, is_faulty| {
        filled!(device, LaunchConfig::new(2, 1), 2, |y| a_look_at_a_sign(y, cured_by(ATOMIC, is_faulty)))
    });
    for remedy in [Remedy::BetweenBlocks, Remedy::GridBarrier] {
        assert!(remedy.to_string().contains("if the result is right in either order, make both atomic"));
    }
}

/// A kernel that adds to an element that another block or the previous launch initialises.
#[kernel]
fn begun_and_added_to(y: GlobalMut<u32>, begins: bool, adds: bool) {
    if begins && thread::block_idx_x() == 0 {
        y.atomic_exchange(0, 5);
    }
    if adds {
        y.atomic_add(0, 1);
    }
}

#[test]
fn a_first_write_that_is_moved_to_the_host_or_a_launch_before() {
    let config = LaunchConfig::new(2, 1);
    let faulty = |device: &Device| {
        let mut y = device.alloc::<u32>(1)?;
        device.launch(config, begun_and_added_to(y.view_mut(), true, true))?;
        y.download()
    };
    // In orders in which the read comes first, the element is still uninitialised.
    assert_cured_or(None, Remedy::InitialiseBefore, &[7], |device, is_faulty| {
        if is_faulty {
            return faulty(device);
        }
        let mut y = device.alloc::<u32>(1)?;
        device.launch(config, begun_and_added_to(y.view_mut(), true, false))?;
        device.launch(config, begun_and_added_to(y.view_mut(), false, true))?;
        y.download()
    });
    assert_cured_or(None, Remedy::InitialiseBefore, &[7], |device, is_faulty| {
        if is_faulty {
            return faulty(device);
        }
        let mut y = device.upload(&[5])?;
        device.launch(config, begun_and_added_to(y.view_mut(), false, true))?;
        y.download()
    });
    // If the host stored zeros in addition to the kernel's write, there would be no fault, but the sum would be correct
    // only in some orders.
    assert!(Remedy::InitialiseBefore.to_string().starts_with("move that first write"));
}

/// A kernel that adds to an element of shared memory that the first thread initialises. In one variant, a barrier
/// follows this first write.
#[kernel]
fn begun_in_a_block(y: GlobalMut<u32>, cure: u32) {
    let (sum, i) = (shared_array![u32; 1], thread::thread_idx_x());
    if i == 0 {
        sum.atomic_exchange(0, 5);
    }
    if cure == BARRIER {
        thread::sync_threads();
    }
    if i >= 32 {
        sum.atomic_add(0, 1);
    }
    thread::sync_threads();
    if i == 0 {
        y.store(0, sum.load(0));
    }
}

#[test]
fn a_barrier_after_the_first_write() {
    assert_cured_or(None, Remedy::BlockBarrier, &[37], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64), 1, |y| begun_in_a_block(y, cured_by(BARRIER, is_faulty)))
    });
}

/// A kernel in which all threads add 1 to an element, by an atomic that is made from a mutable borrow or from a raw
/// pointer.
#[kernel]
fn counts_by_borrows(y: GlobalMut<u32>, cure: u32) {
    // SAFETY: none for the faulty variant, whose borrows exist at the same time. The other one makes no reference.
    let elements = unsafe { y.as_mut_slice() };
    let counter = if cure == ATOMIC { &raw mut elements[0] } else { &mut elements[0] };
    // SAFETY: the element is aligned, and in the cured variant all accesses are atomic.
    unsafe { AtomicU32::from_ptr(counter) }.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_raw_pointer_instead_of_a_borrow() {
    assert_cured(Remedy::NoBorrow, &[64], |device, is_faulty| {
        filled!(device, LaunchConfig::new(2, 32), 1, |y| counts_by_borrows(y, cured_by(ATOMIC, is_faulty)))
    });
}

/// A kernel in which each of two blocks announces itself and then looks for the other. A block that sees no other adds
/// 1 to `y[0]`.
#[kernel]
fn alone(words: GlobalMut<u32>, y: GlobalMut<u32>, cure: u32) {
    let me = thread::block_idx_x() as usize;
    words.store_release(me, 1);
    if cure == FENCES {
        fence();
    }
    if words.load_acquire(1 - me) == 0 {
        y.store(0, y.load(0) + 1);
    }
}

#[test]
fn a_fence_between_the_store_and_the_load_of_two_threads() {
    let run = |device: &Device, cure| -> Result<u32, launch::Error> {
        let (mut words, mut y) = (device.zeroed(2)?, device.zeroed(1)?);
        device.launch(LaunchConfig::new(2, 1), alone(words.view_mut(), y.view_mut(), cure))?;
        Ok(y.download()?[0])
    };
    let mut found = 0;
    for device in checked_devices() {
        match run(&device, FAULTY) {
            Ok(entered) => assert!(entered < 2),
            Err(launch::Error::Fault(fault)) => {
                let older = fault.older.as_ref().unwrap_or_else(|| panic!("{fault}"));
                assert_eq!(older.remedy, Remedy::SequentialFences, "{fault}");
                found += 1;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(run(&device, FENCES).unwrap() < 2, "{}", device.summary());
    }
    assert!(found > 0);
}

#[test]
fn every_remedy_has_a_kernel_that_it_cures() {
    let source = include_str!("../../../crates/simt/src/faults/remedy.rs");
    let variants = source.split("pub enum Remedy {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let names: Vec<&str> = variants.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.contains(' ')).collect();
    assert!(names.len() >= 26 && names.contains(&"OneCopy"), "{names:?}");
    let tests = [
        include_str!("remedies.rs"),
        include_str!("remedies_beside_atomics.rs"),
        include_str!("remedies_by_halves.rs"),
        include_str!("remedies_of_clusters.rs"),
        include_str!("remedies_of_copies.rs"),
        include_str!("../classified/bulk_remedies.rs"),
        include_str!("../classified/families/warpgroups/remedies.rs"),
        include_str!("../../../crates/launch/tests/suites/phases.rs"),
        include_str!("../../../crates/launch/tests/suites/remedies.rs"),
        include_str!("../../../crates/launch/tests/suites/load_buffering.rs"),
        include_str!("../../../crates/launch/tests/suites/read_only_loads.rs"),
        include_str!("../../../crates/launch/tests/suites/shuffle_sources.rs"),
    ];
    for name in names {
        let is_tested = |text: &&str| text.contains(&format!("Remedy::{name}"));
        assert!(tests.iter().any(is_tested), "no kernel is cured by Remedy::{name}");
    }
}
