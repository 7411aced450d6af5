//! Tests the faults of reads of uninitialised memory.

use crate::common;

use std::hint::black_box;

use common::KERNEL;
use common::races::{checked, first_index as me};
use simt::memory::{Allocation, Scope};
use simt::{Fault, FaultKind, LaunchConfig, Region, Simulator, Space, memory, shared, thread};

static TILE: shared::Site = shared::Site::new();

fn tile() -> u32 {
    shared::allocate_static(&TILE, 4096)
}

#[track_caller]
fn load<T: bytemuck::Pod>(memory: &Allocation, byte: usize) {
    assert!(byte + size_of::<T>() <= memory.len());
    // SAFETY: the line above tests that the value is in bounds. The allocation lives as long as the launch.
    black_box(unsafe { memory::load(memory.as_ptr().add(byte).cast::<T>()) });
}

#[track_caller]
fn store<T: bytemuck::Pod>(memory: &Allocation, byte: usize, value: T) {
    assert!(byte + size_of::<T>() <= memory.len());
    // SAFETY: the line above tests that the value is in bounds. The allocation lives as long as the launch.
    unsafe { memory::store(memory.as_ptr().add(byte).cast::<T>(), value) };
}

fn launch(simulator: &Simulator, kernel: impl Fn() + Sync) -> Result<(), Fault> {
    simulator.launch(&KERNEL, LaunchConfig::new(2, 64), kernel).map(drop)
}

