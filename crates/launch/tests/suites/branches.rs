//! Tests that a simulator with a profiler records the branches of a kernel with their source positions.

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Device, Error, LaunchConfig, Profiles, Simulator};

/// Has several kinds of branches, which the 64 threads take differently. The tests below look up lines of this kernel.
#[kernel]
pub fn ways(y: GlobalMut<u32>, n: u32) {
    let i = thread::index_in_block();
    if i < 32 {
        y.store(i as usize, 1);
    } else if y.len() == 64 && i.is_multiple_of(2) {
        y.store(i as usize, 2);
    }
    let mut left = i % 3;
    while left > 0 {
        left -= 1;
    }
    let small = |j: u32| if j < n { 3 } else { 4 };
    let last = small(i);
    for j in thread::block_stride(96) {
        if let Some(rest) = j.checked_sub(64)
            && rest == 0
        {
            y.store(0, last);
        }
    }
}

/// Returns the line and column of `text` in the kernel of this file.
fn place(text: &str) -> (u32, u32) {
    let lines = include_str!("branches.rs").lines().zip(1..);
    let mut places = lines.filter_map(|(line, number)| Some((number, 1 + line.find(text)? as u32)));
    places.next().expect("a line of this file")
}

#[test]
fn branches_have_their_places_and_counts() -> Result<(), Error> {
    let profiles = Profiles::default();
    let device = Device::simulated(Simulator::new().with_profiles(profiles.clone()));
    let mut y = device.zeroed::<u32>(64)?;
    device.launch(LaunchConfig::new(1, 64), ways(y.view_mut(), 5))?;
    let [profile] = &profiles.take()[..] else { panic!("one launch") };
    let seen: Vec<_> = profile
        .branches
        .iter()
        .map(|branch| {
            assert!(branch.location.file.ends_with("tests/suites/branches.rs"), "{branch:?}");
            ((branch.location.line, branch.location.column), branch.lanes, branch.taken, branch.divergent)
        })
        .collect();
    let expected = [
        // Warp 0 takes the branch, and warp 1 does not.
        (place("i < 32"), 64, 32, 0),
        (place("y.len() == 64"), 32, 16, 1),
        // Each third of the lanes runs 0, 1 or 2 iterations.
        (place("left > 0"), 64 + 42 + 21, 63, 4),
        (place("j < n"), 64, 5, 1),
        // There are 96 indices for 64 threads: warp 0 runs two iterations, and warp 1 one.
        (place("for j in"), 64 + 64 + 32, 96, 0),
    ];
    assert_eq!(seen, expected);
    Ok(())
}
