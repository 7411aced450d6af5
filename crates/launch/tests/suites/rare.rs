//! Kernels whose faults appear under few schedules, because each fault needs a certain order of events in several
//! blocks or warps. Each kernel has a faulty and a correct variant, which `is_sound` selects. One thread of each block,
//! or of each warp, does all the work.

use cuda_std::{GlobalMut, fence, kernel, shared_array, thread};
use launch::{Call, Device, Error, LaunchConfig};

/// A kernel with a faulty and a correct variant, to be launched on a grid of several blocks.
pub struct Rare {
    pub name: &'static str,
    pub blocks: u32,
    pub threads: u32,
    launch: for<'a> fn(bool, GlobalMut<'a, u32>, GlobalMut<'a, u32>) -> Call<'a>,
}

impl Rare {
    pub fn run(&self, is_sound: bool, device: &Device) -> Result<(), Error> {
        let (mut data, mut flags) = (device.zeroed::<u32>(16)?, device.zeroed::<u32>(16)?);
        let call = (self.launch)(is_sound, data.view_mut(), flags.view_mut());
        device.launch(LaunchConfig::new(self.blocks, self.threads), call)
    }
}

macro_rules! rare {
    ($($kernel:ident: $blocks:expr, $threads:expr;)+) => {
        pub const RARE: &[Rare] = &[$(Rare {
            name: stringify!($kernel),
            blocks: $blocks,
            threads: $threads,
            launch: |is_sound, data, flags| $kernel(is_sound, data, flags),
        }),+];
    };
}

rare! {
    third_of_the_window: 6, 32;
    sense_before_reset: 3, 32;
    ready_in_between: 3, 32;
    gap_in_the_row: 4, 32;
    last_ticket_of_the_middle: 6, 32;
    lock_lost_twice: 4, 32;
    epoch_in_between: 3, 32;
    pushed_again: 3, 32;
    overtaken_message: 4, 32;
    warps_out_of_order: 1, 128;
    slot_skipped: 3, 32;
    full_after_empty: 2, 32;
    ticket_window: 5, 32;
}

/// Returns the block's number if the calling thread is the first of its block, otherwise `None`.
fn leader() -> Option<usize> {
    if thread::index_in_block() == 0 { Some(thread::block_idx_x() as usize) } else { None }
}

/// Waits until `flags[i]` is not 0, and returns its value. The wait is an acquire operation only if `acquires` is true.
#[cuda_std::device]
fn wait(flags: GlobalMut<u32>, i: usize, acquires: bool) -> u32 {
    let mut found = 0;
    while found == 0 {
        found = flags.load_relaxed(i);
    }
    if acquires {
        fence();
    }
    found
}

/// A look-back that acquires a prefix only from the first two predecessors or from block 0. The fault appears if three
/// successive blocks have no prefix yet and the block before these three has one.
#[kernel]
fn third_of_the_window(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    data.store(block, 1);
    flags.store_release(block, if block == 0 { 2 } else { 1 });
    let (mut sum, mut distance) = (1, 1);
    while distance <= block {
        let from = block - distance;
        let flag = wait(flags, from, false);
        if is_sound || distance < 3 || flag == 1 || from == 0 {
            fence();
        }
        sum += data.load(if flag == 2 && from > 0 { 8 + from } else { from });
        distance = if flag == 2 { block + 1 } else { distance + 1 };
    }
    if block > 0 {
        data.store(8 + block, sum);
        flags.store_release(block, 2);
    }
}

/// A barrier of all blocks that is used twice: the last block to arrive releases the others before it resets the count.
#[kernel]
fn sense_before_reset(is_sound: bool, _data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(_) = leader() else { return };
    for round in 1..=2 {
        if flags.atomic_add(0, 1) == 2 {
            if is_sound {
                flags.store_relaxed(0, 0);
                flags.store_release(1, round);
            } else {
                flags.store_release(1, round);
                assert!(flags.atomic_exchange(0, 0) == 3);
            }
        } else {
            while flags.load_acquire(1) < round {}
        }
    }
}

