//! Tests the checker on accesses of different widths. Such accesses conflict if they overlap by at least one byte.

use cuda_std::{Global, GlobalMut, Shared, kernel, shared_array, thread};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree, Unwritten};

cases! {
    "widths.rs";
    bytes_of_one_word: RaceFree, |device| {
        let mut y = device.zeroed::<u8>(64)?;
        device.launch(LaunchConfig::new(1, 64), bytes_of_one_word(y.view_mut()))
    };
    a_byte_two_threads: Race("y"), |device| {
        let mut y = device.zeroed::<u8>(64)?;
        device.launch(LaunchConfig::new(1, 64), a_byte_two_threads(y.view_mut()))
    };
    vectors_side_by_side: RaceFree, |device| launch!(device, LaunchConfig::new(2, 16), vectors_side_by_side, 128);
    a_vector_over_an_element: Race("y"), |device| launch!(device, LaunchConfig::new(2, 16), a_vector_over_an_element, 128);
    bytes_then_vectors: RaceFree, |device| {
        let mut y = device.zeroed::<u8>(64)?;
        device.launch(LaunchConfig::new(1, 64), bytes_then_vectors(y.view_mut()))
    };
    a_vector_over_bytes: Race("y"), |device| {
        let mut y = device.zeroed::<u8>(64)?;
        device.launch(LaunchConfig::new(1, 64), a_vector_over_bytes(y.view_mut()))
    };
    words_cast_and_synchronised: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), words_cast_and_synchronised, 64);
    words_cast: Race("words"), |device| launch!(device, LaunchConfig::new(1, 64), words_cast, 64);
    doubles_and_their_halves: Race("words"), |device| launch!(device, LaunchConfig::new(1, 64), doubles_and_their_halves, 64);
    a_counter_and_its_half: Race("words"), |device| launch!(device, LaunchConfig::new(1, 64), a_counter_and_its_half, 2);
    a_counter_and_its_half_in_turn: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), a_counter_and_its_half_in_turn, 2);
    half_a_flag_is_read: Race("words"), |device| launch!(device, LaunchConfig::new(1, 64), half_a_flag_is_read, 2);
    counters_side_by_side: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), counters_side_by_side, 4);
    a_vector_partly_written: Unwritten("x"), |device| {
        let (mut x, mut y) = (device.alloc::<u32>(64)?, device.alloc(64)?);
        device.launch(LaunchConfig::new(1, 63), write_own(x.view_mut()))?;
        device.launch(LaunchConfig::new(1, 16), a_vector_partly_written(x.view(), y.view_mut()))
    };
    vectors_wholly_written: RaceFree, |device| {
        let (mut x, mut y) = (device.alloc::<u32>(64)?, device.alloc(64)?);
        device.launch(LaunchConfig::new(1, 64), write_own(x.view_mut()))?;
        device.launch(LaunchConfig::new(1, 16), vectors_wholly_written(x.view(), y.view_mut()))
    };
}

#[kernel]
fn write_own(x: GlobalMut<u32>) {
    x.store(thread::index_1d(), 1);
}

#[kernel]
fn bytes_of_one_word(y: GlobalMut<u8>) {
    let i = thread::index_1d();
    y.store(i, i as u8);
    assert!(y.load(i) == i as u8);
}

#[kernel]
fn a_byte_two_threads(y: GlobalMut<u8>) {
    y.store(thread::index_1d() / 2, 1); // race
}

#[kernel]
fn vectors_side_by_side(y: GlobalMut<u32>) {
    y.store_vec(thread::index_1d(), [1, 2, 3, 4]);
}

#[kernel]
fn a_vector_over_an_element(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    if thread::block_idx_x() == 0 {
        y.store_vec(i, [1, 2, 3, 4]); // race
    } else if i == 16 {
        y.store(62, 7); // race
    }
}

