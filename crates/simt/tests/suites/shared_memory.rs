//! Tests shared memory: arrays, accesses, limits and faults.

use crate::common;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::{FaultKind, LaunchConfig, Space, shared, thread};

const LIMIT: usize = 227 * 1024;

#[test]
fn all_threads_of_a_block_share_a_static_array_and_blocks_do_not() {
    static SITE: shared::Site = shared::Site::new();
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(9, 100), || {
                let (block, i) = (thread::block_idx().x, thread::thread_idx().x);
                let base = shared::allocate_static(&SITE, 400);
                assert_eq!(base % 16, 0);
                shared::store(base + 4 * i, block * 1000 + i);
                thread::sync_threads();
                assert_eq!(shared::load::<u32>(base + 4 * (99 - i)), block * 1000 + 99 - i);
                assert_eq!(shared::allocate_static(&SITE, 400), base);
            })
            .unwrap();
    }
}

#[test]
fn sites_do_not_overlap_in_any_order_of_threads() {
    static BYTES: shared::Site = shared::Site::new();
    static WORDS: shared::Site = shared::Site::new();
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(4, 64).shared_bytes(13), || {
                let i = thread::thread_idx().x;
                let (bytes, words) = if i.is_multiple_of(2) {
                    let bytes = shared::allocate_static(&BYTES, 64);
                    (bytes, shared::allocate_static(&WORDS, 256))
                } else {
                    let words = shared::allocate_static(&WORDS, 256);
                    (shared::allocate_static(&BYTES, 64), words)
                };
                let (dynamic, len) = shared::dynamic();
                assert_eq!((dynamic % 16, len), (0, 13));
                if i < len {
                    shared::store(dynamic + i, 0xDD_u8);
                }
                shared::store(bytes + i, i as u8);
                shared::store(words + 4 * i, !i);
                thread::sync_threads();
                let other = 63 - i;
                assert_eq!(shared::load::<u8>(bytes + other), other as u8);
                assert_eq!(shared::load::<u32>(words + 4 * other), !other);
                assert_eq!(shared::load::<u8>(dynamic + i % len), 0xDD);
            })
            .unwrap();
    }
}

#[test]
fn every_block_gets_poisoned_memory_and_the_seed_changes_the_pattern() {
    static SITE: shared::Site = shared::Site::new();
    let found = [0, 1, 2, 3].map(|seed| {
        let found = Array::<u32>::filled(2 * 50, 0);
        simulator(1, seed)
            .launch(&KERNEL, LaunchConfig::new(50, 1).shared_bytes(8), || {
                let i = global_index();
                let base = shared::allocate_static(&SITE, 4);
                found.store(2 * i, shared::load(base));
                found.store(2 * i + 1, shared::load(4));
                shared::store(base, 0_u32);
                shared::store(4, 0_u32);
            })
            .unwrap();
        let first = found.load(0);
        assert!(first != 0 && found.to_vec().iter().all(|&word| word == first), "{:x?}", found.to_vec());
        first
    });
    assert_eq!(found[0], 0xA5A5_A5A5);
    assert!(found.iter().any(|&pattern| pattern != found[0]));
}

#[test]
fn values_of_all_sizes_are_kept() {
    simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 1).shared_bytes(48), || {
            shared::store(0, 0x12_u8);
            shared::store(2, 0x3456_u16);
            shared::store(4, 1.5_f32);
            shared::store(8, -2.25_f64);
            shared::store(16, [1.0_f32, 2.0, 3.0, 4.0]);
            assert_eq!((shared::load::<u8>(0), shared::load::<u16>(2), shared::load::<f32>(4)), (0x12, 0x3456, 1.5));
            assert_eq!((shared::load::<f64>(8), shared::load::<[f32; 4]>(16)), (-2.25, [1.0, 2.0, 3.0, 4.0]));
        })
        .unwrap();
}

