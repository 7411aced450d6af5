//! Registers that warpgroups release and take (`setmaxnreg`). The verdicts follow from the PTX manual: a block begins
//! with the registers that its kernel's bounds leave to each thread, and a warp that takes more waits for the others.

use cuda_std::tensor::wgmma::{release_registers, take_registers};
use cuda_std::{GlobalMut, kernel, thread};

use super::super::Verdict::{Faulty, Sound};
use super::super::grid;
use super::{By, Kind, MISUSE};

families! {
    "registers.rs";
    "registers that warpgroups take" {
        registers_that_fit: Sound, of grid(1, 384), [0; 1], [0; 384], |y| y == [1; 384];
        registers_that_do_not_fit: MISUSE, of grid(1, 384), [0; 1], [0; 384], |y| y == [1; 384];
        registers_of_two_blocks: Sound, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_of_one_block_beside_another: MISUSE, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_taken_before_a_barrier: MISUSE, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_taken_after_a_barrier: Sound, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_without_bounds: MISUSE, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_released_upwards: MISUSE, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
        registers_of_one_warp: MISUSE, of grid(1, 128), [0; 1], [0; 128], |y| y == [1; 128];
        registers_of_every_warp: Sound, of grid(1, 128), [0; 1], [0; 128], |y| y == [1; 128];
        registers_of_half_of_each_warp: Faulty(Kind::PartialWarp, "", By::Every), of grid(1, 128), [0; 1], [0; 128], |y| y == [1; 128];
        registers_that_return: Sound, of grid(1, 256), [0; 1], [0; 256], |y| y == [1; 256];
    }
}

// Sound: 65,536 ÷ 384 is 170, so each thread begins with 168 registers: 24 + 240 + 240 = 3 · 168.
#[kernel(max_threads = 384, min_blocks = 1)]
fn registers_that_fit(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<24>();
    } else {
        take_registers::<240>();
    }
    y.store(thread as usize, 1);
}

// Faulty: 32 + 240 + 240 > 3 · 168.
#[kernel(max_threads = 384, min_blocks = 1)]
fn registers_that_do_not_fit(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<32>();
    } else {
        take_registers::<240>(); // fault
    }
    y.store(thread as usize, 1);
}

// Sound: 65,536 ÷ (256 · 2) is 128: 24 + 232 = 2 · 128.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_of_two_blocks(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<24>();
    } else {
        take_registers::<232>();
    }
    y.store(thread as usize, 1);
}

// Faulty: 24 + 240 > 2 · 128.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_of_one_block_beside_another(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<24>();
    } else {
        take_registers::<240>(); // fault
    }
    y.store(thread as usize, 1);
}

// Faulty: the warpgroup that releases registers waits at the barrier for the one that takes them.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_taken_before_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread >= 128 {
        take_registers::<160>(); // fault
    }
    thread::sync_threads();
    if thread < 128 {
        release_registers::<96>();
    }
    y.store(thread as usize, 1);
}

// Sound: the registers are in the pool before the barrier.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_taken_after_a_barrier(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<96>();
    }
    thread::sync_threads();
    if thread >= 128 {
        take_registers::<160>();
    }
    y.store(thread as usize, 1);
}

// Faulty: without bounds, the number of registers at the launch is unknown.
#[kernel(max_threads = 256)]
fn registers_without_bounds(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    release_registers::<24>(); // fault
    y.store(thread::index_in_block() as usize, 1);
}

// Faulty: a thread begins with 128 registers, and releases none by 136.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_released_upwards(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    release_registers::<136>(); // fault
    y.store(thread::index_in_block() as usize, 1);
}

// Faulty: all warps of the warpgroup must execute the instruction.
#[kernel(max_threads = 128, min_blocks = 4)]
fn registers_of_one_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 32 {
        release_registers::<24>(); // fault
    }
    y.store(thread as usize, 1); // fault
}

// Sound: all warps execute it.
#[kernel(max_threads = 128, min_blocks = 4)]
fn registers_of_every_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    release_registers::<24>();
    y.store(thread::index_in_block() as usize, 1);
}

// Faulty: all lanes of a warp must execute the instruction.
#[kernel(max_threads = 128, min_blocks = 4)]
fn registers_of_half_of_each_warp(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread % 32 >= 16 {
        release_registers::<24>(); // fault
    }
    thread::sync_threads(); // fault
    y.store(thread as usize, 1);
}

// Sound: the first warpgroup takes its registers back when the second one has released them.
#[kernel(max_threads = 256, min_blocks = 2)]
fn registers_that_return(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let thread = thread::index_in_block();
    if thread < 128 {
        release_registers::<24>();
    } else {
        take_registers::<232>();
        release_registers::<128>();
    }
    thread::sync_threads();
    if thread < 128 {
        take_registers::<128>();
    }
    y.store(thread as usize, 1);
}
