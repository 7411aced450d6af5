//! Tests barriers of the grid, and barriers in shared memory.

use cuda_std::barrier::{Barrier, arrive_named, sync_named};
use cuda_std::{GlobalMut, Kernel, kernel, shared_array, thread};
use launch::{Device, Error, FaultKind, LaunchConfig};

use super::kernels::barriers::{copies_that_arrive, meet, named_barriers, produce_and_consume, rounds};
use super::{checked_devices, devices, fault};

#[test]
fn all_blocks_meet_in_each_round() -> Result<(), Error> {
    for device in devices() {
        for (grid, block) in [((6, 1), 64), ((2, 3), 32)] {
            let n = 6 * block as usize;
            let mut cells = device.upload(&(0..2 * n as u32).collect::<Vec<_>>())?;
            device.launch(LaunchConfig::new(grid, block).cooperative(), rounds(5, cells.view_mut()))?;
            let mut expected: Vec<u32> = (0..n as u32).collect();
            for _ in 0..5 {
                expected = (0..n).map(|i| expected[(7 * i + 5) % n].wrapping_mul(3).wrapping_add(1)).collect();
            }
            assert_eq!(cells.download()?[n..], expected);
        }
    }
    Ok(())
}

#[test]
fn a_barrier_of_the_grid_needs_a_cooperative_launch() -> Result<(), Error> {
    for device in checked_devices() {
        let mut cells = device.zeroed::<u32>(128)?;
        let found = fault(device.launch(LaunchConfig::new(2, 32), rounds(1, cells.view_mut())));
        assert!(matches!(&found.kind, FaultKind::InvalidLaunch(_)), "{found}");
        assert!(found.location.is_some_and(|at| at.file.ends_with("barriers.rs")));
    }
    Ok(())
}

#[test]
fn a_plan_queries_the_maximum_number_of_blocks() -> Result<(), Error> {
    let device = Device::simulated(launch::Simulator::new());
    let most = device.max_cooperative_blocks(<rounds as Kernel>::INFO, 256, 0)?;
    assert!(most >= 1);
    let mut cells = device.zeroed::<u32>(2 * 256 * most as usize)?;
    device.launch(LaunchConfig::new(most, 256).cooperative(), rounds(2, cells.view_mut()))?;
    assert!(device.max_cooperative_blocks(<rounds as Kernel>::INFO, 1025, 0).is_err());
    let mut cells = device.zeroed::<u32>(1)?;
    let error = device.launch(LaunchConfig::new(1 << 20, 256).cooperative(), rounds(2, cells.view_mut()));
    assert!(error.is_err_and(|error| error.to_string().contains("at the same time")));
    Ok(())
}

/// Waits at a barrier of the grid in all blocks but the last.
#[kernel]
fn some_blocks_leave(out: GlobalMut<u32>) {
    if thread::block_idx_x() == thread::grid_dim_x() - 1 {
        return;
    }
    out.store(thread::index_1d(), 1);
    cuda_std::grid::sync();
}

#[test]
fn a_block_that_does_not_reach_the_barrier_is_a_fault() -> Result<(), Error> {
    for device in checked_devices() {
        let mut out = device.zeroed::<u32>(96)?;
        let found = fault(device.launch(LaunchConfig::new(3, 32).cooperative(), some_blocks_leave(out.view_mut())));
        assert_eq!(found.kind, FaultKind::GridBarrierNotReached { waiting: 2, ended: 1 }, "{found}");
    }
    Ok(())
}