#[kernel]
fn bytes_then_vectors(y: GlobalMut<u8>) {
    let i = thread::index_1d();
    y.store(i, 1);
    thread::sync_threads();
    if i < 16 {
        assert!(y.load_vec::<4>(i) == [1; 4]);
    }
}

#[kernel]
fn a_vector_over_bytes(y: GlobalMut<u8>) {
    let i = thread::index_1d();
    if i < 16 {
        y.store_vec(i, [1; 4]); // race
    } else if i == 40 {
        y.store(61, 7); // race
    }
}

#[kernel]
fn words_cast_and_synchronised(y: GlobalMut<u32>) {
    let words = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    words.store(thread, 1);
    thread::sync_threads();
    let [a, b, c, d] = words.cast::<[u32; 4]>().load(thread / 4);
    y.store(thread, a + b + c + d);
}

#[kernel]
fn words_cast(y: GlobalMut<u32>) {
    let words = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    words.store(thread, 0);
    thread::sync_threads();
    words.store(thread, 1); // race
    let four = words.cast::<[u32; 4]>().load(thread / 4); // race
    y.store(thread, four[0]);
}

/// A kernel with a race. One thread writes a double word, and another thread writes half of that double word.
#[kernel]
fn doubles_and_their_halves(y: GlobalMut<u32>) {
    let words = shared_array![u32; 64];
    let thread = thread::thread_idx_x() as usize;
    if thread < 32 {
        words.cast::<u64>().store(thread, 1); // race
    } else if thread == 50 {
        words.store(21, 1); // race
    }
    thread::sync_threads();
    y.store(thread, words.load(thread));
}

// Faulty: overlapping atomics of different widths are not morally strong.
#[kernel]
fn a_counter_and_its_half(y: GlobalMut<u32>) {
    let words = shared_array![u32; 4];
    clear(words);
    if thread::thread_idx_x() < 32 {
        words.cast::<u64>().atomic_add(0, 1); // race
    } else {
        words.atomic_add(1, 1); // race
    }
    thread::sync_threads();
    store_first(y, words.load(0));
}

// Sound: a barrier orders the accesses of the two widths.
#[kernel]
fn a_counter_and_its_half_in_turn(y: GlobalMut<u32>) {
    let words = shared_array![u32; 4];
    clear(words);
    words.cast::<u64>().atomic_add(0, 1);
    thread::sync_threads();
    words.atomic_add(1, 1);
    thread::sync_threads();
    store_first(y, words.load(1));
}

// Faulty: a thread loads half of a value that another thread writes in one store.
#[kernel]
fn half_a_flag_is_read(y: GlobalMut<u32>) {
    let words = shared_array![u32; 4];
    clear(words);
    let i = thread::thread_idx_x();
    if i == 0 {
        words.cast::<u64>().store_relaxed(0, 1 << 32); // race
    } else if i == 32 {
        let half = words.load_relaxed(1); // race
        y.store(0, half);
    }
}

// Sound: the atomics of the two widths access different bytes.
#[kernel]
fn counters_side_by_side(y: GlobalMut<u32>) {
    let words = shared_array![u32; 4];
    clear(words);
    words.cast::<u64>().atomic_add(1, 1);
    words.atomic_add(thread::thread_idx_x() as usize % 2, 1);
    thread::sync_threads();
    store_first(y, words.load(0));
}

/// Sets the first four words to 0, and synchronises the block.
fn clear(words: Shared<u32>) {
    if thread::thread_idx_x() < 4 {
        words.store(thread::thread_idx_x() as usize, 0);
    }
    thread::sync_threads();
}

fn store_first(y: GlobalMut<u32>, value: u32) {
    if thread::thread_idx_x() == 0 {
        y.store(0, value);
    }
}

#[kernel]
fn a_vector_partly_written(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let four = x.load_vec::<4>(i); // unwritten
    y.store_vec(i, four);
}

#[kernel]
fn vectors_wholly_written(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store_vec(i, x.load_vec::<4>(i));
}
