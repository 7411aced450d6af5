//! Tests simulated global memory: accesses and allocations.

mod common;

use std::sync::Mutex;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::memory::{self, Allocation, OutOfMemory, Scope};
use simt::{FaultKind, LaunchConfig, Space};

/// A lock for the tests of this file that allocate. These tests run one at a time, because the amount of allocated
/// memory is counted per process.
static ACCOUNT: Mutex<()> = Mutex::new(());

#[test]
fn values_of_all_sizes_are_kept() {
    fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(value: T, other: T) {
        let array = Array::new(&[value; 5]);
        array.store(2, other);
        assert_eq!(array.to_vec(), [value, value, other, value, value]);
    }
    let _account = ACCOUNT.lock().unwrap();
    let all = || {
        check(1_u8, 255);
        check(1_u16, 0x1234);
        check(1.5_f32, -0.0);
        check(1.5_f64, f64::MIN_POSITIVE);
        check([1.0_f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        check([1_u64, 2], [3, 4]);
    };
    all();
    simulator(1, 0).launch(&KERNEL, LaunchConfig::new(1, 1), all).unwrap();
}

#[test]
fn updates_of_all_threads_count() {
    let _account = ACCOUNT.lock().unwrap();
    for simulator in simulators() {
        let (narrow, wide) = (Array::<i32>::filled(3, -5), Array::<u64>::filled(1, u64::MAX));
        simulator
            .launch(&KERNEL, LaunchConfig::new(30, 70), || {
                narrow.update(1, |value| value + 1);
                wide.update(0, |value| value.min(7 + global_index() as u64));
            })
            .unwrap();
        assert_eq!((narrow.to_vec(), wide.to_vec()), (vec![-5, 2095, -5], vec![7]));
    }
}

#[test]
fn an_update_returns_the_old_value() {
    let _account = ACCOUNT.lock().unwrap();
    let array = Array::<f32>::filled(1, 2.0);
    assert_eq!((array.update(0, |value| value * 3.0), array.load(0)), (2.0, 6.0));
}

#[test]
fn volatile_and_ordered_accesses_work_on_the_host_too() {
    let _account = ACCOUNT.lock().unwrap();
    let array = Array::<u32>::filled(1, 1);
    array.release(0, 2);
    assert_eq!(array.acquire(0), 2);
    // SAFETY: the array lives until the end of the test.
    unsafe { memory::store_scoped(array.at(0), 3, false, Scope::Device) };
    // SAFETY: the array lives until the end of the test.
    let loaded = unsafe { memory::load_scoped(array.at(0), false, Scope::Device) };
    assert_eq!(loaded, 3);
    memory::fence();
}

#[test]
fn a_misaligned_access_is_a_fault() {
    let _account = ACCOUNT.lock().unwrap();
    let bytes = Array::<u8>::filled(64, 0);
    for (offset, size) in [(1, 2), (2, 4), (4, 8), (8, 16)] {
        let address = bytes.at(offset).addr();
        let fault = simulator(1, 0)
            // SAFETY: the array outlives the launch, and all these bytes are in it.
            .launch(&KERNEL, LaunchConfig::new(1, 1), || unsafe {
                match size {
                    2 => memory::store(bytes.at(offset).cast(), 0_u16),
                    4 => _ = memory::load(bytes.at(offset).cast::<f32>()),
                    8 => _ = memory::load_scoped(bytes.at(offset).cast::<u64>(), true, Scope::Device),
                    _ => _ = memory::load(bytes.at(offset).cast::<[f32; 4]>()),
                }
            })
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Misaligned { space: Space::Global, element: None, address, size });
        assert!(fault.location.unwrap().file.ends_with("global_memory.rs"));
    }
    let fault = simulator(1, 0)
        // SAFETY: the array outlives the launch, and all these bytes are in it.
        .launch(&KERNEL, LaunchConfig::new(1, 1), || unsafe {
            memory::update(bytes.at(3).cast(), |value: u32| value);
        })
        .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Misaligned { .. }));
}

#[test]
fn allocations_are_aligned_poisoned_and_accounted_for() {
    let _account = ACCOUNT.lock().unwrap();
    let before = memory::used();
    for bytes in [0, 1, 100, 256, 1 << 20] {
        let allocation = Allocation::new(bytes).unwrap();
        assert_eq!((allocation.len(), allocation.is_empty()), (bytes, bytes == 0));
        assert_eq!(allocation.as_ptr().addr() % 256, 0);
        for i in [0, bytes / 2, bytes.saturating_sub(1)].into_iter().filter(|&i| i < bytes) {
            // SAFETY: the allocation lives and has more than `i` bytes.
            let byte: u8 = unsafe { memory::load(allocation.as_ptr().add(i)) };
            assert_eq!(byte, 0xA5);
        }
        assert_eq!(memory::used(), before + bytes);
    }
    assert_eq!(memory::used(), before);
}

#[test]
fn too_large_an_allocation_is_a_value() {
    let _account = ACCOUNT.lock().unwrap();
    assert!(memory::capacity() > 0);
    let kept = Allocation::new(1000).unwrap();
    let available = memory::capacity() - memory::used();
    for requested in [available + 1, memory::capacity(), isize::MAX as usize, usize::MAX] {
        let error = Allocation::new(requested).unwrap_err();
        assert_eq!(error, OutOfMemory { requested, available });
        assert!(
            error.to_string().contains(&requested.to_string()) && error.to_string().contains(&available.to_string())
        );
    }
    drop(kept);
    assert!(Allocation::new(1000).is_ok());
}

#[test]
fn an_allocation_may_be_made_and_dropped_by_any_thread() {
    let _account = ACCOUNT.lock().unwrap();
    let before = memory::used();
    let allocation = std::thread::spawn(|| Allocation::new(5000).unwrap()).join().unwrap();
    std::thread::spawn(move || drop(allocation)).join().unwrap();
    assert_eq!(memory::used(), before);
}