#[test]
fn updates_are_atomic() {
    static SITE: shared::Site = shared::Site::new();
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(4, 300), || {
                let base = shared::allocate_static(&SITE, 8);
                if thread::thread_idx().x == 0 {
                    shared::store(base, 0_u64);
                }
                thread::sync_threads();
                for _ in 0..10 {
                    shared::update(base, |count: u64| count + 1);
                }
                thread::sync_threads();
                assert_eq!(shared::load::<u64>(base), 3000);
            })
            .unwrap();
    }
}

#[test]
fn a_thread_may_wait_for_another_of_its_block() {
    static SITE: shared::Site = shared::Site::new();
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(20, 64), || {
                let i = thread::thread_idx().x;
                let turn = shared::allocate_static(&SITE, 4);
                if i == 0 {
                    shared::store(turn, 64_u32);
                }
                thread::sync_threads();
                // The threads continue in order from the last to the first.
                while shared::load_relaxed::<u32>(turn) != i + 1 {}
                shared::store(turn, i);
            })
            .unwrap();
    }
}

#[test]
fn all_of_the_limit_can_be_used_and_no_more() {
    static SITE: shared::Site = shared::Site::new();
    let simulator = simulator(1, 0);
    let launch = |dynamic: usize, fixed: usize| {
        simulator.launch(&KERNEL, LaunchConfig::new(1, 1).shared_bytes(dynamic as u32), || {
            let base = shared::allocate_static(&SITE, fixed);
            shared::store(base + fixed as u32 - 1, 1_u8);
        })
    };
    for dynamic in [LIMIT - 32 * 1024, LIMIT - 160, LIMIT - 16] {
        launch(dynamic, LIMIT - dynamic).unwrap();
        let fault = launch(dynamic, LIMIT - dynamic + 1).unwrap_err();
        assert_eq!(fault.kind, FaultKind::SharedMemory { needed: LIMIT + 1, limit: LIMIT });
    }
    // Static arrays have a separate limit.
    for dynamic in [0, 8, 1024] {
        launch(dynamic, 48 * 1024).unwrap();
        let fault = launch(dynamic, 48 * 1024 + 1).unwrap_err();
        let (needed, limit) = (48 * 1024 + 1, 48 * 1024);
        assert_eq!(fault.kind, FaultKind::StaticSharedMemory { needed, limit });
        assert!(fault.to_string().contains("need 49153 bytes, and 49152 are allowed"), "{fault}");
    }
    let config = LaunchConfig::new(1, 1).shared_bytes(LIMIT as u32 + 1);
    let fault = simulator.launch(&KERNEL, config, || {}).unwrap_err();
    assert_eq!((fault.thread, fault.kind), (None, FaultKind::SharedMemory { needed: LIMIT + 1, limit: LIMIT }));
}

#[test]
fn accesses_outside_of_allocations_are_faults() {
    let simulator = simulator(1, 0);
    let config = LaunchConfig::new(1, 1).shared_bytes(20);
    let out_of_bounds =
        |index| FaultKind::OutOfBounds { space: Space::Shared, array: None, element_type: None, index, len: 20 };
    let fault = simulator.launch(&KERNEL, config, || shared::store(20, 1_u8)).unwrap_err();
    assert_eq!(fault.kind, out_of_bounds(20));
    let fault = simulator.launch(&KERNEL, config, || _ = shared::load::<u64>(16)).unwrap_err();
    assert_eq!(fault.kind, out_of_bounds(16));
    let fault = simulator.launch(&KERNEL, config, || _ = shared::load::<u32>(u32::MAX - 3)).unwrap_err();
    assert_eq!(fault.kind, out_of_bounds(u32::MAX as usize - 3));
    let fault = simulator.launch(&KERNEL, config, || _ = shared::load::<u32>(6)).unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::Misaligned {
            space: Space::Shared,
            element: Some(Box::new(("dynamic shared memory", 1))),
            address: 6,
            size: 4
        }
    );
    simulator.launch(&KERNEL, config, || shared::store(16, 1_u32)).unwrap();
}
