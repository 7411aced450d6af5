//! Algorithms of communication whose loads may return older values: messages without data races, mutual exclusion by
//! loads and stores, and a deque. Each block has one thread.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use cuda_std::{GlobalMut, fence, fence_acq_rel, fence_block, fence_system, kernel, thread};

use super::Verdict::{Faulty, Sound, Wrong};
use super::{By, Kind, grid, race};

families! {
    "weak.rs";
    "message passing" {
        a_flag_not_acquired: Wrong(By::Some), of grid(2, 1), [0; 2], [0; 1], |y| y == [42];
        a_flag_acquired_by_a_fence: Sound, of grid(2, 1), [0; 2], [0; 1], |y| y == [42];
        a_message_passed_on_relaxed: Wrong(By::Some), of grid(3, 1), [0; 2], [0; 1], |y| y == [42];
        a_message_passed_on: Sound, of grid(3, 1), [0; 2], [0; 1], |y| y == [42];
        a_release_overwritten: Faulty(Kind::Race, "x", By::Some), of grid(3, 1), [0; 2], [0; 1], |y| y == [42];
        a_release_updated: Sound, of grid(3, 1), [0; 2], [0; 1], |y| y == [42];
        versions_without_a_fence: Wrong(By::Thorough), of grid(2, 1), [0; 3], [0; 1], |y| y == [0];
        versions_with_fences: Sound, of grid(2, 1), [0; 3], [0; 1], |y| y == [0];
    }
    "Dekker" {
        announced_with_acq_rel_fences: Wrong(By::Some), of grid(2, 1), [0; 2], [0; 2], |y| y != [1, 1];
        announced_with_block_fences: Wrong(By::Some), of grid(2, 1), [0; 2], [0; 2], |y| y != [1, 1];
        announced_with_fences_of_two_scopes: Sound, of grid(2, 1), [0; 2], [0; 2], |y| y != [1, 1];
        announced_by_updates: Sound, of grid(2, 1), [0; 1], [0; 2], |y| y != [1, 1];
        two_readers_disagree: Wrong(By::Thorough), of grid(4, 1), [0; 2], [0; 2], |y| y != [1, 1];
        two_readers_agree: Sound, of grid(4, 1), [0; 2], [0; 2], |y| y != [1, 1];
    }
    "Peterson" {
        turn_before_flag: Faulty(Kind::Race, "y", By::Thorough), of grid(2, 1), [0; 3], [0; 1], |y| y == [2];
        flag_before_turn: Sound, of grid(2, 1), [0; 3], [0; 1], |y| y == [2];
    }
    "Chase-Lev" {
        an_item_not_released: race("y"), of grid(2, 1), [0; 2], [0; 2], |y| y[0] == 42;
        an_item_released: Sound, of grid(2, 1), [0; 2], [0; 2], |y| y[0] == 42;
        taken_without_a_fence: Wrong(By::Some), of grid(2, 1), [0, 1], [0; 1], |y| y == [1];
        taken_with_fences: Sound, of grid(2, 1), [0, 1], [0; 1], |y| y == [1];
    }
}

// Faulty: block 1 replaces the released flag by a store that releases nothing. If block 2 never reads the released
// flag, its acquiring load acquires nothing.
#[kernel]
fn a_release_overwritten(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    match thread::block_idx_x() {
        0 => {
            x.store(0, 42); // fault
            x.store_release(1, 1);
        }
        1 => {
            while x.load_relaxed(1) == 0 {}
            x.store_relaxed(1, 2);
        }
        _ => {
            while x.load_relaxed(1) != 2 {}
            assert!(x.load_acquire(1) == 2);
            y.store(0, x.load(0)); // fault
        }
    }
}

// Sound: an update continues the release sequence of the flag.
#[kernel]
fn a_release_updated(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    match thread::block_idx_x() {
        0 => {
            x.store(0, 42);
            x.store_release(1, 1);
        }
        1 => {
            while x.load_relaxed(1) == 0 {}
            x.atomic_add(1, 1);
        }
        _ => {
            while x.load_relaxed(1) != 2 {}
            assert!(x.load_acquire(1) == 2);
            y.store(0, x.load(0));
        }
    }
}

