//! Tests the warp operations: synchronisation, exchange, votes, matches and reductions.

use crate::common;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::warp::Reduction;
use simt::{FaultKind, LaunchConfig, Schedule, thread, warp};

const FULL: u32 = u32::MAX;

#[test]
fn lanes_exchange_values() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(3, 128), || {
                let (lane, base) = (thread::lane_id(), global_index() as u64 / 32 * 32);
                let value = global_index() as u64;
                for round in 0..40 {
                    let source = (lane + round) % 32;
                    assert_eq!(warp::exchange(FULL, value, source), Some(base + u64::from(source)));
                    assert_eq!(warp::exchange(FULL, !value, lane ^ 1), Some(!(base + u64::from(lane ^ 1))));
                }
                assert_eq!(warp::exchange(FULL, value, 5), Some(base + 5), "many read one lane");
                assert_eq!(warp::exchange(FULL, value, 32), None, "there is no lane 32");
            })
            .unwrap();
    }
}

#[test]
fn a_butterfly_sums_a_warp() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(2, 256), || {
                let mut sum = u64::from(thread::lane_id());
                for step in [16, 8, 4, 2, 1] {
                    sum += warp::exchange(FULL, sum, thread::lane_id() ^ step).unwrap();
                }
                assert_eq!(sum, 31 * 32 / 2);
            })
            .unwrap();
    }
}

#[test]
fn ballots_have_a_bit_per_vote() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(2, 64), || {
                let lane = thread::lane_id();
                assert_eq!(warp::ballot(FULL, true), FULL);
                assert_eq!(warp::ballot(FULL, false), 0);
                assert_eq!(warp::ballot(FULL, lane.is_multiple_of(3)), 0x4924_9249);
                if lane < 7 {
                    assert_eq!(warp::ballot(0x7F, lane % 2 == 1), 0x2A);
                }
            })
            .unwrap();
    }
}

#[test]
fn divergent_lanes_meet_in_their_own_groups() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(1, 96), || {
                let lane = thread::lane_id();
                for _ in 0..10 {
                    if lane.is_multiple_of(2) {
                        assert_eq!(
                            warp::exchange(0x5555_5555, lane.into(), (lane + 2) % 32),
                            Some(((lane + 2) % 32).into())
                        );
                        assert_eq!(warp::exchange(0x5555_5555, lane.into(), 1), None, "lane 1 is not in the mask");
                    } else if lane < 16 {
                        assert_eq!(warp::ballot(0x0000_AAAA, lane > 7), 0xAA00);
                    } else {
                        warp::sync(0xAAAA_0000);
                    }
                }
                warp::sync(FULL);
            })
            .unwrap();
    }
}

#[test]
fn overlapping_groups_meet_one_after_the_other() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                let lane = thread::lane_id();
                // Lane 0 waits for lane 1, which waits for lane 2 first.
                if lane == 1 || lane == 2 {
                    assert_eq!(warp::exchange(0b110, lane.into(), 3 - lane), Some((3 - lane).into()));
                }
                if lane == 0 || lane == 1 {
                    assert_eq!(warp::exchange(0b011, lane.into(), 1 - lane), Some((1 - lane).into()));
                }
            })
            .unwrap();
    }
}

#[test]
fn exited_lanes_are_not_waited_for() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                let lane = thread::lane_id();
                if lane >= 20 {
                    return;
                }
                // Lanes from 20 on may have exited already. In every order they exit and are not waited for.
                assert_eq!(warp::ballot(FULL, true), (1 << 20) - 1);
                assert_eq!(warp::exchange(FULL, 7, 25), None);
                warp::sync(FULL);
            })
            .unwrap();
    }
}

#[test]
fn a_partial_warp_has_the_lanes_that_exist() {
    for threads in [1, 5, 31, 33, 50, 1000] {
        simulator(1, 4)
            .launch(&KERNEL, LaunchConfig::new(1, threads), || {
                let lanes = (threads - thread::warp_id() * 32).min(32);
                assert_eq!(warp::ballot(FULL, true), FULL >> (32 - lanes));
            })
            .unwrap();
    }
}

#[test]
fn warps_do_not_wait_for_each_other() {
    let order = Array::<u32>::filled(2, 0);
    simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 64), || {
            for _ in 0..thread::warp_id() * 3 + 1 {
                warp::sync(FULL);
            }
            if thread::lane_id() == 0 {
                order.store(thread::warp_id() as usize, 1);
            }
        })
        .unwrap();
    assert_eq!(order.to_vec(), [1, 1]);
}

#[test]
fn the_active_mask_has_the_caller() {
    simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 64), || {
            let active = warp::active_mask();
            assert_ne!(active & 1 << thread::lane_id(), 0);
            assert_eq!(warp::ballot(active, true), active, "the lanes of the active mask meet");
        })
        .unwrap();
}

