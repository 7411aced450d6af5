//! Tests which accesses of a warp's lanes the profiler counts as one request if the lanes diverge.

use crate::common;

use common::{Array, KERNEL, global_index};
use simt::{LaunchConfig, Profile, Profiles, Simulator, Space, thread, warp};

const FULL: u32 = u32::MAX;

fn profile(config: LaunchConfig, body: impl Fn() + Sync) -> Profile {
    let profiles = Profiles::default();
    Simulator::new().with_profiles(profiles.clone()).launch(&KERNEL, config, body).unwrap();
    profiles.take().pop().unwrap()
}

/// Launches one warp with an array of 64 elements. Returns the numbers of requests and lanes of each source site that
/// accesses global memory, in source order.
fn requests(body: impl Fn(&Array<u32>, usize) + Sync) -> Vec<(u64, u64)> {
    let x = Array::filled(64, 0);
    figures(&profile(LaunchConfig::new(1, 32), || body(&x, thread::lane_id() as usize)))
}

fn figures(profile: &Profile) -> Vec<(u64, u64)> {
    let sites = profile.accesses.iter().filter(|access| access.space == Space::Global);
    sites.map(|access| (access.requests, access.lanes)).collect()
}

/// Returns for each branch the numbers of executions, divergent executions, lanes, and lanes that take it.
fn branches(profile: &Profile) -> Vec<(u64, u64, u64, u64)> {
    let sites = profile.branches.iter();
    sites.map(|branch| (branch.executions, branch.divergent, branch.lanes, branch.taken)).collect()
}

/// Executes a branch that the profiler observes if `is_seen` is true. Otherwise the profiler can only infer the branch
/// from later accesses.
#[track_caller]
fn branch(is_seen: bool, is_taken: bool) -> bool {
    if is_seen { thread::branch(is_taken) } else { is_taken }
}

#[test]
fn both_ways_of_a_branch_are_requests_of_their_own() {
    let figures = requests(|x, lane| {
        if thread::branch(lane % 2 == 0) {
            x.load(lane);
        } else {
            x.load(lane + 1);
        }
        x.load(lane);
    });
    assert_eq!(figures, [(1, 16), (1, 16), (1, 32)]);
}

#[test]
fn a_branch_diverges_by_lane_or_not_at_all_by_warp() {
    let profile = profile(LaunchConfig::new(2, 128), || {
        let (lane, warp) = (thread::lane_id(), thread::warp_id());
        thread::branch(lane < 8);
        thread::branch(warp % 2 == 0);
        thread::branch(warp > 0 || lane == 3);
        thread::branch(true);
    });
    let expected = [(8, 8, 256, 64), (8, 0, 256, 128), (8, 2, 256, 194), (8, 0, 256, 256)];
    assert_eq!(branches(&profile), expected);
}

#[test]
fn lanes_meet_again_in_each_iteration() {
    for is_seen in [true, false] {
        let figures = requests(|x, lane| {
            for round in 0..6 {
                if branch(is_seen, (lane + round) % 3 == 0) {
                    x.load(lane);
                    x.load(lane + 1);
                }
                x.load(lane);
            }
        });
        assert_eq!(figures, [(6, 64), (6, 64), (6, 192)], "seen: {is_seen}");
    }
}

#[test]
fn alternatives_in_a_loop_are_distinguished_by_iteration() {
    let figures = requests(|x, lane| {
        for round in 0..4 {
            if thread::branch((lane >> round) % 2 == 0) {
                x.load(lane);
            } else {
                x.store(lane, 0);
            }
        }
        x.store(lane, 1);
    });
    assert_eq!(figures, [(4, 64), (4, 64), (1, 32)]);
}

#[test]
fn alternatives_may_be_of_different_length() {
    let figures = requests(|x, lane| {
        for round in 0..4 {
            if thread::branch((lane + round) % 4 == 0) {
                x.load(lane);
                for _ in 0..5 {
                    x.load(lane);
                }
            } else if thread::branch((lane + round) % 4 == 1) {
                x.load(lane);
            }
            x.load(lane);
        }
    });
    assert_eq!(figures, [(4, 32), (20, 160), (4, 32), (4, 128)]);
}

