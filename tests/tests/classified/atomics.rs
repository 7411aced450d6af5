//! Tests the checker on atomic updates. An atomic update protects the element that it updates, but orders no other
//! access.

use cuda_std::{GlobalMut, fence, kernel, shared_array, thread, warp};
use launch::LaunchConfig;

use crate::What::{Race, RaceFree};

/// Returns a grid of three blocks of two warps.
fn grid() -> LaunchConfig {
    LaunchConfig::new(3, 64)
}

cases! {
    "atomics.rs";
    counted_by_updates: RaceFree, |device| launch!(device, grid(), counted_by_updates, 1);
    counted_by_loads_and_stores: Race("count"), |device| launch!(device, LaunchConfig::new(1, 2), counted_by_loads_and_stores, 1);
    updates_of_every_kind: RaceFree, |device| launch!(device, grid(), updates_of_every_kind, 7);
    an_update_and_a_plain_load: Race("count"), |device| launch!(device, grid(), an_update_and_a_plain_load, 1, 192);
    an_update_and_a_relaxed_load: RaceFree, |device| launch!(device, grid(), an_update_and_a_relaxed_load, 1, 192);
    a_histogram_in_shared_memory: RaceFree, |device| launch!(device, grid(), a_histogram_in_shared_memory, 8);
    a_histogram_read_too_early: Race("bins"), |device| launch!(device, grid(), a_histogram_read_too_early, 8);
    all_store_the_same_value_relaxed: RaceFree, |device| launch!(device, grid(), all_store_the_same_value_relaxed, 1);
    the_last_block_with_fences: RaceFree, |device| launch!(device, LaunchConfig::new(6, 32), the_last_block_with_fences, 6, 1, 1);
    the_last_block_without_its_own_fence: Race("parts"), |device| launch!(device, LaunchConfig::new(6, 32), the_last_block_without_its_own_fence, 6, 1, 1);
    the_last_block_without_the_others_fence: Race("parts"), |device| launch!(device, LaunchConfig::new(6, 32), the_last_block_without_the_others_fence, 6, 1, 1);
    a_lock_with_fences: RaceFree, |device| launch!(device, LaunchConfig::new(8, 32), a_lock_with_fences, 1, 1);
    a_lock_without_fences: Race("sum"), |device| launch!(device, LaunchConfig::new(8, 32), a_lock_without_fences, 1, 1);
    a_lock_released_by_a_store: RaceFree, |device| launch!(device, LaunchConfig::new(8, 32), a_lock_released_by_a_store, 1, 1);
    a_slot_a_ticket: RaceFree, |device| launch!(device, grid(), a_slot_a_ticket, 1, 192);
    a_slot_two_tickets: Race("y"), |device| launch!(device, grid(), a_slot_two_tickets, 1, 192);
    a_ticket_a_warp: RaceFree, |device| launch!(device, grid(), a_ticket_a_warp, 1, 192);
    a_ticket_a_warp_without_atomics: Race("ticket"), |device| launch!(device, grid(), a_ticket_a_warp_without_atomics, 1, 192);
    the_element_beside_an_atomic: RaceFree, |device| launch!(device, LaunchConfig::new(1, 64), the_element_beside_an_atomic, 65);
    an_initial_value_by_a_barrier: RaceFree, |device| launch!(device, grid(), an_initial_value_by_a_barrier, 3);
    an_initial_value_without_barrier: Race("most"), |device| launch!(device, grid(), an_initial_value_without_barrier, 3);
}

#[kernel]
fn counted_by_updates(count: GlobalMut<u32>) {
    count.atomic_add(0, 1);
}

#[kernel]
fn counted_by_loads_and_stores(count: GlobalMut<u32>) {
    let before = count.load(0); // race
    count.store(0, before + 1); // race
}

#[kernel]
fn updates_of_every_kind(y: GlobalMut<u32>) {
    let i = thread::index_1d() as u32;
    y.atomic_add(0, i);
    y.atomic_max(1, i);
    y.atomic_min(1, i);
    y.atomic_or(2, i);
    y.atomic_xor(2, i);
    y.atomic_exchange(3, i);
    y.atomic_compare_exchange(3, i, 0);
    y.store_relaxed(4, i);
    y.store_release(4, i);
    assert!(y.load_relaxed(4) < 192 && y.load_acquire(4) < 192);
}

#[kernel]
fn an_update_and_a_plain_load(count: GlobalMut<u32>, y: GlobalMut<u32>) {
    count.atomic_add(0, 1); // race
    let so_far = count.load(0); // race
    y.store(thread::index_1d(), so_far);
}

#[kernel]
fn an_update_and_a_relaxed_load(count: GlobalMut<u32>, y: GlobalMut<u32>) {
    count.atomic_add(0, 1);
    y.store(thread::index_1d(), count.load_relaxed(0));
}

#[kernel]
fn a_histogram_in_shared_memory(y: GlobalMut<u32>) {
    let bins = shared_array![u32; 8];
    let thread = thread::thread_idx_x() as usize;
    if thread < 8 {
        bins.store(thread, 0);
    }
    thread::sync_threads();
    bins.atomic_add(thread * 5 % 8, 1);
    thread::sync_threads();
    if thread < 8 {
        y.atomic_add(thread, bins.load(thread));
    }
}