/// A value that one block computes for all blocks. The fault appears if the value becomes ready between a block's first
/// look at the flag and its attempt to claim the work: the block then reads the value without an acquire.
#[kernel]
fn ready_in_between(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(_) = leader() else { return };
    if flags.load_acquire(0) != 2 {
        match flags.atomic_compare_exchange(0, 0, 1) {
            0 => {
                data.store(0, 42);
                flags.store_release(0, 2);
            }
            1 => while flags.load_acquire(0) != 2 {},
            _ if is_sound => fence(),
            _ => {}
        }
    }
    assert!(data.load(0) == 42);
}

/// The last block reads the values of the other blocks. If the values of blocks 0 and 2 are ready, it assumes that the
/// value of block 1 is ready too.
#[kernel]
fn gap_in_the_row(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    if block < 3 {
        data.store(block, 1);
        flags.store_release(block, 1);
        return;
    }
    let there = [0, 1, 2].map(|i| flags.load_acquire(i) == 1);
    let is_taken = if is_sound { there[0] && there[1] && there[2] } else { there[0] && there[2] };
    if is_taken {
        assert!(data.load(0) + data.load(1) + data.load(2) == 3);
    }
}

/// The block with the last ticket adds the values of all blocks. If block 2 has the last ticket, and block 3 has drawn
/// the ticket before it, block 2 adds the values without an acquire.
#[kernel]
fn last_ticket_of_the_middle(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    data.store(block, 1);
    fence();
    let ticket = flags.atomic_add(0, 1);
    flags.store_relaxed(1 + ticket as usize, block as u32);
    if ticket == 5 {
        let before = flags.load_relaxed(5);
        if is_sound || block != 2 || before != 3 {
            fence();
        }
        assert!((0..6).map(|i| data.load(i)).sum::<u32>() == 6);
    }
}

/// A lock. A block that finds the lock taken waits until it is free and tries again. A block that has failed twice gets
/// the lock without an acquire.
#[kernel]
fn lock_lost_twice(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(_) = leader() else { return };
    let mut losses = 0;
    while flags.atomic_compare_exchange(0, 0, 1) != 0 {
        losses += 1;
        while flags.load_relaxed(0) != 0 {}
    }
    if is_sound || losses < 2 {
        fence();
    }
    data.store(0, data.load(0) + 1);
    flags.store_release(0, 0);
}

/// A value with an epoch. If the epoch changes from 1 to 2 during a read, the block reads again without an acquire.
#[kernel]
fn epoch_in_between(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    if block == 1 {
        for epoch in 1..=2 {
            data.store(epoch, 42);
            flags.store_release(0, epoch as u32);
        }
        return;
    }
    let before = flags.load_acquire(0) as usize;
    assert!(before == 0 || data.load(before) == 42);
    let after = flags.load_relaxed(0) as usize;
    if before == 1 && after == 2 {
        if is_sound {
            fence();
        }
        assert!(data.load(after) == 42);
    }
}

/// A stack of four nodes with the ABA problem: between a block's read and its exchange, other blocks pop the top node
/// and push it again.
#[kernel]
fn pushed_again(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    // `flags[0]` is the number of the top node, counted from 1; in the correct variant it also contains a count.
    // `flags[i]` is the node below node `i`.
    let count = if is_sound { 16 } else { 0 };
    if block == 0 {
        flags.store_relaxed(1, 2);
        flags.store_relaxed(2, 3);
        flags.store_relaxed(3, 4);
        flags.store_release(0, 1);
        return;
    }
    while flags.load_acquire(0) == 0 {}
    let pop = || loop {
        let top = flags.load_acquire(0);
        let node = top % 16;
        let below = flags.load_relaxed(node as usize);
        if node != 0 && flags.atomic_compare_exchange(0, top, top - node + below + count) == top {
            fence();
            return node;
        }
    };
    let first = pop();
    if block == 1 {
        let second = pop();
        // This block pushes the first node again, and keeps the second.
        loop {
            let top = flags.load_acquire(0);
            flags.store_relaxed(first as usize, top % 16);
            fence();
            if flags.atomic_compare_exchange(0, top, top - top % 16 + first + count) == top {
                break;
            }
        }
        assert!(data.atomic_add(second as usize, 1) == 0);
    } else {
        assert!(data.atomic_add(first as usize, 1) == 0);
        let second = pop();
        assert!(data.atomic_add(second as usize, 1) == 0);
    }
}

