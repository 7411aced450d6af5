//! Tests that `redundant_synchronisations` lists exactly the synchronisations that no tried schedule needs.

use cuda_std::{GlobalMut, fence, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig, SyncKind, redundant_synchronisations};

const THREADS: usize = 64;

/// Passes the index of the neighbouring thread through shared memory.
#[kernel]
fn neighbour(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let tile = shared_array![u32; THREADS];
    tile.store(i, i as u32);
    thread::sync_threads();
    let found = tile.load((i + 1) % THREADS);
    thread::sync_threads(); // redundant: barrier
    y.store(i, found);
    warp::sync_warp(u32::MAX); // redundant: warp synchronisation
}

/// Has two barriers, one of which is redundant. If both barriers are removed, there is a race.
#[kernel]
fn twice(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let tile = shared_array![u32; THREADS];
    tile.store(i, i as u32);
    thread::sync_threads(); // redundant: barrier
    thread::sync_threads(); // redundant: barrier
    y.store(i, tile.load((i + 1) % THREADS));
}

/// Has a counting barrier that orders nothing. Its count is used, so a run without the barrier still computes it.
#[kernel]
fn counting(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x();
    let count = thread::sync_threads_count(i.is_multiple_of(3)); // redundant: counting barrier
    y.store(i as usize, count);
}

/// Has three fences: one releases, one acquires in the thread that reads the flag, and one has no effect.
#[kernel]
fn message(y: GlobalMut<u32>) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    if thread::block_idx_x() == 0 {
        y.store(0, 42);
        fence();
        y.store_relaxed(1, 1);
        fence(); // redundant: fence
    } else {
        while y.load_relaxed(1) == 0 {}
        fence();
        let found = y.load(0);
        y.store(2, found);
    }
}

/// Checks in thread 0 that all threads counted before the barrier. Without the barrier no accesses race, but the result
/// is wrong.
#[kernel]
fn first_and_second(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let before = y.atomic_add(0, 1);
    thread::sync_threads();
    let found = if i == 0 { y.atomic_add(0, 1000) } else { before };
    y.store(i + 1, u32::from(i == 0 && found == THREADS as u32));
}

/// Returns the lines of the kernel that have a marking comment, and the kinds of synchronisation that the comments
/// name.
fn marked(kernel: &str) -> Vec<(u32, &'static str)> {
    let source = include_str!("redundant.rs");
    let begin = source.lines().position(|line| line.starts_with(&format!("fn {kernel}("))).unwrap();
    let lines = source.lines().enumerate().skip(begin).take_while(|(_, line)| *line != "}");
    lines.filter_map(|(i, line)| Some((i as u32 + 1, line.split_once("// redundant: ")?.1))).collect()
}

fn assert_listed(kernel: &str, run: impl Fn(&Device) -> Result<Vec<u32>, Error>) {
    let redundant = redundant_synchronisations(run).unwrap();
    let lines: Vec<_> = redundant.iter().map(|one| (one.location.line, one.kind.name())).collect();
    assert_eq!(lines, marked(kernel), "{kernel}");
    for one in &redundant {
        let text = one.to_string();
        assert!(text.starts_with(&format!("crates/launch/tests/suites/redundant.rs:{}:", one.location.line)), "{text}");
        assert!(text.contains("no tried order needs this") && text.contains(one.kind.name()), "{text}");
        assert_eq!(one.kind == SyncKind::CountingBarrier, text.contains("counts and orders nothing"), "{text}");
    }
}

/// Runs a kernel on `len` elements, all 0, and returns the elements.
macro_rules! run {
    ($kernel:ident, $config:expr, $len:expr) => {
        |device: &Device| {
            let mut y = device.zeroed::<u32>($len)?;
            device.launch($config, $kernel(y.view_mut()))?;
            y.download()
        }
    };
}

#[test]
fn exactly_the_redundant_synchronisations_are_listed() {
    let one_block = LaunchConfig::new(1, THREADS as u32);
    assert_listed("neighbour", run!(neighbour, one_block, THREADS));
    assert_listed("twice", run!(twice, one_block, THREADS));
    assert_listed("counting", run!(counting, one_block, THREADS));
    assert_listed("message", run!(message, LaunchConfig::new(2, 32), 3));
}

#[test]
fn a_wrong_result_is_notice_enough() {
    assert_listed("first_and_second", run!(first_and_second, LaunchConfig::new(1, THREADS as u32), THREADS + 1));
}

#[test]
fn a_kernel_that_fails_as_it_is_has_no_hints() {
    let error = redundant_synchronisations(|device| {
        let mut y = device.zeroed::<u32>(1)?;
        device.launch(LaunchConfig::new(1, 64), neighbour(y.view_mut()))?;
        y.download()
    });
    assert!(error.unwrap_err().to_string().contains("out of bounds"));
}
