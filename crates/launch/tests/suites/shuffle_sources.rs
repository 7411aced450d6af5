//! Tests that a kernel whose results depend on a shuffle from a lane that takes no part is reported, and that a shuffle
//! whose value is not used is not.

use cuda_std::{GlobalMut, kernel, thread, warp};
use launch::{Absence, Device, Error, FaultKind, LaunchConfig, Remedy};

use crate::cured::{assert_cured, assert_sound, line_of};

/// Sums 16 lanes by a tree, and stores the sums of all lanes, or of lane 0 only. Lanes of the upper half add values of
/// lanes that are not in the mask.
#[kernel]
fn tree(y: GlobalMut<u32>, stores_all: bool) {
    let lane = thread::thread_idx_x();
    let mut sum = lane + 1;
    let mut distance = 8;
    while distance > 0 {
        sum += warp::shuffle_down(0xFFFF, sum, distance); // from the tree
        distance /= 2;
    }
    if stores_all || lane == 0 {
        y.store(lane as usize, sum);
    }
}

/// Shifts the values of 16 lanes. The last four lanes have no source if only 16 lanes take part.
#[kernel]
fn shifted(y: GlobalMut<u32>, is_faulty: bool) {
    let lane = thread::thread_idx_x();
    let found = if is_faulty {
        if lane < 16 { warp::shuffle_down(0xFFFF, lane, 4) } else { 0 }
    } else {
        warp::shuffle_down(warp::FULL_MASK, lane, 4)
    };
    if lane < 16 {
        y.store(lane as usize, found);
    }
}

/// Reads a lane that has exited, and ends the kernel if the value is not expected.
#[kernel]
fn exited(y: GlobalMut<u32>, is_faulty: bool) {
    let lane = thread::thread_idx_x();
    if is_faulty && lane == 9 {
        return;
    }
    let found = warp::shuffle_idx(warp::FULL_MASK, lane, 9);
    assert!(found < 32, "the value of lane 9");
    if lane < 16 {
        y.store(lane as usize, found);
    }
}

/// Sums 16 lanes in lane 0. If `is_faulty` is true, only the lanes that add call the shuffle.
#[kernel]
fn skipped(y: GlobalMut<u32>, is_faulty: bool) {
    let lane = thread::thread_idx_x();
    let mut sum = y.load(1 + lane as usize % 15); // before the shuffles
    let mut distance = 8;
    while distance > 0 {
        if !is_faulty || lane < distance {
            sum += warp::shuffle_down(warp::FULL_MASK, sum, distance); // if it is called
        }
        distance /= 2;
    }
    if lane == 0 {
        y.store(0, sum + 1);
    }
}

/// Launches `kernel` with one warp, or 16 lanes of it.
fn launch(
    device: &Device,
    threads: u32,
    kernel: for<'a> fn(GlobalMut<'a, u32>) -> launch::Call<'a>,
) -> Result<Vec<u32>, Error> {
    let mut y = device.zeroed(16)?;
    device.launch(LaunchConfig::new(1, threads), kernel(y.view_mut()))?;
    y.download()
}

#[test]
fn a_source_lane_outside_of_the_mask() {
    let right: Vec<u32> = (4..20).collect();
    let fault = assert_cured("is not in the mask", &right, |device, is_faulty| {
        if is_faulty { launch(device, 32, |y| shifted(y, true)) } else { launch(device, 32, |y| shifted(y, false)) }
    });
    let line = line_of(include_str!("shuffle_sources.rs"), "warp::shuffle_down(0xFFFF, lane, 4)");
    assert_eq!(fault.location.as_ref().unwrap().line, line, "{fault}");
    let text = "a shuffle with mask 0x0000ffff takes the value of lane 16, which is not in the mask; the value is \
        unspecified, and `y[12]` depends on it";
    assert!(fault.to_string().contains(text), "{fault}");
}

#[test]
fn the_unused_upper_half_of_a_tree() {
    let mut right = [0; 16];
    right[0] = 136;
    assert_sound(&right, |device| launch(device, 16, |y| tree(y, false)));
    let fault = assert_cured("depends on it", &right, |device, is_faulty| {
        if is_faulty { launch(device, 16, |y| tree(y, true)) } else { launch(device, 16, |y| tree(y, false)) }
    });
    let line = line_of(include_str!("shuffle_sources.rs"), "// from the tree");
    assert_eq!(fault.location.as_ref().unwrap().line, line, "{fault}");
}

#[test]
fn a_source_lane_that_has_exited() {
    let fault =
        assert_cured("lane 9, which has exited before the shuffle; the value", &[9; 16], |device, is_faulty| {
            if is_faulty { launch(device, 32, |y| exited(y, true)) } else { launch(device, 32, |y| exited(y, false)) }
        });
    assert!(matches!(fault.kind, FaultKind::UnspecifiedShuffle { source: 9, .. }));
    assert_eq!(fault.remedy(), Some(Remedy::MaskWithSource));
}

#[test]
fn a_source_lane_that_has_skipped_the_shuffle() {
    let mut right = [0; 16];
    right[0] = 1;
    let fault = assert_cured("which has skipped the shuffle and was last seen at", &right, |device, is_faulty| {
        if is_faulty { launch(device, 32, |y| skipped(y, true)) } else { launch(device, 32, |y| skipped(y, false)) }
    });
    let FaultKind::UnspecifiedShuffle { absence: Absence::Skipped(seen), .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!(seen.line, line_of(include_str!("shuffle_sources.rs"), "// before the shuffles"), "{fault}");
}

#[test]
fn a_source_lane_that_the_block_does_not_have() {
    assert_cured("lane 9, which the block does not have", &[9; 16], |device, is_faulty| {
        launch(device, if is_faulty { 8 } else { 32 }, |y| exited(y, false))
    });
}
