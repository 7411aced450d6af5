//! Kernels whose faults need weak memory: an atomic read that returns an older value than the newest one, as PTX's
//! memory model allows. No order of the threads alone shows them, and none of them has a data race if reads return the
//! newest values. Each kernel has a faulty and a correct variant, which `is_sound` selects.

use std::time::Duration;

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::barrier::{arrive_named, sync_named};
use cuda_std::{GlobalMut, fence, kernel, shared_array, thread};
use launch::{Buffer, Call, Device, Error, LaunchConfig, Remedy, Schedule, check_thoroughly, checked_devices};

struct Weak {
    name: &'static str,
    /// The number of blocks, and of threads per block.
    extent: [u32; 2],
    /// The initial values of the words by which the threads communicate.
    words: [u32; 4],
    launch: for<'a> fn(bool, GlobalMut<'a, u32>, GlobalMut<'a, u32>) -> Call<'a>,
    /// Returns true if the results are right.
    is_right: fn(&[u32]) -> bool,
}

impl Weak {
    /// Returns an error of the launch, or a text that says what is wrong.
    fn run(&self, is_sound: bool, device: &Device) -> Result<(), String> {
        let found = self.results(is_sound, device).map_err(|error| error.to_string())?;
        if (self.is_right)(&found) { Ok(()) } else { Err(format!("wrong: {found:?}")) }
    }

    fn results(&self, is_sound: bool, device: &Device) -> Result<Vec<u32>, Error> {
        let mut words: Buffer<u32> = device.upload(&self.words)?;
        let mut results = device.zeroed::<u32>(4)?;
        let [blocks, threads] = self.extent;
        device.launch(
            LaunchConfig::new(blocks, threads),
            (self.launch)(is_sound, words.view_mut(), results.view_mut()),
        )?;
        results.download()
    }
}

macro_rules! weak {
    ($($kernel:ident: $extent:expr, $words:expr, $is_right:expr;)+) => {
        const WEAK: &[Weak] = &[$(Weak {
            name: stringify!($kernel),
            extent: $extent,
            words: $words,
            launch: |is_sound, words, results| $kernel(is_sound, words, results),
            is_right: $is_right,
        }),+];
    };
}

weak! {
    message: [2, 32], [0; 4], |results| results[0] == 42;
    volatile_message: [2, 32], [0; 4], |results| results[0] == 42;
    message_between_warps: [1, 64], [0; 4], |results| results[0] == 42;
    message_by_named_barrier: [1, 64], [0; 4], |results| results[0] == 42;
    dekker: [2, 32], [0; 4], |results| results[0] + results[1] < 2;
    dekker_between_warps: [1, 64], [0; 4], |results| results[0] + results[1] < 2;
    peterson: [2, 32], [0; 4], |results| results[0] == 4;
    deque: [2, 32], [0, 2, 0, 0], |results| results[0] < 2 && results[1] == 1;
}

/// A message: block 0 stores a value and then sets a flag, for which block 1 waits.
#[kernel]
fn message(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let (flag, value) = (0, 1);
    if thread::index_in_block() != 0 {
        return;
    }
    let (store, load) = if is_sound { (Release, Acquire) } else { (Relaxed, Relaxed) };
    if thread::block_idx_x() == 0 {
        words.store_relaxed(value, 42);
        words.atomic(flag).store(1, store);
    } else {
        while words.atomic(flag).load(load) == 0 {}
        results.store(0, words.load_relaxed(value));
    }
}

/// The same by volatile accesses.
#[kernel]
fn volatile_message(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let (flag, value) = (0, 1);
    if thread::index_in_block() != 0 {
        return;
    }
    if thread::block_idx_x() == 0 {
        words.store_volatile(value, 42);
        if is_sound {
            fence();
        }
        words.store_volatile(flag, 1);
    } else {
        while words.load_volatile(flag) == 0 {}
        if is_sound {
            fence();
        }
        results.store(0, words.load_volatile(value));
    }
}

/// The same between the warps of a block, in shared memory.
#[kernel]
fn message_between_warps(is_sound: bool, _words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let words = shared_array![u32; 2];
    let (flag, value) = (0, 1);
    if thread::index_in_block() < 2 {
        words.store(thread::index_in_block(), 0);
    }
    thread::sync_threads();
    match thread::index_in_block() {
        0 => {
            words.store_relaxed(value, 42);
            if is_sound { words.store_release(flag, 1) } else { words.store_relaxed(flag, 1) }
        }
        32 => {
            while (if is_sound { words.load_acquire(flag) } else { words.load_relaxed(flag) }) == 0 {}
            results.store(0, words.load_relaxed(value));
        }
        _ => {}
    }
}

/// The same between the warps of a block, in global memory. A named barrier orders the two warps.
#[kernel]
fn message_by_named_barrier(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let (flag, value) = (0, 1);
    let is_first = thread::index_in_block().is_multiple_of(32);
    if thread::index_in_block() < 32 {
        if is_first {
            words.store_relaxed(value, 42);
        }
        if is_sound {
            arrive_named(1, 64);
        } else if is_first {
            words.store_relaxed(flag, 1);
        }
    } else {
        if is_sound {
            sync_named(1, 64);
        }
        if is_first {
            while !is_sound && words.load_relaxed(flag) == 0 {}
            results.store(0, words.load_relaxed(value));
        }
    }
}

