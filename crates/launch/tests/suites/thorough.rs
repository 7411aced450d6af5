//! Tests that `check_thoroughly` finds faults that appear under few schedules.

use std::time::{Duration, Instant};

use cuda_std::{GlobalMut, kernel, shared_array, thread, warp};
use launch::{Checks, Device, Error, LaunchConfig, Schedule, Simulator, check_thoroughly, check_thoroughly_strict};

use crate::rare::{RARE, Rare};

/// Returns the result of a kernel under one schedule.
fn outcome(rare: &Rare, is_sound: bool, schedule: Schedule) -> Result<(), Error> {
    let simulator = Simulator::new().with_checks(Checks::default()).with_schedule(schedule);
    rare.run(is_sound, &Device::simulated(simulator))
}

#[test]
fn faults_that_few_orders_show_are_found_and_the_order_shows_them_again() {
    for rare in RARE {
        let failed = check_thoroughly(Duration::from_secs(60), |device| rare.run(false, device));
        let Err(failed) = failed else { panic!("{}: {failed:?}", rare.name) };
        let again = outcome(rare, false, failed.schedule.to_string().parse().unwrap()).unwrap_err();
        assert_eq!(again.to_string(), failed.error.to_string(), "{} in {}", rare.name, failed.schedule);
        assert!(failed.to_string().starts_with(&format!("in the order {}: ", failed.schedule)), "{failed}");
    }
}

#[test]
fn sound_kernels_pass() {
    for rare in RARE {
        let thorough = check_thoroughly(Duration::from_millis(300), |device| rare.run(true, device));
        let orders = thorough.unwrap_or_else(|failed| panic!("{}: {failed}", rare.name)).orders;
        assert!(orders >= 8, "{}: {orders}", rare.name);
    }
}

/// In each lane, reads the value that the next lane wrote before a vote. On GPUs the vote orders these accesses, but
/// CUDA's documentation does not guarantee it.
#[kernel]
fn vote_between(y: GlobalMut<u32>) {
    let (tile, i) = (shared_array![u32; 32], thread::thread_idx_x() as usize);
    tile.store(i, 1);
    if warp::any(warp::FULL_MASK, i == 3) {
        y.store(i, tile.load((i + 1) % 32));
    }
}

#[test]
fn only_a_strict_check_finds_a_vote_that_orders_memory() {
    let run = |device: &Device| device.launch(LaunchConfig::new(1, 32), vote_between(device.zeroed(32)?.view_mut()));
    check_thoroughly(Duration::ZERO, run).unwrap();
    let failed = check_thoroughly_strict(Duration::ZERO, run).unwrap_err();
    assert!(failed.error.to_string().contains("data race on `tile["), "{failed}");
}

/// Prints, for each fault, the hostile and other named schedules that show it, and how many schedules a search needs.
#[test]
#[ignore = "prints the table of docs/check.md"]
fn figures() {
    let asked = std::env::var("RARE").unwrap_or_default();
    for rare in RARE.iter().filter(|rare| rare.name.contains(&asked)) {
        let count = |schedules: &[Schedule]| {
            schedules.iter().filter(|&&schedule| outcome(rare, false, schedule).is_err()).count()
        };
        let hostile: Vec<String> = Schedule::HOSTILE
            .into_iter()
            .filter(|&schedule| outcome(rare, false, schedule).is_err())
            .map(|schedule| schedule.to_string())
            .collect();
        let seeds = || 100..300;
        let random = count(&seeds().map(Schedule::Random).collect::<Vec<_>>());
        let interleaved = count(&seeds().map(Schedule::Interleaved).collect::<Vec<_>>());
        let begun = Instant::now();
        let failed = check_thoroughly(Duration::from_secs(20), |device| rare.run(false, device));
        let took = begun.elapsed();
        let found =
            failed.map_or_else(|failed| format!("{} | {}", failed.orders, failed.schedule), |all| format!("{all:?}"));
        let sound = check_thoroughly(Duration::from_secs(10), |device| rare.run(true, device));
        let sound = sound.map_err(|failed| failed.to_string());
        println!(
            "| {} | {} {hostile:?} | {random} | {interleaved} | {found} | {took:.1?} | {sound:?} |",
            rare.name,
            hostile.len()
        );
    }
}