/// Returns the memory space, the index and the source line of the fault, which must be a read of uninitialised memory.
#[track_caller]
fn unwritten(result: Result<(), Fault>) -> (Space, usize, u32) {
    match result {
        Err(Fault { kind: FaultKind::Uninitialised { space, index, .. }, location: Some(location), .. }) => {
            (space, index, location.line)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn discarded_memory_is_unwritten_until_it_is_written_again() {
    let simulator = checked();
    let line = line!() + 6;
    let write_again = |is_written: bool| {
        launch(&simulator, || {
            let at = tile() + 16 * me();
            shared::store(at, 1_u128);
            shared::discard::<u128>(at);
            let early = || black_box(shared::load::<u64>(at + 8));
            if is_written {
                shared::fill(at, 2_u128);
            }
            assert_eq!(early(), 0);
        })
    };
    write_again(true).unwrap();
    assert_eq!(unwritten(write_again(false)).2, line);
}

#[test]
fn fresh_memory_is_unwritten_until_the_host_or_a_kernel_writes_it() {
    let simulator = checked();
    let memory = simulator.allocate(10_000).unwrap();
    let start = memory.as_ptr() as usize;
    let line = line!() + 1;
    let read = |byte: usize| launch(&simulator, || load::<u32>(&memory, byte));
    for byte in [0, 4, 4096, 9996] {
        assert_eq!(unwritten(read(byte)), (Space::Global, start + byte, line));
    }
    memory.note_written(0, 4096);
    for byte in [0, 4, 4092] {
        read(byte).unwrap();
    }
    assert_eq!(unwritten(read(4096)).1, start + 4096);
    // One byte of four is unwritten.
    memory.note_written(4096, 3);
    assert_eq!(unwritten(read(4096)).1, start + 4096);
    launch(&simulator, || {
        if thread::block_idx().x == 0 && me() == 0 {
            store(&memory, 4099, 1_u8);
            load::<u32>(&memory, 4096);
        }
    })
    .unwrap();
    read(4096).unwrap();
    assert_eq!(unwritten(read(4100)).1, start + 4100);
}

#[test]
fn every_width_is_checked_and_noted() {
    fn check<T: bytemuck::Pod>(memory: &Allocation, simulator: &Simulator, byte: usize) {
        let one = |kernel: &(dyn Fn() + Sync)| simulator.launch(&KERNEL, LaunchConfig::new(1, 1), kernel).map(drop);
        let size = size_of::<T>();
        assert_eq!(unwritten(one(&|| load::<T>(memory, byte))).0, Space::Global);
        one(&|| store(memory, byte, T::zeroed())).unwrap();
        one(&|| load::<T>(memory, byte)).unwrap();
        assert_eq!(unwritten(one(&|| load::<u8>(memory, byte + size))).1, memory.as_ptr() as usize + byte + size);
        assert_eq!(unwritten(one(&|| load::<u8>(memory, byte - 1))).1, memory.as_ptr() as usize + byte - 1);
    }
    let simulator = checked();
    let memory = simulator.allocate(4096).unwrap();
    check::<u8>(&memory, &simulator, 101);
    check::<u16>(&memory, &simulator, 202);
    check::<u32>(&memory, &simulator, 404);
    check::<u64>(&memory, &simulator, 808);
    check::<[u64; 2]>(&memory, &simulator, 1616);
    check::<[u64; 2]>(&memory, &simulator, 2048 - 16);
}

#[test]
fn atomics_read_and_write_as_others_do() {
    let simulator = checked();
    let memory = simulator.allocate(64).unwrap();
    let at = |word: usize| {
        assert!(word < 16);
        memory.as_ptr().cast::<u32>().wrapping_add(word) as usize
    };
    // SAFETY: `at` returns a word of the allocation, which lives as long as the launches.
    let update_word = |word| unsafe { memory::update(at(word) as *mut u32, |old| old) };
    // SAFETY: `at` returns a word of the allocation, which lives as long as the launches.
    let load_relaxed = |word| unsafe { memory::load_scoped(at(word) as *const u32, false, Scope::Device) };
    // SAFETY: `at` returns a word of the allocation, which lives as long as the launches.
    let load_acquire = |word| unsafe { memory::load_scoped(at(word) as *const u32, true, Scope::Device) };
    // SAFETY: `at` returns a word of the allocation, which lives as long as the launches.
    let store_relaxed = |word| unsafe { memory::store_scoped(at(word) as *mut u32, 1, false, Scope::Device) };
    let update = |word| launch(&simulator, || _ = update_word(word));
    let relaxed = |word| launch(&simulator, || _ = load_relaxed(word));
    let acquire = |word| launch(&simulator, || _ = load_acquire(word));
    let write = |word| launch(&simulator, || store_relaxed(word));
    for word in 0..3 {
        assert_eq!(unwritten(update(word)).1, at(word));
        assert_eq!(unwritten(relaxed(word)).1, at(word));
        assert_eq!(unwritten(acquire(word)).1, at(word));
        write(word).unwrap();
        update(word).unwrap();
        relaxed(word).unwrap();
        acquire(word).unwrap();
    }
}

#[test]
fn memory_of_unknown_origin_counts_as_written() {
    let memory = Allocation::new(64).unwrap();
    launch(&checked(), || load::<u32>(&memory, 0)).unwrap();
    let simulator = Simulator::new();
    let memory = simulator.allocate(64).unwrap();
    launch(&simulator, || load::<u32>(&memory, 0)).unwrap();
}

#[test]
fn freed_memory_is_forgotten() {
    let simulator = checked();
    for _ in 0..20 {
        let memory = simulator.allocate(256).unwrap();
        assert!(launch(&simulator, || load::<u32>(&memory, 0)).is_err());
        memory.note_written(0, 256);
        launch(&simulator, || load::<u32>(&memory, 0)).unwrap();
    }
}

#[test]
fn the_array_is_named() {
    let simulator = checked();
    let memory = simulator.allocate(1024).unwrap();
    let start = memory.as_ptr() as usize;
    let regions = [Region { name: "weights", start: start + 256, bytes: 512, element: 8, is_writable: false }];
    let launch = simulator.launch_on(&KERNEL, LaunchConfig::new(1, 1), &regions, || load::<f64>(&memory, 256 + 8 * 5));
    let fault = launch.unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::Uninitialised {
            space: Space::Global,
            array: Some("weights"),
            element_type: None,
            index: 5,
            copy: None
        }
    );
    assert!(fault.to_string().contains("`weights[5]` in global memory"), "{fault}");
}

#[test]
fn shared_memory_is_unwritten_in_every_block() {
    let write_then_read = |written: u32, read: u32| {
        launch(&checked(), || {
            let is_first = thread::block_idx().x == 0;
            if is_first || me() < written {
                shared::store(tile() + 4 * me(), me());
            }
            thread::sync_threads();
            if me() == 63 {
                black_box(shared::load::<u32>(tile() + 4 * read));
            }
        })
    };
    write_then_read(64, 63).unwrap();
    write_then_read(33, 32).unwrap();
    // The second block has not written the words that the first block has written.
    assert_eq!(unwritten(write_then_read(33, 33)).0, Space::Shared);
    assert_eq!(unwritten(write_then_read(64, 64)).1, 256);
}

#[test]
fn part_of_a_shared_value_is_not_enough() {
    let kernel = |bytes: u32| {
        launch(&checked(), || {
            if me() == 0 {
                for byte in 0..bytes {
                    shared::store(tile() + 64 + byte, 0_u8);
                }
                black_box(shared::load::<[u64; 2]>(tile() + 64));
            }
        })
    };
    assert_eq!(unwritten(kernel(15)), (Space::Shared, 64, line!() - 4));
    kernel(16).unwrap();
    let update = launch(&checked(), || {
        black_box(shared::update(tile(), |old: u32| old));
    });
    assert_eq!(unwritten(update).0, Space::Shared);
}

#[test]
fn an_exchange_whose_result_is_not_used_initialises() {
    let simulator = checked();
    let memory = simulator.allocate(64).unwrap();
    // SAFETY: the memory has 16 numbers, and lives as long as the launches.
    let exchange = |i: usize| unsafe { memory::update(memory.as_ptr().cast::<u32>().add(i), |_: u32| 7) };
    let initialise = |i| thread::end_unused(exchange(thread::begin_unused(i)));
    simulator.launch(&KERNEL, LaunchConfig::new(2, 64), || initialise(3)).unwrap();
    simulator.launch(&KERNEL, LaunchConfig::new(2, 64), || assert_eq!(exchange(3), 7)).unwrap();
    let used = simulator.launch(&KERNEL, LaunchConfig::new(1, 1), || {
        initialise(4);
        black_box(exchange(5));
    });
    assert_eq!(unwritten(used.map(drop)).0, Space::Global);
    let shared = simulator.launch(&KERNEL, LaunchConfig::new(1, 64), || {
        let at = tile();
        thread::end_unused(thread::begin_unused(shared::update(at, |_: u32| 1)));
    });
    // `begin_unused` is called too late, because its argument makes the update.
    assert_eq!(unwritten(shared.map(drop)).0, Space::Shared);
}

#[test]
fn a_read_where_a_copy_is_under_way_says_so() {
    let line = line!() + 3;
    let result = launch(&checked(), || {
        let at = tile() + 16 * me();
        shared::discard::<u128>(at);
        black_box(shared::load::<u32>(at + 4));
    });
    let fault = result.unwrap_err();
    let FaultKind::Uninitialised { copy: Some(copy), .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!((copy.location.line, Some(copy.thread)), (line, fault.thread), "{fault}");
    let text = fault.to_string();
    assert!(text.contains("began an asynchronous copy at"), "{text}");
}
