//! Tests the checker on messages between blocks. A message is a value, with a flag that signals its presence.

use cuda_std::{GlobalMut, fence, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a launch configuration of `n` blocks of one warp.
fn blocks(n: u32) -> LaunchConfig {
    LaunchConfig::new(n, 32)
}

cases! {
    "flags.rs";
    a_flag_polled_by_plain_loads: Race("flag"), |device| launch!(device, LaunchConfig::new(2, 1), a_flag_polled_by_plain_loads, 1);
    a_shared_flag_polled_by_plain_loads: Race("flag"), |device| launch!(device, LaunchConfig::new(1, 64), a_shared_flag_polled_by_plain_loads, 1);
    release_and_acquire: RaceFree, |device| launch!(device, blocks(4), release_and_acquire, 1, 1);
    release_and_relaxed_load: Race("value"), |device| launch!(device, blocks(4), release_and_relaxed_load, 1, 1);
    relaxed_store_and_acquire: Race("value"), |device| launch!(device, blocks(4), relaxed_store_and_acquire, 1, 1);
    relaxed_between_fences: RaceFree, |device| launch!(device, blocks(4), relaxed_between_fences, 1, 1);
    relaxed_after_a_fence: Race("value"), |device| launch!(device, blocks(4), relaxed_after_a_fence, 1, 1);
    relaxed_before_a_fence: Race("value"), |device| launch!(device, blocks(4), relaxed_before_a_fence, 1, 1);
    fence_after_the_flag: Race("value"), |device| launch!(device, blocks(4), fence_after_the_flag, 1, 1);
    a_flag_that_is_no_atomic: Race("flag"), |device| launch!(device, blocks(4), a_flag_that_is_no_atomic, 1, 1);
    a_chain_of_messages: RaceFree, |device| launch!(device, blocks(5), a_chain_of_messages, 1, 5);
    the_flag_of_another: Race("value"), |device| launch!(device, blocks(3), the_flag_of_another, 1, 2);
    a_release_seen_through_an_update: RaceFree, |device| launch!(device, blocks(3), a_release_seen_through_an_update, 1, 1);
    acquired_for_the_block: RaceFree, |device| launch!(device, LaunchConfig::new(2, 64), acquired_for_the_block, 64, 1);
    acquired_for_one_thread: Race("values"), |device| launch!(device, LaunchConfig::new(2, 64), acquired_for_one_thread, 64, 1);
    released_for_the_block: RaceFree, |device| launch!(device, LaunchConfig::new(2, 64), released_for_the_block, 64, 1);
    released_for_one_thread: Race("values"), |device| launch!(device, LaunchConfig::new(2, 64), released_for_one_thread, 64, 1);
    a_value_in_the_flag: RaceFree, |device| launch!(device, blocks(4), a_value_in_the_flag, 1, 4);
    an_answer_not_waited_for: Race("value"), |device| launch!(device, blocks(2), an_answer_not_waited_for, 1, 1);
    question_and_answer: RaceFree, |device| launch!(device, blocks(2), question_and_answer, 1, 2);
}

/// In the first thread of each block, returns the block's number. In other threads, returns `None`.
fn first_of_block() -> Option<u32> {
    if thread::index_in_block() == 0 { Some(thread::block_idx_x()) } else { None }
}

#[kernel]
fn release_and_acquire(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            flag.store_release(0, 1);
        }
        Some(_) => {
            while flag.load_acquire(0) == 0 {}
            assert!(value.load(0) == 42);
        }
        None => {}
    }
}

#[kernel]
fn release_and_relaxed_load(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            flag.store_release(0, 1);
        }
        Some(_) => {
            while flag.load_relaxed(0) == 0 {}
            let found = value.load(0); // race
            assert!(found == 42);
        }
        None => {}
    }
}

#[kernel]
fn relaxed_store_and_acquire(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            flag.store_relaxed(0, 1);
        }
        Some(_) => {
            while flag.load_acquire(0) == 0 {}
            let found = value.load(0); // race
            assert!(found == 42);
        }
        None => {}
    }
}

#[kernel]
fn relaxed_between_fences(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            fence();
            flag.store_relaxed(0, 1);
        }
        Some(_) => {
            while flag.load_relaxed(0) == 0 {}
            fence();
            assert!(value.load(0) == 42);
        }
        None => {}
    }
}

#[kernel]
fn relaxed_after_a_fence(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            fence();
            flag.store_relaxed(0, 1);
        }
        Some(_) => {
            while flag.load_relaxed(0) == 0 {}
            let found = value.load(0); // race
            assert!(found == 42);
        }
        None => {}
    }
}

#[kernel]
fn relaxed_before_a_fence(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            flag.store_relaxed(0, 1);
        }
        Some(_) => {
            while flag.load_relaxed(0) == 0 {}
            fence();
            let found = value.load(0); // race
            assert!(found == 42);
        }
        None => {}
    }
}

/// A kernel with a race. The fence comes too late to order the value before the flag.
#[kernel]
fn fence_after_the_flag(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            flag.store_relaxed(0, 1);
            fence();
        }
        Some(_) => {
            while flag.load_acquire(0) == 0 {}
            let found = value.load(0); // race
            assert!(found == 42);
        }
        None => {}
    }
}

#[kernel]
fn a_flag_that_is_no_atomic(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            fence();
            flag.store(0, 1); // race
        }
        Some(_) => {
            while flag.load_acquire(0) == 0 {} // race
        }
        None => {}
    }
}

