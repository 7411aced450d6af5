//! Tests the reports of algorithms that update an array in place while other threads load it. Each kernel has no fault
//! and the right result once it stores to another array. If the grid is one block, a barrier before the stores is
//! enough.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Buffer, Device, Error, FaultKind, LaunchConfig, Remedy};

use crate::cured::assert_sound;

const N: usize = 64;

/// The variants of the kernels.
const FAULTY: u32 = 0;
const OTHER_ARRAY: u32 = 1;
const BARRIER: u32 = 2;

/// Replaces the parent of each node by its root.
#[kernel]
fn path_compression(parents: GlobalMut<u32>, variant: u32) {
    let i = thread::index_1d();
    let mut root = parents.load(i);
    while parents.load(root as usize) != root {
        root = parents.load(root as usize);
    }
    put(parents, i, root, variant);
}

/// Gives each vertex of a ring that has the colour of a neighbour the smallest colour that none of them has.
#[kernel]
fn colouring(colours: GlobalMut<u32>, variant: u32) {
    let i = thread::index_1d();
    let (left, right) = (colours.load((i + N - 1) % N), colours.load((i + 1) % N));
    let mut colour = colours.load(i);
    if colour == left || colour == right {
        colour = 0;
        while colour == left || colour == right {
            colour += 1;
        }
    }
    put(colours, i, colour, variant);
}

/// Shortens the paths between 8 nodes by a step over node `over`. `distances` has a table of 8 × 8 distances.
#[kernel]
fn floyd_warshall(distances: GlobalMut<u32>, over: usize, variant: u32) {
    let i = thread::index_1d();
    let (row, column) = (i / 8, i % 8);
    let step = distances.load(8 * row + over) + distances.load(8 * over + column);
    put(distances, i, step.min(distances.load(i)), variant);
}

/// Hooks each root to the root at the other end of its lightest edge. Of two roots that choose each other, the smaller
/// one stays.
#[kernel]
fn boruvka_hook(parents: GlobalMut<u32>, lightest: Global<u32>, variant: u32) {
    let i = thread::index_1d();
    let mut parent = parents.load(i);
    if parent as usize == i {
        let other = lightest.load(i) as usize;
        if lightest.load(other) as usize != i || other < i {
            parent = parents.load(other);
        }
    }
    put(parents, i, parent, variant);
}

/// Stores `value` as element `i`, in place or in the second half of `y`.
#[cuda_std::device]
fn put(y: GlobalMut<u32>, i: usize, value: u32, variant: u32) {
    if variant == BARRIER {
        thread::sync_threads();
    }
    y.store(if variant == OTHER_ARRAY { N + i } else { i }, value);
}

type Launch = fn(&Device, LaunchConfig, u32) -> Result<Vec<u32>, Error>;

/// Returns the half of `y` that the kernel has stored to.
fn result(y: &Buffer<u32>, variant: u32) -> Result<Vec<u32>, Error> {
    let y = y.download()?;
    Ok(if variant == OTHER_ARRAY { &y[N..] } else { &y[..N] }.to_vec())
}

fn compressed(device: &Device, config: LaunchConfig, variant: u32) -> Result<Vec<u32>, Error> {
    let parents: Vec<u32> = (0..N as u32).map(|i| if i % 8 == 0 { i } else { i - 1 }).chain([0; N]).collect();
    let mut parents = device.upload(&parents)?;
    device.launch(config, path_compression(parents.view_mut(), variant))?;
    result(&parents, variant)
}

fn coloured(device: &Device, config: LaunchConfig, variant: u32) -> Result<Vec<u32>, Error> {
    let mut colours = device.upload(&[0; 2 * N])?;
    device.launch(config, colouring(colours.view_mut(), variant))?;
    result(&colours, variant)
}

/// Returns the distances in a ring of 8 nodes.
fn shortened(device: &Device, config: LaunchConfig, variant: u32) -> Result<Vec<u32>, Error> {
    let first = |i: usize| match (i / 8).abs_diff(i % 8) {
        0 => 0,
        1 | 7 => 1,
        _ => 1000,
    };
    let distances: Vec<u32> = (0..N).map(first).chain([0; N]).collect();
    let mut table = device.upload(&distances)?;
    for over in 0..8 {
        device.launch(config, floyd_warshall(table.view_mut(), over, variant))?;
        if variant == OTHER_ARRAY {
            table.copy_within(N..2 * N, 0)?;
        }
    }
    result(&table, variant)
}

fn hooked(device: &Device, config: LaunchConfig, variant: u32) -> Result<Vec<u32>, Error> {
    let parents: Vec<u32> = (0..N as u32).chain([0; N]).collect();
    let lightest: Vec<u32> = (0..N as u32).map(|i| if i % 4 == 3 { i - 1 } else { i + 1 }).collect();
    let (mut parents, lightest) = (device.upload(&parents)?, device.upload(&lightest)?);
    device.launch(config, boruvka_hook(parents.view_mut(), lightest.view(), variant))?;
    result(&parents, variant)
}

#[test]
fn updates_in_place_need_another_array() {
    let distance = |i: usize| (i / 8).abs_diff(i % 8).min(8 - (i / 8).abs_diff(i % 8)) as u32;
    let hook = |i: u32| [i + 1, i + 1, i, i.wrapping_sub(1)][i as usize % 4];
    let all: [(&str, Launch, Vec<u32>); 4] = [
        ("path compression", compressed, (0..N as u32).map(|i| i / 8 * 8).collect()),
        ("colouring", coloured, vec![1; N]),
        ("Floyd\u{2013}Warshall", shortened, (0..N).map(distance).collect()),
        ("hooks", hooked, (0..N as u32).map(hook).collect()),
    ];
    let another = "store to another array, or make the stores in a later launch";
    let barrier = [Remedy::WarpSynchronisation, Remedy::BlockBarrier, Remedy::AtomicUpdate];
    for threads in [8, 32, 64] {
        let config = LaunchConfig::new(N as u32 / threads, threads);
        for (name, launch, right) in &all {
            for (order, device) in launch::checked_devices().enumerate() {
                let fault = match launch(&device, config, FAULTY) {
                    Err(Error::Fault(fault)) => fault,
                    other => panic!("{name}, order {order}: {other:?}"),
                };
                let FaultKind::Race(race) = &fault.kind else { panic!("{name}: {fault}") };
                let is_cure = race.remedy.to_string().contains(another);
                assert!(is_cure || threads == 64 && barrier.contains(&race.remedy), "{name}: {fault}");
            }
            assert_sound(right, |device| launch(device, config, OTHER_ARRAY));
            if threads == 64 {
                assert_sound(right, |device| launch(device, config, BARRIER));
            }
        }
    }
}