// Faulty: the flag is released, but a relaxed load does not acquire it, so that the value's load may return 0.
#[kernel]
fn a_flag_not_acquired(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        x.store_relaxed(0, 42); // fault
        x.store_release(1, 1);
    } else {
        while x.load_relaxed(1) == 0 {}
        y.store(0, x.load_relaxed(0)); // fault
    }
}

// Sound: a relaxed load and a fence behind it acquire what the release store has released.
#[kernel]
fn a_flag_acquired_by_a_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        x.store_relaxed(0, 42);
        x.store_release(1, 1);
    } else {
        while x.load_relaxed(1) == 0 {}
        fence_acq_rel();
        y.store(0, x.load_relaxed(0));
    }
}

// Faulty: block 1 has seen the value, but its relaxed store does not release what it has seen.
#[kernel]
fn a_message_passed_on_relaxed(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    match thread::block_idx_x() {
        0 => x.store_relaxed(0, 42), // fault
        1 => {
            while x.load_relaxed(0) == 0 {}
            x.store_relaxed(1, 1);
        }
        _ => {
            while x.load_acquire(1) == 0 {}
            y.store(0, x.load_relaxed(0)); // fault
        }
    }
}

// Sound: block 1 observes the value before its release, and causality order includes what was observed.
#[kernel]
fn a_message_passed_on(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    match thread::block_idx_x() {
        0 => x.store_relaxed(0, 42),
        1 => {
            while x.load_relaxed(0) == 0 {}
            x.store_release(1, 1);
        }
        _ => {
            while x.load_acquire(1) == 0 {}
            y.store(0, x.load_relaxed(0));
        }
    }
}

// Faulty: nothing orders the second load of the version after the loads of the two values.
#[kernel]
fn versions_without_a_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (version, one, other) = (0, 1, 2);
    if thread::block_idx_x() == 0 {
        x.store_relaxed(version, 1);
        fence_acq_rel();
        x.store_relaxed(one, 7);
        x.store_relaxed(other, 7);
        x.store_release(version, 2);
    } else {
        let before = x.load_acquire(version);
        let values = [x.load_relaxed(one), x.load_relaxed(other)];
        let after = x.load_relaxed(version);
        y.store(0, u32::from(before.is_multiple_of(2) && before == after && values[0] != values[1]));
    }
}

// Sound: a reader of a new value also sees the odd version behind its fence, and then ignores the values.
#[kernel]
fn versions_with_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (version, one, other) = (0, 1, 2);
    if thread::block_idx_x() == 0 {
        x.store_relaxed(version, 1);
        fence_acq_rel();
        x.store_relaxed(one, 7);
        x.store_relaxed(other, 7);
        x.store_release(version, 2);
    } else {
        let before = x.load_acquire(version);
        let values = [x.load_relaxed(one), x.load_relaxed(other)];
        fence_acq_rel();
        let after = x.load_relaxed(version);
        y.store(0, u32::from(before.is_multiple_of(2) && before == after && values[0] != values[1]));
    }
}

// Faulty: only sequentially consistent fences order a store before a load of another word.
#[kernel]
fn announced_with_acq_rel_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let me = thread::block_idx_x() as usize;
    x.store_relaxed(me, 1); // fault
    fence_acq_rel();
    let other = x.load_relaxed(1 - me); // fault
    y.store(me, 1 - other);
}

// Faulty: fences of block scope by threads of different blocks are not morally strong, and have no common order.
#[kernel]
fn announced_with_block_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let me = thread::block_idx_x() as usize;
    x.store_relaxed(me, 1); // fault
    fence_block();
    let other = x.load_relaxed(1 - me); // fault
    y.store(me, 1 - other);
}

// Sound: the scopes of both fences include both threads, and the later fence sees the other thread's store.
#[kernel]
fn announced_with_fences_of_two_scopes(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let me = thread::block_idx_x() as usize;
    x.store_relaxed(me, 1);
    if me == 0 {
        fence();
    } else {
        fence_system();
    }
    y.store(me, 1 - x.load_relaxed(1 - me));
}