#[test]
fn lanes_that_leave_a_loop_early_wait_behind_it() {
    let figures = requests(|x, lane| {
        for _ in 0..lane {
            x.load(lane);
        }
        x.load(lane);
        for i in 0..32 {
            if thread::branch(i > lane) {
                break;
            }
            x.load(lane);
        }
        x.load(lane);
    });
    assert_eq!(figures, [(31, 496), (1, 32), (32, 528), (1, 32)]);
}

#[test]
fn code_between_a_test_and_its_break_belongs_to_the_iteration() {
    let figures = requests(|x, lane| {
        for i in 0..8 {
            x.load(lane);
            // One lane in nine leaves the loop at the end of its range.
            if thread::branch(lane % 9 == i) {
                x.store(lane, 0);
                break;
            }
        }
        x.load(lane);
    });
    assert_eq!(figures, [(8, 147), (8, 29), (1, 32)]);
}

#[test]
fn a_loop_may_test_at_its_head() {
    let x = Array::filled(64, 0_u32);
    let profile = profile(LaunchConfig::new(1, 32), || {
        let lane = thread::lane_id() as usize;
        let mut i = lane;
        while thread::branch(i < 40) {
            x.load(i);
            i += 7;
        }
        x.store(lane, 1);
    });
    let rounds = |lane: u64| (40 - lane).div_ceil(7);
    let total: u64 = (0..32).map(rounds).sum();
    assert_eq!(figures(&profile), [(6, total), (1, 32)]);
    // All lanes run two iterations. Then some leave in each iteration, and the last ones leave together.
    let divergent = 4;
    assert_eq!(branches(&profile), [(7, divergent, total + 32, total)]);
}

#[test]
fn a_lane_that_goes_on_waits_for_the_others() {
    let figures = requests(|x, lane| {
        for round in 0..8 {
            x.load(lane);
            if thread::branch((lane + round) % 2 == 0) {
                continue;
            }
            x.load(lane);
        }
        x.load(lane);
    });
    assert_eq!(figures, [(8, 256), (8, 128), (1, 32)]);
}

#[test]
fn loops_in_loops_have_their_own_iterations() {
    for is_seen in [true, false] {
        let figures = requests(|x, lane| {
            let mut round = 0;
            while branch(is_seen, round < 3) {
                // Each lane runs 1 to 4 iterations, and their number changes from round to round.
                let mut i = 0;
                while branch(is_seen, i < 1 + (lane + round) % 4) {
                    x.load(lane);
                    i += 1;
                }
                x.load(lane);
                round += 1;
            }
            x.load(lane);
        });
        let inner = (0..32).flat_map(|lane| (0..3).map(move |round| 1 + (lane + round) % 4)).sum();
        assert_eq!(figures, [(12, inner), (3, 96), (1, 32)], "seen: {is_seen}");
    }
}

#[test]
fn lanes_that_return_early_are_missing_afterwards() {
    let profile = profile(LaunchConfig::new(1, 64), {
        let x = Array::filled(128, 0_u32);
        move || {
            let i = global_index();
            if thread::branch(i % 32 < 5) {
                x.store(i, 0);
                return;
            }
            x.load(i);
            if i == 40 {
                return;
            }
            x.load(i);
        }
    });
    assert_eq!(figures(&profile), [(2, 10), (2, 54), (2, 53)]);
    assert_eq!(branches(&profile), [(2, 2, 64, 10)]);
}

#[test]
fn a_grid_stride_loop_runs_out_in_one_warp() {
    let x = Array::filled(1000, 0_u32);
    let profile = profile(LaunchConfig::new(2, 64), || {
        let mut i = global_index();
        while thread::branch(i < x.len()) {
            x.store(i, 1);
            i += 128;
        }
    });
    // 1000 elements are 31 full warps and 8 lanes.
    assert_eq!(figures(&profile), [(32, 1000)]);
    assert_eq!(profile.accesses[0].sectors, 125);
    assert_eq!(branches(&profile), [(36, 1, 1128, 1000)]);
}

/// A helper function. The profiler adds up the counts of each of its lines over all callers.
fn twice(x: &Array<u32>, i: usize) -> u32 {
    let first = x.load(i);
    first + x.load(i)
}

#[test]
fn helpers_are_called_from_several_sites() {
    let figures = requests(|x, lane| {
        for round in 0..3 {
            if thread::branch((lane + round) % 2 == 0) {
                twice(x, lane);
            }
            x.store(lane, 0);
        }
        twice(x, lane);
    });
    // The helper's two lines come first in the source.
    assert_eq!(figures, [(4, 80), (4, 80), (3, 96)]);
}

