//! Tests that reports about elements of 1 or 2 bytes propose accesses that these elements have, and that
//! `grid::sync` is proposed where it is the cure. Each kernel is clean and right with the remedy.

use cuda_std::{GlobalMut, fence, grid, kernel, thread};
use launch::{Device, LaunchConfig, Remedy};

use crate::cured::assert_cured;

/// Sends a value from block 0 to block 1 by a flag of one byte.
#[kernel]
fn flag_of_a_byte(y: GlobalMut<u32>, flags: GlobalMut<u8>, is_faulty: bool) {
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        if is_faulty {
            flags.store(0, 1);
        } else {
            fence();
            flags.store_relaxed(0, 1);
        }
    } else {
        while (if is_faulty { flags.load(0) } else { flags.load_relaxed(0) }) == 0 {}
        fence();
        y.store(1, y.load(0));
    }
}

#[test]
fn a_plain_flag_of_a_byte() {
    let words = "An element of 1 or 2 bytes has no `store_release` and `load_acquire`: use `store_relaxed` after a \
                 `fence()`, and `load_relaxed` before one";
    assert_cured(words, &[42, 42], |device, is_faulty| {
        let (mut y, mut flags) = (device.zeroed(2)?, device.zeroed(1)?);
        device.launch(LaunchConfig::new(2, 1), flag_of_a_byte(y.view_mut(), flags.view_mut(), is_faulty))?;
        y.download()
    });
}

/// Gives each thread the value of the thread with the opposite index in the grid. Between the store and the load is a
/// barrier of the block, or one of the grid.
#[kernel]
fn opposite(x: GlobalMut<u32>, y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::index_1d();
    x.store(i, i as u32);
    if is_faulty {
        thread::sync_threads();
    } else {
        grid::sync();
    }
    y.store(i, x.load(x.len() - 1 - i));
}

#[test]
fn a_barrier_of_the_block_for_the_grid() {
    let right: Vec<u32> = (0..64).rev().collect();
    let launch = |device: &Device, is_faulty, is_cooperative| {
        let config = LaunchConfig::new(2, 32);
        let config = if is_cooperative { config.cooperative() } else { config };
        let (mut x, mut y) = (device.zeroed(64)?, device.zeroed(64)?);
        device.launch(config, opposite(x.view_mut(), y.view_mut(), is_faulty))?;
        y.download()
    };
    let fault = assert_cured("put grid::sync between", &right, |device, is_faulty| launch(device, is_faulty, true));
    assert_eq!(fault.remedy(), Some(Remedy::GridBarrier));
    let words = "put grid::sync between them in a cooperative launch";
    let fault = assert_cured(words, &right, |device, is_faulty| launch(device, is_faulty, !is_faulty));
    assert_eq!(fault.remedy(), Some(Remedy::BetweenBlocks));
}