#[test]
fn produced_values_are_consumed() -> Result<(), Error> {
    for device in devices() {
        let mut sums = device.zeroed::<u32>(2 * 96)?;
        device.launch(LaunchConfig::new(2, 96), produce_and_consume(6, sums.view_mut()))?;
        let expected = (0..2 * 96_u32).map(|i| i % 96).map(|thread| {
            let read = |round| (thread + round) % 32 * 1000 + round;
            if thread < 32 {
                0
            } else {
                (0..6).fold(0_u32, |sum, round| sum.wrapping_mul(31).wrapping_add(read(round)))
            }
        });
        assert_eq!(sums.download()?, expected.collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn threads_may_leave_a_barrier() -> Result<(), Error> {
    for device in devices() {
        let mut out = device.zeroed::<u32>(64)?;
        device.launch(LaunchConfig::new(1, 64), meet(3, out.view_mut()))?;
        let next = |thread: usize| (thread + if thread % 4 == 2 { 2 } else { 1 }) % 64;
        let mut values: Vec<u32> = (0..64).map(|thread| 5 * ((thread + 1) % 64)).collect();
        for round in 1..3 {
            let written: Vec<u32> = values.iter().map(|value| value + round).collect();
            values = (0..64).map(|thread| written[next(thread)]).collect();
        }
        let expected: Vec<u32> =
            (0..64).map(|thread| if thread % 4 == 3 { 5 * thread as u32 } else { values[thread] }).collect();
        assert_eq!(out.download()?, expected);
    }
    Ok(())
}

/// Misuses a barrier in the way that `which` selects.
#[kernel]
fn misused(which: u32, out: GlobalMut<u32>) {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    let words = shared_array![u64; 1];
    if thread::index_in_block() == 0 {
        words.store(0, 0);
        barrier.init(match which {
            0 => 0,
            1 => 33,
            _ => 32,
        });
    }
    if which != 3 {
        thread::sync_threads();
    }
    match which {
        2 => Barrier::at(words, 0).arrive_and_wait(),
        4 => {
            let first = barrier.arrive();
            barrier.wait(first);
            barrier.arrive_and_wait();
            barrier.wait(first);
        }
        _ => barrier.arrive_and_wait(),
    }
    out.store(thread::index_in_block() as usize, 1);
}

#[test]
fn a_misused_barrier_is_a_fault() -> Result<(), Error> {
    for device in checked_devices().take(2) {
        let run = |which| {
            let mut out = device.zeroed::<u32>(32).unwrap();
            fault(device.launch(LaunchConfig::new(1, 32), misused(which, out.view_mut())))
        };
        let expected = ["must be 1 to", "no progress", "not initialised", "", "before the next one ends"];
        for (which, part) in expected.into_iter().enumerate().filter(|&(which, _)| which != 3) {
            let found = run(which as u32);
            assert!(found.to_string().contains(part), "{which}: {found}");
            assert!(found.location.is_some_and(|at| at.file.ends_with("tests/intrinsics/barriers.rs")), "{which}");
        }
        // No barrier orders the initialisation and the arrivals.
        let found = run(3);
        assert!(matches!(found.kind, FaultKind::Race(_) | FaultKind::Uninitialised { .. }), "{found}");
    }
    Ok(())
}

#[test]
fn named_barriers_order_two_warps() -> Result<(), Error> {
    for device in devices() {
        let mut sums = device.zeroed::<u32>(2 * 64)?;
        device.launch(LaunchConfig::new(2, 64), named_barriers(5, sums.view_mut()))?;
        let expected = (0..2 * 64_u32).map(|i| i % 64).map(|thread| {
            let read = |round| (thread + round) % 32 * 1000 + round;
            if thread < 32 {
                0
            } else {
                (0..5).fold(0_u32, |sum, round| sum.wrapping_mul(31).wrapping_add(read(round)))
            }
        });
        assert_eq!(sums.download()?, expected.collect::<Vec<_>>());
    }
    Ok(())
}

/// Passes a value from warp 0 to warp 1. `which` selects a mistake: no arrival, an arrival before the store, another
/// number of threads, or a barrier that does not exist.
#[kernel]
fn named_misused(which: u32, out: GlobalMut<u32>) {
    let tile = shared_array![u32; 32];
    let thread = thread::index_in_block();
    if thread < 32 {
        if which == 1 {
            arrive_named(1, 64);
        }
        tile.store(thread as usize, thread);
        match which {
            0 | 1 => {}
            2 => arrive_named(1, 32),
            3 => arrive_named(16, 64),
            4 => arrive_named(1, 96),
            _ => arrive_named(1, 64),
        }
    } else {
        sync_named(1, 64);
        out.store(thread as usize - 32, tile.load(63 - thread as usize));
    }
}

#[test]
fn a_misused_named_barrier_is_a_fault() -> Result<(), Error> {
    for device in checked_devices() {
        let run = |which| {
            let mut out = device.zeroed::<u32>(32)?;
            device.launch(LaunchConfig::new(1, 64), named_misused(which, out.view_mut()))?;
            out.download()
        };
        let expected = ["no progress", "`tile[", "", "1 to 15, but 16", "at most 64"];
        for (which, part) in expected.into_iter().enumerate() {
            let found = fault(run(which as u32).map(|_| ()));
            assert!(found.to_string().contains(part), "{which}: {found}");
        }
        assert_eq!(run(5)?, (0..32).rev().collect::<Vec<_>>());
    }
    Ok(())
}

/// Waits in both warps for a barrier at which the other warp never arrives.
#[kernel]
fn each_waits_for_the_other(out: GlobalMut<u32>) {
    let words = shared_array![u64; 2];
    let thread = thread::index_in_block();
    if thread == 0 {
        Barrier::at(words, 0).init(1);
        Barrier::at(words, 1).init(1);
    }
    thread::sync_threads();
    let own = thread as usize / 32;
    Barrier::at(words, own).wait_parity(false);
    if thread.is_multiple_of(32) {
        let _ = Barrier::at(words, 1 - own).arrive();
    }
    out.store(thread as usize, 1);
}

#[test]
fn threads_that_wait_for_a_missed_phase_are_named() -> Result<(), Error> {
    for device in checked_devices().take(2) {
        let mut out = device.zeroed::<u32>(64)?;
        let found = fault(device.launch(LaunchConfig::new(1, 64), each_waits_for_the_other(out.view_mut())));
        let text = found.to_string();
        for barrier in 0..2 {
            let part =
                format!("for phase 0 (parity false) of the barrier `words[{barrier}]`, which has 0 of 1 arrivals");
            assert!(text.contains(&part), "{text}");
        }
    }
    Ok(())
}

#[test]
fn copies_arrive_at_a_barrier() -> Result<(), Error> {
    let numbers: Vec<u32> = (500..628).collect();
    for device in devices() {
        let (x, mut y) = (device.upload(&numbers)?, device.zeroed::<u32>(128)?);
        device.launch(LaunchConfig::new(1, 64), copies_that_arrive(x.view(), y.view_mut()))?;
        assert_eq!(y.download()?, numbers.chunks(4).rev().flatten().copied().collect::<Vec<_>>());
    }
    Ok(())
}