#[test]
fn an_unrolled_loop_is_a_loop() {
    let figures = requests(|x, lane| {
        let all: [u32; 4] = std::array::from_fn(|i| if i < lane { x.load(lane) } else { 0 });
        x.store(lane, all.into_iter().sum());
    });
    let lanes = (0..32).map(|lane: u64| lane.min(4)).sum();
    assert_eq!(figures, [(4, lanes), (1, 32)]);
}

#[test]
fn a_shuffle_of_some_lanes_does_not_part_them_from_the_others_for_good() {
    let x = Array::filled(64, 0_u32);
    let profile = profile(LaunchConfig::new(1, 32), || {
        let lane = thread::lane_id() as usize;
        for _ in 0..2 {
            if thread::branch(lane < 16) {
                x.load(lane);
                warp::exchange(0xFFFF, 1, 0);
                x.load(lane);
            } else {
                x.load(lane);
            }
            x.load(lane);
        }
        warp::sync(FULL);
        x.load(lane);
    });
    assert_eq!(figures(&profile), [(2, 32), (2, 32), (2, 32), (2, 64), (1, 32)]);
    assert_eq!(profile.warp_operations, 3);
}

#[test]
fn halves_of_a_warp_may_shuffle_in_loops_of_their_own() {
    let x = Array::filled(64, 0_u32);
    let profile = profile(LaunchConfig::new(1, 32), || {
        let lane = thread::lane_id() as usize;
        let (mask, rounds) = if lane < 16 { (0xFFFF, 2) } else { (0xFFFF_0000, 5) };
        let mut round = 0;
        while thread::branch(round < rounds) {
            x.load(lane);
            warp::sync(mask);
            round += 1;
        }
        x.load(lane);
    });
    assert_eq!(figures(&profile), [(5, 2 * 32 + 3 * 16), (1, 32)]);
    assert_eq!(branches(&profile), [(6, 1, 3 * 32 + 3 * 16, 2 * 32 + 3 * 16)]);
}

#[test]
fn a_reduction_in_a_warp_and_then_by_its_first_lane() {
    let x = Array::filled(256, 1_u32);
    let profile = profile(LaunchConfig::new(2, 128), || {
        let i = global_index();
        let mut sum = u64::from(x.load(i));
        for step in [16, 8, 4, 2, 1] {
            sum += warp::exchange(FULL, sum, thread::lane_id() ^ step).unwrap();
        }
        if thread::branch(thread::lane_id() == 0) {
            x.update(thread::warp_id() as usize, |x| x + sum as u32);
        }
    });
    assert_eq!(figures(&profile), [(8, 256), (8, 8)]);
    assert_eq!(branches(&profile), [(8, 8, 256, 8)]);
    assert_eq!(profile.warp_operations, 40);
}

#[test]
fn long_loops_are_counted_as_they_run() {
    // Lanes may be more events apart than there are lanes, with and without divergence.
    for extra in [0, 1, 100] {
        let x = Array::filled(64, 0_u32);
        let profile = profile(LaunchConfig::new(2, 64), || {
            let lane = thread::lane_id() as usize;
            let mut i = 0;
            while thread::branch(i < 5000 + extra * lane) {
                if thread::branch((i + lane).is_multiple_of(3)) {
                    x.load(lane);
                }
                x.load(lane);
                i += 1;
            }
            x.load(lane);
        });
        let rounds = |lane: usize| 5000 + extra * lane;
        let thirds = |lane: usize| (0..rounds(lane)).filter(|i| (i + lane).is_multiple_of(3)).count();
        let requests = rounds(31) as u64;
        // In the last rounds only the last lane remains. One in three of its rounds is in the branch.
        let some = (0..rounds(31)).filter(|&i| (0..32).any(|lane| i < rounds(lane) && (i + lane).is_multiple_of(3)));
        let all = |count: &dyn Fn(usize) -> usize| 4 * (0..32).map(count).sum::<usize>() as u64;
        let expected = [(4 * some.count() as u64, all(&thirds)), (4 * requests, all(&rounds)), (4, 128)];
        assert_eq!(figures(&profile), expected, "{extra}");
    }
}