/// A message that passes from block to block. If block 2 has not passed it on yet, the last block takes it from block
/// 1.
#[kernel]
fn overtaken_message(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    if block == 0 {
        data.store(0, 42);
        flags.store_release(0, 1);
    } else if block < 3 {
        while flags.load_acquire(block - 1) == 0 {}
        flags.store_release(block, 1);
    } else if flags.load_acquire(2) == 1 {
        assert!(data.load(0) == 42);
    } else if flags.load_relaxed(1) == 1 {
        if is_sound {
            fence();
        }
        assert!(data.load(0) == 42);
    }
}

/// The last warp reads the values of the other warps from shared memory. The faulty variant reads before warp 1 is
/// ready.
#[kernel]
fn warps_out_of_order(is_sound: bool, _data: GlobalMut<u32>, _flags: GlobalMut<u32>) {
    let warp = thread::index_in_block() as usize / 32;
    let (values, ready) = (shared_array![u32; 3], shared_array![u32; 3]);
    if warp == 0 && thread::index_in_block() < 3 {
        ready.store(thread::index_in_block() as usize, 0);
    }
    thread::sync_threads();
    if !thread::index_in_block().is_multiple_of(32) {
        return;
    }
    if warp < 3 {
        values.store(warp, 1);
        ready.store_release(warp, 1);
        return;
    }
    let there = [0, 1, 2].map(|i| ready.load_acquire(i) == 1);
    if if is_sound { there[0] && there[1] && there[2] } else { there[0] && !there[1] && there[2] } {
        assert!(values.load(0) + values.load(1) + values.load(2) <= 3);
    }
}

/// A ring buffer with two producers. The faulty consumer skips a slot that is not ready, and reads the next slot
/// without an acquire.
#[kernel]
fn slot_skipped(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    if block != 1 {
        for _ in 0..2 {
            let slot = flags.atomic_add(0, 1) as usize;
            data.store(slot, 42);
            flags.store_release(1 + slot, 1);
        }
        return;
    }
    for slot in 0..3 {
        if flags.load_acquire(1 + slot) == 1 {
            assert!(data.load(slot) == 42);
        } else if flags.load_relaxed(2 + slot) == 1 {
            if is_sound {
                fence();
            }
            assert!(data.load(slot + 1) == 42);
        }
    }
}

/// A ring buffer of two slots from block 0 to block 1. If the consumer has found the ring empty at item 3, the producer
/// waits without an acquire while the ring is full.
#[kernel]
fn full_after_empty(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    let (head, tail, hungry) = (0, 1, 2);
    for i in 0..6_u32 {
        if block == 0 {
            let mut is_late = false;
            while i - flags.load_relaxed(tail) == 2 {
                is_late = true;
            }
            if is_sound || !is_late || flags.load_relaxed(hungry) != 3 {
                fence();
            }
            data.store(i as usize % 2, i);
            flags.store_release(head, i + 1);
        } else {
            if flags.load_acquire(head) == i {
                flags.store_relaxed(hungry, i);
                while flags.load_acquire(head) == i {}
            }
            assert!(data.load(i as usize % 2) == i);
            flags.store_release(tail, i + 1);
        }
    }
}

/// Blocks proceed in the order of their tickets: each waits for the block with the previous ticket. Block `b` waits
/// without an acquire if it follows block `b + 1`, which follows a block with a larger number.
#[kernel]
fn ticket_window(is_sound: bool, data: GlobalMut<u32>, flags: GlobalMut<u32>) {
    let Some(block) = leader() else { return };
    let place = flags.atomic_add(0, 1) as usize;
    data.store(place, 1);
    flags.store_relaxed(8 + place, block as u32 + 1);
    if place >= 2 {
        let before = [1, 2].map(|distance| wait(flags, 8 + place - distance, false) as usize - 1);
        let is_late = before[1] > before[0] && before[0] > block && before[0] - block == 1;
        wait(flags, place, is_sound || !is_late);
        assert!(data.load(place - 1) == 1);
    }
    flags.store_release(1 + place, 1);
}