/// A race-free kernel. A message passes from block to block, and the last block reads the value of the first block.
#[kernel]
fn a_chain_of_messages(value: GlobalMut<u32>, flags: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            flags.store_release(0, 1);
        }
        Some(block) => {
            while flags.load_acquire(block as usize - 1) == 0 {}
            assert!(block != 4 || value.load(0) == 42);
            flags.store_release(block as usize, 1);
        }
        None => {}
    }
}

/// A kernel with a race. Block 2 waits for block 1 instead of block 0. Block 1 does not access the value.
#[kernel]
fn the_flag_of_another(value: GlobalMut<u32>, flags: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42); // race
            flags.store_release(0, 1);
        }
        Some(1) => flags.store_release(1, 1),
        Some(_) => {
            while flags.load_acquire(1) == 0 {}
            let found = value.load(0); // race
            assert!(found == 0 || found == 42);
        }
        None => {}
    }
}

/// A race-free kernel. Block 1 increments the flag of block 0 with a relaxed update. An acquire that observes this
/// update also synchronises with the release of block 0.
#[kernel]
fn a_release_seen_through_an_update(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            flag.store_release(0, 1);
        }
        Some(1) => {
            while flag.load_relaxed(0) == 0 {}
            flag.atomic_add(0, 1);
        }
        Some(_) => {
            // This wait must not be an acquire, because an acquire could observe the release itself.
            while flag.load_relaxed(0) != 2 {}
            assert!(flag.load_acquire(0) == 2 && value.load(0) == 42);
        }
        None => {}
    }
}

/// A race-free kernel. One thread acquires, and the barrier orders the block's other threads after the acquire.
#[kernel]
fn acquired_for_the_block(values: GlobalMut<u32>, flag: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_idx_x() == 0 {
        if thread == 0 {
            values.store(40, 42);
            flag.store_release(0, 1);
        }
        return;
    }
    if thread == 0 {
        while flag.load_acquire(0) == 0 {}
    }
    thread::sync_threads();
    assert!(values.load(40) == 42);
}

#[kernel]
fn acquired_for_one_thread(values: GlobalMut<u32>, flag: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_idx_x() == 0 {
        if thread == 0 {
            values.store(40, 42); // race
            flag.store_release(0, 1);
        }
        return;
    }
    if thread == 0 {
        while flag.load_acquire(0) == 0 {}
    }
    let found = values.load(40); // race
    assert!(found == 0 || found == 42);
}

/// A race-free kernel. All threads write, and the barrier orders these writes before the release by one thread.
#[kernel]
fn released_for_the_block(values: GlobalMut<u32>, flag: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_idx_x() == 0 {
        values.store(thread, 42);
        thread::sync_threads();
        if thread == 63 {
            flag.store_release(0, 1);
        }
    } else {
        while flag.load_acquire(0) == 0 {}
        assert!(values.load(thread) == 42);
    }
}

#[kernel]
fn released_for_one_thread(values: GlobalMut<u32>, flag: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_idx_x() == 0 {
        values.store(thread, 42); // race
        if thread == 63 {
            flag.store_release(0, 1);
        }
    } else {
        while flag.load_acquire(0) == 0 {}
        let found = values.load(thread); // race
        assert!(found == 0 || found == 42);
    }
}

/// A race-free kernel. Flag and value are in one word, so no order between them is needed.
#[kernel]
fn a_value_in_the_flag(word: GlobalMut<u32>, y: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => word.store_relaxed(0, 0x8000_002A),
        Some(block) => {
            let mut found = 0;
            while found == 0 {
                found = word.load_relaxed(0);
            }
            y.store(block as usize, found & 0xFF);
        }
        None => {}
    }
}

/// A kernel with a race. Block 0 writes the value again before block 1 has signalled that it has read the first value.
#[kernel]
fn an_answer_not_waited_for(value: GlobalMut<u32>, flag: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            flag.store_release(0, 1);
            value.store(0, 43); // race
        }
        Some(_) => {
            while flag.load_acquire(0) == 0 {}
            let found = value.load(0); // race
            assert!(found == 42 || found == 43);
        }
        None => {}
    }
}

#[kernel]
fn question_and_answer(value: GlobalMut<u32>, flags: GlobalMut<u32>) {
    match first_of_block() {
        Some(0) => {
            value.store(0, 42);
            flags.store_release(0, 1);
            while flags.load_acquire(1) == 0 {}
            value.store(0, 43);
        }
        Some(_) => {
            while flags.load_acquire(0) == 0 {}
            assert!(value.load(0) == 42);
            flags.store_release(1, 1);
        }
        None => {}
    }
}

// Faulty: neither the store nor the load of the flag is atomic.
#[kernel]
fn a_flag_polled_by_plain_loads(flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        // race
        while flag.load(0) == 0 {}
    } else {
        flag.store(0, 1); // race
    }
}

#[kernel]
fn a_shared_flag_polled_by_plain_loads(y: GlobalMut<u32>) {
    let flag = shared_array![u32; 2];
    let i = thread::thread_idx_x();
    if i == 0 {
        flag.store(0, 0);
        flag.store(1, 0);
    }
    thread::sync_threads();
    if i == 0 {
        // race
        while flag.load(0) == 0 && flag.load(1) == 0 {
            thread::nanosleep(20);
        }
    } else if i == 40 {
        flag.store(0, 1); // race
    }
    y.atomic_add(0, 1);
}