#[kernel]
fn a_histogram_read_too_early(y: GlobalMut<u32>) {
    let bins = shared_array![u32; 8];
    let thread = thread::thread_idx_x() as usize;
    if thread < 8 {
        bins.store(thread, 0);
    }
    thread::sync_threads();
    bins.atomic_add(thread * 5 % 8, 1); // race
    if thread < 8 {
        let in_bin = bins.load(thread); // race
        y.atomic_add(thread, in_bin);
    }
}

#[kernel]
fn all_store_the_same_value_relaxed(flag: GlobalMut<u32>) {
    flag.store_relaxed(0, 1);
}

#[kernel]
fn the_last_block_with_fences(parts: GlobalMut<u32>, ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let blocks = thread::grid_dim_x();
    parts.store(thread::block_idx_x() as usize, 1);
    fence();
    if ticket.atomic_add(0, 1) == blocks - 1 {
        fence();
        let mut sum = 0;
        for block in 0..blocks as usize {
            sum += parts.load(block);
        }
        y.store(0, sum);
    }
}

#[kernel]
fn the_last_block_without_its_own_fence(parts: GlobalMut<u32>, ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let blocks = thread::grid_dim_x();
    parts.store(thread::block_idx_x() as usize, 1); // race
    fence();
    if ticket.atomic_add(0, 1) == blocks - 1 {
        let mut sum = 0;
        for block in 0..blocks as usize {
            sum += parts.load(block); // race
        }
        y.store(0, sum);
    }
}

#[kernel]
fn the_last_block_without_the_others_fence(parts: GlobalMut<u32>, ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let blocks = thread::grid_dim_x();
    parts.store(thread::block_idx_x() as usize, 1); // race
    if ticket.atomic_add(0, 1) == blocks - 1 {
        fence();
        let mut sum = 0;
        for block in 0..blocks as usize {
            sum += parts.load(block); // race
        }
        y.store(0, sum);
    }
}

#[kernel]
fn a_lock_with_fences(lock: GlobalMut<u32>, sum: GlobalMut<u32>) {
    if thread::thread_idx_x() == 0 {
        while lock.atomic_compare_exchange(0, 0, 1) != 0 {}
        fence();
        sum.store(0, sum.load(0) + 1);
        fence();
        lock.atomic_exchange(0, 0);
    }
}

#[kernel]
fn a_lock_without_fences(lock: GlobalMut<u32>, sum: GlobalMut<u32>) {
    if thread::thread_idx_x() == 0 {
        while lock.atomic_compare_exchange(0, 0, 1) != 0 {}
        sum.store(0, thread::block_idx_x()); // race
        lock.atomic_exchange(0, 0);
    }
}

#[kernel]
fn a_lock_released_by_a_store(lock: GlobalMut<u32>, sum: GlobalMut<u32>) {
    if thread::thread_idx_x() == 0 {
        while lock.atomic_compare_exchange(0, 0, 1) != 0 {}
        fence();
        sum.store(0, sum.load(0) + 1);
        lock.store_release(0, 0);
    }
}

#[kernel]
fn a_slot_a_ticket(ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.store(ticket.atomic_add(0, 1) as usize, 1);
}

#[kernel]
fn a_slot_two_tickets(ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    let mine = ticket.atomic_add(0, 1) as usize;
    y.store(mine / 2, 1); // race
}

/// A race-free kernel. One lane draws a ticket for its warp and broadcasts the ticket.
#[kernel]
fn a_ticket_a_warp(ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let mut first = 0;
    if lane == 0 {
        first = ticket.atomic_add(0, 32);
    }
    first = warp::shuffle_idx(warp::FULL_MASK, first, 0);
    y.store((first + lane) as usize, 1);
}

#[kernel]
fn a_ticket_a_warp_without_atomics(ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    let mut first = 0;
    if lane == 0 {
        first = ticket.load(0); // race
        ticket.store(0, first + 32); // race
    }
    first = warp::shuffle_idx(warp::FULL_MASK, first, 0);
    assert!(((first + lane) as usize) < y.len());
}

/// A race-free kernel. The threads update 32 elements atomically, and one thread stores to another element of the
/// array.
#[kernel]
fn the_element_beside_an_atomic(y: GlobalMut<u32>) {
    let thread = thread::thread_idx_x() as usize;
    y.atomic_add(thread / 2, 1);
    if thread == 63 {
        y.store(64, 1);
    }
}

#[kernel]
fn an_initial_value_by_a_barrier(y: GlobalMut<u32>) {
    let most = shared_array![u32; 1];
    let thread = thread::thread_idx_x();
    if thread == 0 {
        most.store(0, 0);
    }
    thread::sync_threads();
    most.atomic_max(0, thread * 7 % 64);
    thread::sync_threads();
    if thread == 1 {
        y.store(thread::block_idx_x() as usize, most.load(0));
    }
}

#[kernel]
fn an_initial_value_without_barrier(y: GlobalMut<u32>) {
    let most = shared_array![u32; 1];
    let thread = thread::thread_idx_x();
    if thread == 0 {
        most.store(0, 0); // race
    }
    most.atomic_max(0, thread * 7 % 64); // race
    thread::sync_threads();
    if thread == 1 {
        y.store(thread::block_idx_x() as usize, most.load(0));
    }
}