// Sound: both threads update one word, and the later update reads the earlier one.
#[kernel]
fn announced_by_updates(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let me = thread::block_idx_x() as usize;
    let before = x.atomic(0).fetch_or(1 << me, Relaxed);
    y.store(me, u32::from(before == 0));
}

// Faulty: acquiring loads give no common order of two independent stores, so that the readers may see them differently.
#[kernel]
fn two_readers_disagree(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block < 2 {
        x.store_release(block, 1);
    } else {
        let (first, second) = (block - 2, 3 - block);
        let seen = [x.load_acquire(first), x.load_acquire(second)];
        y.store(block - 2, u32::from(seen == [1, 0]));
    }
}

// Sound: the fences between the loads have an order. The reader with the later fence sees what the other one has seen.
#[kernel]
fn two_readers_agree(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let block = thread::block_idx_x() as usize;
    if block < 2 {
        x.store_relaxed(block, 1);
    } else {
        let (first, second) = (block - 2, 3 - block);
        let before = x.load_relaxed(first);
        fence();
        y.store(block - 2, u32::from([before, x.load_relaxed(second)] == [1, 0]));
    }
}

// Faulty: between the two stores of one block, the other block may take its turn, enter, and leave this block its turn.
#[kernel]
fn turn_before_flag(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (me, turn) = (thread::block_idx_x(), 2);
    let (mine, others) = (me as usize, 1 - me as usize);
    x.store_relaxed(turn, 1 - me);
    x.store_relaxed(mine, 1);
    fence();
    while x.load_acquire(others) == 1 && x.load_acquire(turn) == 1 - me {}
    y.store(0, y.load(0) + 1); // fault
    x.store_release(mine, 0);
}

// Sound: with a fence between the stores and the loads, the later block sees the other one's flag.
#[kernel]
fn flag_before_turn(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (me, turn) = (thread::block_idx_x(), 2);
    let (mine, others) = (me as usize, 1 - me as usize);
    x.store_relaxed(mine, 1);
    x.atomic(turn).swap(1 - me, AcqRel);
    fence();
    while x.load_acquire(others) == 1 && x.load_acquire(turn) == 1 - me {}
    y.store(0, y.load(0) + 1);
    x.store_release(mine, 0);
}

// Faulty: the owner's relaxed store of `bottom` does not release the item that the thief reads.
#[kernel]
fn an_item_not_released(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (top, bottom) = (0, 1);
    if thread::block_idx_x() == 0 {
        y.store(0, 42); // fault
        x.store_relaxed(bottom, 1);
    } else {
        while x.load_acquire(bottom) == 0 {}
        if x.atomic(top).compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
            let item = y.load(0); // fault
            y.store(1, item);
        }
    }
}

// Sound: the owner releases the item, and the thief acquires it before it takes it.
#[kernel]
fn an_item_released(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (top, bottom) = (0, 1);
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        x.store_release(bottom, 1);
    } else {
        while x.load_acquire(bottom) == 0 {}
        if x.atomic(top).compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
            let item = y.load(0);
            y.store(1, item);
        }
    }
}

// Faulty: the owner may miss that the thief has taken an item, while the thief still sees the old `bottom`.
#[kernel]
fn taken_without_a_fence(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (top, bottom) = (0, 1);
    if thread::block_idx_x() == 0 {
        x.atomic(bottom).store(0, Release);
        if x.atomic(top).load(Acquire) == 0 {
            y.atomic_add(0, 1);
        }
    } else if x.atomic(bottom).load(Acquire) == 1 && x.atomic(top).compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
        y.atomic_add(0, 1);
    }
}

// Sound: the owner takes its last item by the same exchange as the thief.
#[kernel]
fn taken_with_fences(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (top, bottom) = (0, 1);
    if thread::block_idx_x() == 0 {
        x.store_relaxed(bottom, 0);
        fence();
        if x.atomic(top).compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
            y.atomic_add(0, 1);
        }
    } else {
        let first = x.load_acquire(top);
        fence();
        let last = x.load_acquire(bottom);
        if first < last && x.atomic(top).compare_exchange(first, first + 1, AcqRel, Relaxed).is_ok() {
            y.atomic_add(0, 1);
        }
    }
}