/// Dekker's algorithm: each of two threads announces itself and then looks for the other. At most one may go on.
#[kernel]
fn dekker(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        let me = thread::block_idx_x() as usize;
        words.atomic(me).store(1, Release);
        if is_sound {
            fence();
        }
        if words.atomic(1 - me).load(Acquire) == 0 {
            results.store(me, 1);
        }
    }
}

/// The same between the warps of a block, in shared memory.
#[kernel]
fn dekker_between_warps(is_sound: bool, _words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let words = shared_array![u32; 2];
    if thread::index_in_block() < 2 {
        words.store(thread::index_in_block(), 0);
    }
    thread::sync_threads();
    if thread::index_in_block().is_multiple_of(32) {
        let me = thread::index_in_block() / 32;
        words.store_release(me, 1);
        if is_sound {
            fence();
        }
        if words.load_acquire(1 - me) == 0 {
            results.store(me, 1);
        }
    }
}

/// Peterson's lock, which protects a counter. It is right if the turn is taken by an exchange: the later of two
/// exchanges then acquires the flag of the other block.
#[kernel]
fn peterson(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let me = thread::block_idx_x();
    let (mine, others, turn) = (me as usize, 1 - me as usize, 2);
    for _ in 0..2 {
        words.atomic(mine).store(1, Relaxed);
        if is_sound {
            words.atomic(turn).swap(1 - me, AcqRel);
        } else {
            words.atomic(turn).store(1 - me, Release);
        }
        while words.atomic(others).load(Acquire) == 1 && words.atomic(turn).load(Acquire) == 1 - me {}
        results.store(0, results.load(0) + 1);
        words.atomic(mine).store(0, Release);
    }
}

/// A deque (Chase and Lev) with two items: block 0 takes the last one, block 1 steals from the front. `results` counts
/// how often each item was taken.
#[kernel]
fn deque(is_sound: bool, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    let (top, bottom) = (0, 1);
    if thread::index_in_block() != 0 {
        return;
    }
    let order = || {
        if is_sound {
            fence();
        }
    };
    if thread::block_idx_x() == 0 {
        let last = words.load_relaxed(bottom) - 1;
        words.store_relaxed(bottom, last);
        order();
        let first = words.load_relaxed(top);
        if first < last {
            results.atomic_add(last as usize, 1);
        } else if first == last && words.atomic(top).compare_exchange(first, first + 1, AcqRel, Relaxed).is_ok() {
            results.atomic_add(last as usize, 1);
        }
    } else {
        for _ in 0..2 {
            let first = words.atomic(top).load(Acquire);
            order();
            let last = words.atomic(bottom).load(Acquire);
            if first < last && words.atomic(top).compare_exchange(first, first + 1, AcqRel, Relaxed).is_ok() {
                results.atomic_add(first as usize, 1);
            }
        }
    }
}

#[test]
fn the_eight_orders_find_faults_of_weak_memory() {
    for weak in WEAK {
        let failed: Vec<Schedule> = Schedule::HOSTILE
            .into_iter()
            .zip(checked_devices())
            .filter_map(|(schedule, device)| weak.run(false, &device).is_err().then_some(schedule))
            .collect();
        println!("{}: found in {failed:?}", weak.name);
        assert!(!failed.is_empty(), "{}", weak.name);
        assert!(failed.iter().all(|schedule| schedule.has_weak_memory()), "{}: {failed:?}", weak.name);
        for device in checked_devices() {
            weak.run(true, &device).unwrap_or_else(|wrong| panic!("{}: {wrong}, {}", weak.name, device.summary()));
        }
    }
}

#[test]
fn choices_of_values_find_faults_of_weak_memory_and_no_others() {
    for weak in WEAK {
        let failed = check_thoroughly(Duration::from_secs(60), |device| {
            // The first orders find the faults, too.
            let found = weak.run(false, device);
            if device.summary().contains("chosen:") { found } else { Ok(()) }
        });
        let failed = failed.err().unwrap_or_else(|| panic!("{}: nothing found", weak.name));
        println!("{}: order {}: {failed}", weak.name, failed.orders);
        assert!(failed.to_string().contains("PTX's memory model allows this"), "{failed}");
        let remedy = failed.older.last().map(|older| older.remedy);
        let expected = match weak.name {
            "message" | "volatile_message" | "message_between_warps" | "message_by_named_barrier" => {
                Some(Remedy::ReleaseAndAcquire)
            }
            "dekker" | "dekker_between_warps" => Some(Remedy::SequentialFences),
            _ => remedy,
        };
        assert_eq!(remedy, expected, "{failed}");
        let sound = check_thoroughly(Duration::from_millis(300), |device| weak.run(true, device));
        let sound = sound.unwrap_or_else(|failed| panic!("{}: {failed}", weak.name));
        println!("{}: {sound:?}", weak.name);
        let is_small = !matches!(weak.name, "peterson" | "deque");
        assert!(sound.has_all_choices || !is_small, "{}: {sound:?}", weak.name);
        let all = if sound.has_all_choices { "(all that there are)" } else { "(not all that there are)" };
        let text = format!("{} of them by choices of values {all}", sound.choices);
        assert!(sound.choices > 0 && sound.to_string().ends_with(&text), "{sound}");
    }
}