#[test]
fn the_active_mask_is_one_lane_or_all_that_come_together() {
    let masks_of = |schedule| {
        let masks = Array::filled(64, 0_u32);
        simulator(1, 0)
            .with_schedule(schedule)
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                // The second half of each warp comes later, and lane 5 does not come at all.
                if thread::lane_id() >= 16 {
                    warp::sync(0xFFFF_0000);
                }
                if thread::lane_id() != 5 {
                    let active = warp::active_mask();
                    assert_eq!(warp::ballot(active, true), active, "all lanes of the mask have it");
                    masks.store(global_index(), active);
                }
            })
            .unwrap();
        masks.to_vec()
    };
    let alone: Vec<u32> = (0..64).map(|i| if i % 32 == 5 { 0 } else { 1 << (i % 32) }).collect();
    assert_eq!(masks_of(Schedule::Natural), alone);
    let together: Vec<u32> = (0..64).map(|i| if i % 32 == 5 { 0 } else { !(1 << 5) }).collect();
    assert_eq!(masks_of(Schedule::LastFirst), together);
    let counts: Vec<u32> = masks_of(Schedule::Random(1)).iter().map(|mask| mask.count_ones()).collect();
    assert!(counts.iter().all(|&count| count < 31) && counts.iter().any(|&count| count > 1), "{counts:?}");
}

#[test]
fn operations_are_counted() {
    let stats = simulator(2, 0).launch(&KERNEL, LaunchConfig::new(3, 128), || warp::sync(FULL)).unwrap();
    assert_eq!(stats.warp_operations, 12);
}

#[test]
fn lanes_with_the_same_value_find_each_other() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(2, 64), || {
                let lane = thread::lane_id();
                let expected = (0..32).filter(|other| other % 3 == lane % 3).map(|other| 1 << other).sum::<u32>();
                assert_eq!(warp::match_any(FULL, u64::from(lane % 3) << 40), (expected, FULL));
                if lane.is_multiple_of(2) {
                    assert_eq!(warp::match_any(0x5555_5555, 7), (0x5555_5555, 0x5555_5555));
                }
            })
            .unwrap();
    }
}

#[test]
fn a_warp_is_reduced() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(1, 64), || {
                let lane = u64::from(thread::lane_id());
                assert_eq!(warp::reduce(FULL, lane + 3, Reduction::Min), 3);
                assert_eq!(warp::reduce(FULL, lane + 3, Reduction::Max), 34);
                assert_eq!(warp::reduce(FULL, 1 << lane, Reduction::Add), u64::from(FULL));
                assert_eq!(warp::reduce(FULL, 1 << lane, Reduction::Or), u64::from(FULL));
                assert_eq!(warp::reduce(FULL, lane | 5, Reduction::And), 5);
                assert_eq!(warp::reduce(FULL, lane, Reduction::Xor), (0..32).fold(0, |a, b| a ^ b));
                if lane < 5 {
                    assert_eq!(warp::reduce(0x1F, lane, Reduction::Add), 10);
                }
            })
            .unwrap();
    }
}

#[test]
fn lanes_that_never_reach_a_match_or_a_reduction_are_a_fault() {
    let kernels: [fn(); 2] = [|| _ = warp::match_any(FULL, 1), || _ = warp::reduce(FULL, 1, Reduction::Add)];
    for kernel in kernels {
        for simulator in simulators() {
            let fault = simulator
                .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                    if thread::lane_id() == 9 { thread::sync_threads() } else { kernel() }
                })
                .unwrap_err();
            assert!(
                matches!(fault.kind, FaultKind::BarrierNotReached { .. } | FaultKind::WarpMismatch { .. }),
                "{fault}"
            );
        }
    }
}

/// Each lane passes two registers; the warp returns the sum of the first ones, and the second one of the next lane.
#[test]
fn a_collective_instruction_replaces_the_registers_of_all_lanes() {
    for simulator in simulators() {
        simulator
            .launch(&KERNEL, LaunchConfig::new(2, 64), || {
                for round in 0..20 {
                    let mut registers = [0; 32];
                    registers[..2].copy_from_slice(&[thread::lane_id() + round, thread::lane_id()]);
                    warp::collective("rotate", &mut registers, |lanes| {
                        let (sum, old) = (lanes.iter().map(|lane| lane[0]).sum(), *lanes);
                        for (lane, registers) in lanes.iter_mut().enumerate() {
                            registers[..2].copy_from_slice(&[sum, old[(lane + 1) % 32][1]]);
                        }
                    });
                    assert_eq!(registers[..2], [31 * 16 + 32 * round, (thread::lane_id() + 1) % 32]);
                }
            })
            .unwrap();
    }
}

#[test]
fn lanes_with_different_instructions_at_one_line_never_meet() {
    for simulator in simulators() {
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(1, 32), || {
                let name = if thread::lane_id() < 7 { "m16n8k8" } else { "m16n8k16" };
                warp::collective(name, &mut [0; 32], |_| {});
            })
            .unwrap_err();
        let FaultKind::PartialWarp { instruction: "m16n8k8", missing: Some(missing) } = fault.kind else {
            panic!("{fault}")
        };
        assert_eq!(missing.thread.x, 7);
    }
}
